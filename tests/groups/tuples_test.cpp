// SPDX-License-Identifier: Apache-2.0
// tests/groups/tuples_test.cpp — tuples of elements as inputs and outputs of groups.
#include <catch2/catch.hpp>

#include "base/usage_error.hpp"
#include "pastset/space.hpp"
#include "pastset/tuple.hpp"
#include "paths/host/host.hpp"
#include "tests/groups/members.hpp"

namespace {

using groups::into;
using groups::newest;
using test_support::Sim;
using namespace std::chrono_literals;

const std::string two =
    test_support::one_cluster("hosts: 2") +
    "elements: {mine: {host: a-0, template: \"f64[3]\", keep_newest: 2, reach: [a-0]}}\n";

std::shared_ptr<pastset::Element> element(const std::string& of, pastset::Space& space,
                                          const pastset::ElementOptions& options = {}) {
  return space.enter("of " + of, *pastset::Template::parse(of), options);
}

std::vector<double> numbers(const pastset::Element& of) {
  return pastset::TupleReader(of.tuple_template(), of.try_newest().value().payload)
      .get_array<double>(0);
}

void move(pastset::Element& to, const std::vector<double>& values) {
  to.move(pastset::TupleWriter(to.tuple_template()).put_array(std::span(values)).payload());
}

}  // namespace

TEST_CASE("groups: the input is the newest tuple and the result is a tuple of its element") {
  Sim(two).run_well([](paths::Thread& thread) {
    groups::Group world(thread);
    pastset::Space space;
    const auto fixed = element("f64[3]", space), any = element("f64[]", space);
    move(*fixed, {9, 9, 9});
    move(*fixed, {1, 2, double(world.rank())});
    const base::Payload given = fixed->try_newest()->payload;
    world.run(groups::allreduce(newest(*fixed), into(*any, 3), "sum"));
    CHECK(numbers(*any) == std::vector<double>{2, 4, 1});
    world.run(groups::allreduce(newest(*any), into(*fixed), "max"));
    CHECK(numbers(*fixed) == std::vector<double>{2, 4, 1});
    CHECK(fixed->last() == 3);
    CHECK(std::memcmp(given.bytes().data() + 16, fixed->observe(1).payload.bytes().data() + 16,
                      8) == 0);  // the operation did not change its input tuple
    // The calls mix arrays and tuples. The test starts all calls together, and waits for them in
    // the opposite order.
    std::vector<double> all(6);
    const auto sums = element("f64[1]", space);
    const std::vector<double> mine{5};
    groups::Started first = world.start(groups::allgather(newest(*fixed), all));
    groups::Started second = world.start(groups::allreduce(mine, into(*sums), "sum"));
    CHECK(sums->last() == 0);
    second.wait();
    CHECK(numbers(*sums) == std::vector<double>{10});
    first.wait();
    CHECK(all == std::vector<double>{2, 4, 1, 2, 4, 1});
    // The handle is destroyed immediately. Its destructor waits for the operation.
    world.start(groups::allreduce(mine, into(*sums), "max"));
    CHECK(numbers(*sums) == std::vector<double>{5});
  });
}

TEST_CASE("groups: only contributors need a tuple and only receivers move one") {
  Sim(two).run_well([](paths::Thread& thread) {
    groups::Group world(thread);
    const bool is_root = world.rank() == 1;
    pastset::Space space;
    const auto from = element("f64[]", space), to = element("f64[2]", space);
    if (is_root) move(*from, {7, 8});
    world.run(groups::broadcast(newest(*from), into(*to), 1));
    CHECK(to->last() == (is_root ? 0 : 1));
    if (!is_root) CHECK(numbers(*to) == std::vector<double>{7, 8});
    if (is_root) move(*from, {1, 2, 3, 4});
    world.run(groups::scatter(newest(*from), into(*to), 1));
    CHECK(numbers(*to) == (is_root ? std::vector<double>{3, 4} : std::vector<double>{1, 2}));
    const auto all = element("f64[4]", space);
    world.run(groups::gather(newest(*to), into(*all), 0));
    CHECK(all->last() == (is_root ? 0 : 1));
    const auto before = element("f64", space), mine = element("f64[1]", space);
    mine->move(base::Payload::of(double(3)));
    world.run(groups::exscan(newest(*mine), into(*before), "sum"));
    CHECK(before->last() == (is_root ? 1 : 0));
  });
}

TEST_CASE("groups: an element of the config works like any other") {
  Sim(two).run_well([](paths::Thread& thread) {
    groups::Group world(thread);
    std::vector<double> sums(3, 1.0);
    if (world.rank() > 0) return world.run(groups::allreduce(sums, sums, "sum"));
    thread.path("mine").move(base::Payload::of(std::vector<double>{1, 2, 3}));
    pastset::Element& mine = *thread.host().space().find("mine");
    world.run(groups::allreduce(newest(mine), into(mine), "sum"));
    CHECK(numbers(mine) == std::vector<double>{2, 3, 4});
  });
}

TEST_CASE("groups: tuples of other types and sizes are refused and the group continues") {
  Sim(two).run_well([](paths::Thread& thread) {
    groups::Group world(thread);
    pastset::Space space;
    const auto any = element("f64[]", space), three = element("f64[3]", space),
               pair = element("u64, f64", space), text = element("string", space),
               integers = element("i64[3]", space);
    std::vector<double> out(3);
    CHECK_THROWS_WITH(newest(*pair), Catch::Contains("element of u64, f64: expected tuples of one "
                                                     "array of numbers, such as f64[1024], found "
                                                     "'u64, f64'"));
    CHECK_THROWS_AS(into(*text), base::UsageError);
    CHECK_THROWS_WITH(into(*any), Catch::Contains("of any length: expected how many values"));
    CHECK_THROWS_WITH(into(*any, std::uint64_t{1} << 29), Catch::Contains("at most 536870911"));
    CHECK_THROWS_WITH(into(*three, 4), Catch::Contains("have 3 values, found 4"));
    CHECK_THROWS_WITH(groups::allreduce(newest(*integers), out, "sum"),
                      Catch::Contains("found i64 to give and f64 to receive"));
    const auto refused = [&](const groups::Call& call, const std::string& why) {
      CHECK_THROWS_WITH(world.run(call), Catch::Contains(why));
      CHECK_THROWS_AS(world.start(call), base::UsageError);
    };
    refused(groups::allreduce(newest(*three), out, "sum"), "expected a tuple to give, found none");
    move(*three, {1, 2, 3});
    move(*any, {1, 2});
    refused(groups::allreduce(newest(*any), into(*three), "sum"),
            "expected 2 elements in `out`, found 3");
    refused(groups::allgather(newest(*three), into(*any, 7)),
            "expected 6 elements in `out`, found 7");
    if (world.rank() == 0)
      refused(groups::broadcast(newest(*any), into(*three), 0),
              "expected a tuple of 24 bytes to broadcast, found 16");
    CHECK(three->last() == 1);
    world.run(groups::allreduce(newest(*three), into(*three), "sum"));
    CHECK(numbers(*three) == std::vector<double>{2, 4, 6});
  });
}

TEST_CASE("groups: a failed operation moves no tuple and a full element is an error") {
  Sim("deadline: 2s\n" + two).run_well([](paths::Thread& thread) {
    groups::Group world(thread);
    pastset::Space space;
    const auto full = element("f64", space, {.delta = 1});
    full->move(base::Payload::of(0.0));
    const std::vector<double> mine{1};
    const base::Nanos before = thread.now();
    CHECK_THROWS_AS(world.run(groups::allreduce(mine, into(*full), "sum")),
                    pastset::DeadlinePassed);
    CHECK(thread.now() - before > 2s);
    // The result cannot be moved into the full element. The destructor of the handle ignores this
    // error.
    world.start(groups::allreduce(mine, into(*full), "sum"));
    full->observe();
    world.run(groups::allreduce(mine, into(*full), "sum"));
    CHECK(full->last() == 2);
    full->delete_element();
    CHECK_THROWS_AS(world.run(groups::allreduce(mine, into(*full), "sum")), pastset::Deleted);
    const auto sums = element("f64[1]", space);
    const std::vector<double> wrong{world.rank() == 0 ? std::nan("") : 1.0};
    CHECK_THROWS_AS(world.run(groups::allreduce(wrong, into(*sums), "sum")), paths::TravelError);
    CHECK(sums->last() == 0);
  });
}
