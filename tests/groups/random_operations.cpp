// SPDX-License-Identifier: Apache-2.0
// tests/groups/random_operations.cpp — random operations: generation, calls, comparison.
#include "tests/groups/random_operations.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "collectives/algorithms/all.hpp"
#include "groups/calls/layout.hpp"
#include "groups/calls/local.hpp"
#include "groups/selection/network_of.hpp"
#include "pastset/space.hpp"
#include "pastset/tuple.hpp"
#include "tests/groups/members.hpp"
#include "tests/groups/reference.hpp"
#include "tests/support/processes.hpp"

namespace {

using collectives::Collective;
using test_support::Drawn;
using test_support::Reference;
using test_support::Sim;
using test_support::SimResult;
using namespace std::chrono_literals;

/// Returns a config with up to 3 clusters of up to 4 hosts with up to 3 threads. In half of the
/// configs no network inside a cluster is emulated, so processes of a cluster share memory.
std::string random_config(std::mt19937_64& random) {
  std::string config = "clusters:\n";
  const std::size_t clusters = 1 + random() % 3;
  const char* const network =
      random() % 2 == 0 ? "" : ", network: {latency: 50us, bandwidth: 100Mbit}";
  for (std::size_t cluster = 0; cluster < clusters; ++cluster) {
    const std::uint64_t hosts = 1 + random() % 4, has_many = random() % 2;
    config += fmt::format("  c{}: {{hosts: {}, threads: {}{}}}\n", cluster, hosts,
                          has_many == 0 ? 1 : 1 + random() % 3, network);
  }
  if (clusters > 1) config += "links: {all: {latency: 2ms, bandwidth: 1Gbit}}\n";
  const char* const lanes[] = {"lanes:\n", "lanes: {inbox: 0B}\n", "lanes: {frame: 1KiB}\n"};
  return config + lanes[random() % 3];
}

std::uint64_t random_count(std::mt19937_64& random) {
  const std::uint64_t most[] = {1, 4, 30, 600, 20'000};
  return random() % (most[random() % 5] + 1);
}

Drawn draw(std::mt19937_64& random, std::uint32_t members, Collective collective) {
  Drawn drawn;
  drawn.collective = collective;
  const char* const operations[] = {"sum", "max", "bitwise_xor", "logical_xor",
                                    test_support::composition};
  drawn.operation = operations[random() % 5];
  drawn.root = static_cast<std::uint32_t>(random() % members);
  drawn.salt = random();
  const bool is_alltoall = drawn.collective == Collective::alltoall;
  const bool has_blocks = is_alltoall || drawn.collective == Collective::gather ||
                          drawn.collective == Collective::scatter ||
                          drawn.collective == Collective::allgather ||
                          drawn.collective == Collective::reduce_scatter;
  const bool are_different = has_blocks && random() % 2 == 0;
  const std::size_t blocks = is_alltoall ? std::size_t{members} * members : members;
  for (std::size_t block = 0; block < (are_different ? blocks : 1); ++block)
    drawn.counts.push_back(random_count(random) / (has_blocks ? members : 1));
  drawn.is_in_place = random() % 4 == 0;
  return drawn;
}

/// In half of the cases, chooses an algorithm for the operation at random, if a suitable one
/// exists. `between` is the collective that runs between hosts.
void draw_algorithm(std::mt19937_64& random, Drawn& drawn, Collective between,
                    const collectives::Topology& topology, std::uint32_t root) {
  if (random() % 2 == 0) return;
  const bool folds = is_reduction(between) && between != Collective::barrier;
  const auto worst = drawn.operation == test_support::composition ? collectives::Order::in_order
                                                                  : collectives::Order::by_block;
  const bool has_order = drawn.operation == "sum" || drawn.operation == test_support::composition;
  const auto& all = collectives::all_algorithms();
  for (int tries = 0; tries < 50; ++tries) {
    const collectives::Algorithm& one = all[random() % all.size()];
    if (!one.does(between)) continue;
    const auto task = collectives::make_spec(
        between, std::make_shared<const collectives::Topology>(topology), 1, root);
    const auto parameters = one.read("");
    if (!one.why_not(task, parameters).empty()) continue;
    if (folds && has_order && one.order(task, parameters) > worst) continue;
    drawn.algorithm = one.name;
    return;
  }
}

void draw_all(std::mt19937_64& random, test_support::RandomGroup& group, const paths::Plan& plan,
              std::size_t operations) {
  std::vector<Collective> some;
  for (std::size_t i = 0; i < operations; ++i)
    some.push_back(
        collectives::all_collectives[random() % std::size(collectives::all_collectives)]);
  test_support::draw_operations(random, group, plan, some);
}

/// Draws a colour and a key of each thread for a split. There are few colours. Some threads have no
/// colour, and some threads have equal keys.
void draw_split(std::mt19937_64& random, test_support::RandomRun& run, std::uint32_t threads) {
  const std::uint64_t colours = 1 + random() % 3;
  const bool are_reversed = random() % 4 == 0;
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    run.colours.emplace_back(random() % 8 == 0 ? std::nullopt
                                               : std::optional(std::int64_t(random() % colours)));
    run.keys.push_back(are_reversed ? -std::int64_t{thread} : std::int64_t(random() % 5) - 2);
  }
  for (std::int64_t colour = 0; colour < static_cast<std::int64_t>(colours); ++colour) {
    auto& members = run.groups.emplace_back().threads;
    for (std::int64_t key = -std::int64_t{threads} - 2; key < 3; ++key)
      for (std::uint32_t thread = 0; thread < threads; ++thread)
        if (run.colours[thread] == colour && run.keys[thread] == key) members.push_back(thread);
  }
}

struct Arrays {
  std::vector<std::int64_t> in, out, expected;
  std::shared_ptr<pastset::Element> from,
      into;  // elements used instead of `in` and `out`; nullptr = not used
};

const pastset::Template numbers = *pastset::Template::parse("i64[]");

/// Replaces some inputs and outputs of a member by tuples. A member without an input gets no input
/// tuple.
void draw_tuples(std::mt19937_64& random, const Drawn& drawn, bool is_root, Arrays& arrays) {
  const bool is_broadcast = drawn.collective == Collective::broadcast;
  if (drawn.collective == Collective::barrier || random() % 4 > 0) return;
  pastset::Space space;
  if (is_broadcast || random() % 2 == 0) arrays.from = space.enter("from", numbers);
  if (is_broadcast || arrays.from == nullptr || random() % 2 == 0)
    arrays.into = space.enter("into", numbers);
  const bool gives = is_root || !(is_broadcast || drawn.collective == Collective::scatter);
  if (!gives || arrays.from == nullptr) return;
  for (const auto& values : {std::vector<std::int64_t>(3), is_broadcast ? arrays.out : arrays.in})
    arrays.from->move(
        pastset::TupleWriter(numbers).put_array(std::span<const std::int64_t>(values)).payload());
}

/// Returns whether the member's result is correct. A member that must not get a result is correct
/// if it has no result.
bool has_come_right(const Drawn& drawn, std::uint32_t rank, const Arrays& arrays) {
  if (arrays.into == nullptr) return arrays.out == arrays.expected;
  const bool has_root = drawn.collective == Collective::reduce ||
                        drawn.collective == Collective::gather ||
                        drawn.collective == Collective::broadcast;
  const bool gets = has_root ? (rank == drawn.root) != (drawn.collective == Collective::broadcast)
                             : drawn.collective != Collective::exscan || rank > 0;
  if (!gets) return arrays.into->last() == 0;
  return arrays.into->last() == 1 &&
         pastset::TupleReader(numbers, arrays.into->newest().payload).get_array<std::int64_t>(0) ==
             arrays.expected;
}

groups::Call call_of(const Drawn& drawn, Arrays& arrays) {
  groups::Call call = groups::call_of(drawn.collective, arrays.in, arrays.out);
  if (is_reduction(drawn.collective)) call.operation = drawn.operation;
  call.root = drawn.root;
  call.counts = drawn.counts;
  call.algorithm = drawn.algorithm;
  if (arrays.from) groups::give(call, groups::newest(*arrays.from));
  if (arrays.into) groups::take(call, groups::into(*arrays.into, arrays.expected.size()));
  if (arrays.from || arrays.into) return call;
  if (drawn.is_in_place && arrays.in.size() == arrays.out.size() &&
      drawn.collective != Collective::broadcast) {
    arrays.out = arrays.in;
    if (drawn.collective == Collective::exscan && arrays.expected.size() == arrays.in.size() &&
        !arrays.expected.empty() && arrays.expected[0] == -777)
      arrays.expected = arrays.in;  // rank 0 has no result, so `out` keeps the input
    call.in = std::as_bytes(std::span(arrays.out));
    call.out = std::as_writable_bytes(std::span(arrays.out));
  }
  return call;
}

}  // namespace

void test_support::add_composition() {
  static const bool is_added = [] {
    base::ReduceOperation operation;
    operation.name = composition;
    operation.accepts = [](base::Scalar scalar) { return scalar == base::Scalar::i64; };
    operation.combine = [](const base::ReduceShape& shape, std::span<std::byte> left,
                           std::span<const std::byte> right) {
      for (std::size_t i = 0; i < shape.count; ++i) {
        std::int64_t first, second;
        std::memcpy(&first, left.data() + 8 * i, 8);
        std::memcpy(&second, right.data() + 8 * i, 8);
        first = composed(first, second);
        std::memcpy(left.data() + 8 * i, &first, 8);
      }
    };
    base::add_reduce_operation(operation);
    return true;
  }();
  (void)is_added;
}

void test_support::draw_operations(std::mt19937_64& random, RandomGroup& group,
                                   const paths::Plan& plan, std::span<const Collective> all) {
  const groups::Layout layout(plan, &group.threads);
  const auto topology = groups::topology_of(plan, layout.hosts());
  for (const Collective collective : all) {
    Drawn& drawn = group.drawn.emplace_back(draw(random, layout.size(), collective));
    groups::Call call;
    call.collective = drawn.collective;
    call.operation = drawn.operation;
    draw_algorithm(
        random, drawn, groups::Local::between_hosts(call, layout), topology,
        has_root(drawn.collective) ? layout.participant_at(layout.place(drawn.root)) : 0);
  }
}

test_support::RandomRun test_support::random_run(std::uint64_t seed, std::size_t operations) {
  add_composition();
  std::mt19937_64 random(seed);
  RandomRun run;
  run.seed = seed;
  run.config = random_config(random);
  const Sim sim(run.config);
  const std::uint32_t threads = sim.plan().thread_count();
  run.world.threads.resize(threads);
  std::iota(run.world.threads.begin(), run.world.threads.end(), 0);
  draw_all(random, run.world, sim.plan(), operations);
  draw_split(random, run, threads);
  for (RandomGroup& group : run.groups)
    if (!group.threads.empty()) draw_all(random, group, sim.plan(), operations / 2);
  return run;
}

namespace {

/// Runs the operations of a member in one group, one after the other.
class Member {
 public:
  Member(groups::Group& group, const test_support::RandomGroup& all, std::uint64_t seed)
      : group_(group),
        all_(all),
        random_(seed + group.rank()),
        arrays_(all.drawn.size()),
        under_way_(all.drawn.size()) {}
  void operate(paths::Thread& thread, std::size_t index) {
    const Reference reference(all_.drawn[index], group_.size());
    arrays_[index] = {reference.in(group_.rank()), reference.out_before(group_.rank()),
                      reference.out(group_.rank()), nullptr, nullptr};
    draw_tuples(random_, all_.drawn[index], group_.rank() == all_.drawn[index].root,
                arrays_[index]);
    if (random_() % 3 == 0) thread.sleep_for(std::chrono::microseconds(random_() % 3000));
    const groups::Call call = call_of(all_.drawn[index], arrays_[index]);
    if (random_() % 2 == 0)
      group_.run(call);
    else
      under_way_[index] = group_.start(call);
    if (const std::size_t other = random_() % (index + 1); random_() % 2 == 0)
      under_way_[other] = {};
  }
  /// Waits for all started operations. Returns how many of the operations had a wrong result.
  std::uint64_t wrong() {
    for (auto& one : under_way_) one = {};
    std::uint64_t wrong = 0;
    for (std::size_t index = 0; index < arrays_.size(); ++index)
      wrong += has_come_right(all_.drawn[index], group_.rank(), arrays_[index]) ? 0 : 1;
    return wrong;
  }

 private:
  groups::Group& group_;
  const test_support::RandomGroup& all_;
  std::mt19937_64 random_;
  std::vector<Arrays> arrays_;
  std::vector<groups::Started> under_way_;
};

}  // namespace

std::uint64_t test_support::wrong_operations_of(groups::Group& group, paths::Thread& thread,
                                                const RandomGroup& all, std::uint64_t seed) {
  Member member(group, all, seed);
  for (std::size_t index = 0; index < all.drawn.size(); ++index) member.operate(thread, index);
  return member.wrong();
}

std::uint64_t test_support::wrong_operations(paths::Thread& thread, const RandomRun& run) {
  groups::Group world(thread);
  const std::uint32_t me = world.rank();
  const std::unique_ptr<groups::Group> part = world.split(run.colours[me], run.keys[me]);
  const RandomGroup* const mine =
      run.colours[me] ? &run.groups[static_cast<std::size_t>(*run.colours[me])] : nullptr;
  if ((part == nullptr) != (mine == nullptr)) return 1;
  if (part && (part->size() != mine->threads.size() || mine->threads[part->rank()] != me)) return 1;
  Member in_world(world, run.world, run.seed);
  std::optional<Member> in_part;
  if (part) in_part.emplace(*part, *mine, run.seed + 1);
  for (std::size_t index = 0; index < run.world.drawn.size(); ++index) {
    in_world.operate(thread, index);
    if (part && index % 2 == 1 && index / 2 < mine->drawn.size())
      in_part->operate(thread, index / 2);
  }
  return in_world.wrong() + (in_part ? in_part->wrong() : 0);
}

void test_support::try_operations(std::uint64_t seed, runtime::ClockKind clock,
                                  std::size_t operations) {
  INFO("seed " << seed);
  const RandomRun run = random_run(seed, operations);
  INFO(run.config);
  std::uint64_t wrong = 0;
  runtime::Mutex mutex;
  Sim(run.config)
      .run_well(
          [&](paths::Thread& thread) {
            const std::uint64_t mine = wrong_operations(thread, run);
            const runtime::Lock lock(mutex);
            wrong += mine;
          },
          clock);
  CHECK(wrong == 0);
}

void test_support::try_between_processes(std::uint64_t seed, std::size_t operations) {
  INFO("seed " << seed);
  RandomRun run = random_run(seed, operations);
  run.config = network_line("ipc", 12) + run.config;
  INFO(run.config);
  const Sim sim(run.config);
  auto hosts = start_hosts(sim, [&](paths::Thread& thread, const Say& say) {
    say(fmt::format("wrong: {}", wrong_operations(thread, run)));
  });
  each_end(hosts, [&](const std::string& name, const HostProcess& host, int code) {
    CHECK(code == 0);
    const std::uint32_t threads = sim.plan().hosts[*sim.plan().host_named(name)].threads;
    CHECK(host.lines("wrong: ") == std::vector<std::string>(threads, "0"));
  });
}

void test_support::try_to_kill(std::uint64_t seed, bool is_one_cluster) {
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const Sim sim(network_line("ipc", 4) + "deadline: 20s\n" +
                (is_one_cluster ? "clusters: {a: {hosts: 4}}\n"
                                : "clusters: {a: {hosts: 2}, b: {hosts: 2}}\n"
                                  "links: [{between: [a, b], latency: 2ms}]\n") +
                "lanes:\n");
  const std::size_t size = random() % 2 == 0 ? 3 : 30'000;
  const bool is_started = random() % 2 == 0;
  auto hosts = start_hosts(sim, [&](paths::Thread& thread, const Say& say) {
    groups::Group world(thread);
    std::vector<std::unique_ptr<groups::Group>> pair;
    if (thread.rank() < 2)
      pair.push_back(
          std::make_unique<groups::Group>(thread, "pair", std::vector<std::uint32_t>{0, 1}));
    const std::vector<std::int64_t> mine(size, 1);
    std::vector<std::int64_t> all(size);
    try {
      for (int round = 0;; ++round) {
        if (is_started)
          world.start(groups::allreduce(mine, all, "sum")).wait();
        else
          world.run(groups::allreduce(mine, all, "sum"));
        if (all.back() != 4) say("wrong");
        if (round == 0) say("begun");
      }
    } catch (const paths::TravelError& error) {
      say(fmt::format("told: {}", error.what()));
    }
    for (int round = 0; round < 20 && !pair.empty(); ++round) {
      pair[0]->run(groups::allreduce(mine, all, "sum"));
      if (all.back() != 2) say("wrong");
      if (round == 19) say("went on");
    }
  });
  const std::string first = is_one_cluster ? "a-2" : "b-0", second = is_one_cluster ? "a-3" : "b-1",
                    victim = random() % 2 == 0 ? first : second;
  for (auto& [name, host] : hosts) {
    INFO(name << ": " << host.text());
    REQUIRE(host.says("begun"));
  }
  pause(std::chrono::microseconds(random() % 30'000));
  kill_host(hosts, victim);
  const auto check = [&](const std::string& name, const HostProcess& host, int code) {
    CHECK(code >= 0);
    CHECK(host.lines("wrong").empty());
    CHECK_THAT(host.line("told: "), Catch::Contains(victim));
    CHECK(host.lines("went on").size() == (name == "a-0" || name == "a-1" ? 1 : 0));
  };
  each_end(hosts, check, 15'000);  // milliseconds; less than the deadline
}

void test_support::try_to_fail(std::uint64_t seed) {
  INFO("seed " << seed);
  constexpr int members = 6;
  const Sim sim(six_threads);
  std::mt19937_64 random(seed);
  const auto victim = static_cast<std::uint32_t>(random() % members);
  const std::chrono::microseconds moment(random() % 60'000);
  const bool is_started = random() % 2 == 0;
  int told = 0;
  const SimResult result = sim.run([&](paths::Thread& thread) {
    groups::Group world(thread);
    std::vector<std::vector<std::int64_t>> in(20, std::vector<std::int64_t>(3000)), out = in;
    try {
      std::vector<groups::Started> all;
      for (std::size_t i = 0; i < in.size(); ++i) {
        if (world.rank() == victim && thread.now() > moment) throw std::runtime_error("victim");
        all.push_back(world.start(groups::allreduce(in[i], out[i], "sum")));
        if (is_started)
          thread.sleep_for(2ms);
        else
          all.back().wait();
      }
      if (is_started)
        for (auto& one : all) one.wait();
    } catch (const paths::TravelError& error) {
      ++told;
    }
  });
  CHECK(result.broke == "");
  CHECK(result.failures.size() <= 1);
  CHECK((told == 0 || told == members - 1));
}
