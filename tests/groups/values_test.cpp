// SPDX-License-Identifier: Apache-2.0
// tests/groups/values_test.cpp — folds of elements of any size, and refusal of invalid values at
// their source.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/usage_error.hpp"
#include "tests/groups/members.hpp"

namespace {

using collectives::Collective;
using namespace test_support;

using Bytes = std::vector<std::byte>;

/// Returns the fold of all contributions in `given`. Each contribution is folded as a whole.
Bytes folded(const base::ReduceOperation& operation, const base::ReduceShape& shape,
             const std::vector<Bytes>& given) {
  Bytes all = given.front();
  for (std::size_t rank = 1; rank < given.size(); ++rank)
    operation.combine(shape, all, given[rank]);
  return all;
}

/// Returns one contribution per member. The bytes of its elements are small numbers, so that sums
/// of a few elements do not overflow in any type.
std::vector<Bytes> drawn(const base::ReduceShape& shape, std::uint32_t members) {
  std::mt19937_64 random(shape.count + 7);
  const std::size_t element = shape.bytes() / shape.count;
  std::vector<Bytes> all(members, Bytes(shape.bytes()));
  for (Bytes& bytes : all)
    for (std::size_t i = 0; i < shape.count; ++i)
      base::with_scalar(shape.scalar, [&](auto zero) {
        const auto value = static_cast<decltype(zero)>(random() % 20);
        const auto location = static_cast<std::int64_t>(random() % 5);
        std::memcpy(bytes.data() + i * element, &value, sizeof value);
        if (shape.located)
          std::memcpy(bytes.data() + i * element + sizeof value, &location, sizeof location);
      });
  return all;
}

/// Compares results of allreduces with a fold of the whole vectors, for several scalar types, with
/// and without locations (indices of the least or greatest value).
void check_every_size(const std::string& config, const std::vector<std::size_t>& counts) {
  const Sim sim(config);
  const std::uint32_t members = sim.plan().thread_count();
  for (const base::Scalar scalar :
       {base::Scalar::u8, base::Scalar::i16, base::Scalar::f32, base::Scalar::f64})
    for (const std::string name : {"max", "min_location"})
      for (const std::size_t count : counts) {
        const base::ReduceOperation& operation = *base::reduce_operation(name);
        const base::ReduceShape shape{scalar, count, operation.located};
        INFO(name << " of " << count << " elements of " << shape.bytes() / count << " bytes");
        const std::vector<Bytes> given = drawn(shape, members);
        const Bytes expected = folded(operation, shape, given);
        sim.run_well([&](paths::Thread& thread) {
          groups::Group world(thread);
          Bytes out(shape.bytes());
          groups::Call call;
          call.collective = Collective::allreduce;
          call.scalar = scalar;
          call.operation = name;
          call.in = given[world.rank()];
          call.out = out;
          world.run(call);
          if (out != expected) throw std::runtime_error("another result");
        });
      }
}

/// Returns a call in which a member contributes `in`, a vector of doubles. The vector of one member
/// contains a NaN.
groups::Call with_nan(Collective collective, const std::string& operation, std::vector<double>& in,
                      std::vector<double>& out, bool is_in_place) {
  groups::Call call = groups::call_of(collective, in, std::span<double>(is_in_place ? in : out));
  call.operation = operation;
  if (collective == Collective::reduce_scatter) {
    call.counts = {in.size() / 4};
    call.out = call.out.first(call.in.size() / 4);
  }
  return call;
}

constexpr const char* three_hosts = R"(
clusters:
  a: {hosts: 2, threads: {a-0: 2, a-1: 1}, network: {latency: 50us, bandwidth: 100Mbit}}
  b: {hosts: 1, network: {latency: 50us, bandwidth: 100Mbit}}
links: [{between: [a, b], latency: 1ms, bandwidth: 1Gbit}]
lanes:
)";
constexpr const char* one_host = "clusters: {a: {hosts: 1, threads: 4}}\n";
constexpr const char* four_hosts = "clusters: {a: {hosts: 4}}\nlanes:\n";

std::string thread_name(const Sim& sim, std::uint32_t rank) {
  for (const auto& host : sim.plan().hosts)
    if (rank >= host.first_thread && rank < host.first_thread + host.threads)
      return fmt::format("thread {}/{}", host.name, rank - host.first_thread);
  return "";
}

}  // namespace

TEST_CASE("groups: elements of every size are folded on one host across any stretch boundaries") {
  check_every_size("clusters: {a: {hosts: 1, threads: 3}}\n",
                   {1, 5461, 5462, 7281, 7282, 8000, 20'000});
}

TEST_CASE("groups: elements of every size are folded between hosts across any frame boundaries") {
  for (const std::string frame : {"1025B", "4KiB", "64KiB"})
    check_every_size(fmt::format("clusters:\n"
                                 "  a: {{hosts: 2, threads: 2, network: {{latency: 50us, "
                                 "bandwidth: 1Gbit}}}}\n"
                                 "  b: {{hosts: 1, network: {{latency: 50us, bandwidth: 1Gbit}}}}\n"
                                 "links: {{all: {{latency: 1ms, bandwidth: 1Gbit}}}}\n"
                                 "lanes: {{frame: {}}}\n",
                                 frame),
                     {1, 7281, 8000});
}

TEST_CASE("groups: a NaN in a checked reduction is refused at its source and names the thread",
          "[without_asan]") {
  constexpr std::size_t size = 2400, bad = 1713;
  for (const char* config : {three_hosts, one_host, four_hosts})
    for (const std::vector<std::uint32_t>& order :
         {std::vector<std::uint32_t>{0, 1, 2, 3}, {3, 1, 0, 2}}) {
      const Sim sim(config);
      for (const Collective collective :
           {Collective::reduce, Collective::allreduce, Collective::reduce_scatter, Collective::scan,
            Collective::exscan})
        for (const std::string operation : {"sum", "max", "logical_or"})
          for (std::uint32_t contributor = 0; contributor < 4; ++contributor) {
            const bool is_in_place =
                collective != Collective::reduce_scatter && contributor % 2 == 0;
            INFO(config << name_of(collective) << " " << operation << ", from " << contributor
                        << (order[0] == 3 ? ", in another order" : ""));
            const auto all = errors_of_members(
                sim,
                [&](groups::Group& group) {
                  std::vector<double> in(size, 1.0 + group.rank()), out(size);
                  if (group.rank() == contributor) in[bad] = std::nan("");
                  group.run(with_nan(collective, operation, in, out, is_in_place));
                  // All ranks wait here. A rank 0 that neither sends nor receives values might
                  // otherwise end long before the failure occurs.
                  group.run(groups::barrier());
                },
                order);
            check_all_contain(
                all, fmt::format("{}: NaN at index {}", thread_name(sim, order[contributor]), bad));
          }
    }
}

TEST_CASE("groups: a NaN passes through ieee reductions including exclusive scans") {
  const auto all = errors_of_members(Sim(four_hosts), [&](groups::Group& group) {
    std::vector<double> in(2, group.rank() == 0 ? std::nan("") : 1.0), out(2);
    groups::Call call = groups::exscan(in, out, "sum");
    call.values = base::Values::ieee;
    group.run(call);
    if (group.rank() > 0) CHECK(std::isnan(out[1]));
  });
  CHECK(all == std::vector<std::string>(4));
}

TEST_CASE("groups: a NaN in a group of one thread is an error also with a location") {
  const Sim sim("clusters: {a: {hosts: 1}}\n");
  for (const std::string operation : {"sum", "min_location"}) {
    const auto all = errors_of_members(sim, [&](groups::Group& group) {
      const std::array<double, 4> in{1.0, 0.0, std::nan(""), 0.0};
      std::array<double, 4> out{};
      group.run(groups::allreduce(in, out, operation));
    });
    const int index = operation == "sum" ? 2 : 1;
    CHECK_THAT(all[0], Catch::Contains(fmt::format("thread a-0/0: NaN at index {}", index)));
  }
}

TEST_CASE("groups: an overflow on a host names the thread and the index also in place") {
  constexpr std::size_t size = 40'000, bad = 33'333;
  const Sim sim(one_host);
  for (const bool is_in_place : {false, true}) {
    const auto all = errors_of_members(sim, [&](groups::Group& group) {
      std::vector<std::int32_t> in(size, 1), out(size);
      if (group.rank() == 0 || group.rank() == 2) in[bad] = std::numeric_limits<int>::max() - 1;
      group.run(groups::allreduce(in, is_in_place ? in : out, "sum"));
    });
    check_all_contain(all, fmt::format("thread a-0/2: combining what it contributed: overflow of "
                                       "i32 sum of 2147483647 and 2147483646 at index {}",
                                       bad));
  }
}
