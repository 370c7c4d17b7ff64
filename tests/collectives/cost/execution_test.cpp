// SPDX-License-Identifier: Apache-2.0
// tests/collectives/cost/execution_test.cpp — execution of schedules on values, with the steps in
// any permitted order.
//
// This test shares no code with the verifier: it compares each result with the definition of the
// collective.
#include <catch2/catch.hpp>
#include <iostream>
#include <map>
#include <random>

#include "collectives/cost/admission.hpp"
#include "tests/collectives/schedule/every_schedule.hpp"

using namespace collectives;
using namespace pricing;

namespace {

/// Value of an element: an expression and a sum. The operation of the expression neither commutes
/// nor associates. The operation of the sum does both.
struct Value {
  std::uint64_t expression = 0, sum = 0;
  friend bool operator==(const Value&, const Value&) = default;
};

std::uint64_t mixed(std::uint64_t left, std::uint64_t right) {
  std::uint64_t all = left * 0x9e3779b97f4a7c15U + (right ^ right >> 29) * 0xd6e8feb86659fd93U + 1;
  all ^= all >> 32;
  return all * 0xff51afd7ed558ccdU;
}
Value operator+(Value left, Value right) {
  return {mixed(left.expression, right.expression), left.sum + right.sum};
}
/// Returns the value that a participant contributes at index `at` of its `in`.
Value given(Rank rank, Count at) {
  const std::uint64_t leaf = mixed(rank + 1, at + 1);
  return {leaf, leaf};
}

using Memory = std::map<Buffer, std::map<Count, Value>>;

/// Executes the steps of all participants one at a time. The next step is random among the steps
/// that may be executed.
class Execution {
 public:
  Execution(const Algorithm& algorithm, const CollectiveSpec& task, const Parameters& parameters,
            std::mt19937_64& random)
      : task_(task), random_(random) {
    const std::size_t window = random() % 3 == 0 ? 1 : 1 + random() % 300;
    for (Rank me = 0; me < task.size(); ++me) {
      programs_.push_back(algorithm.program(task, parameters, me).all());
      hosts_.push_back(
          Host{Admission({1, [this, me](Count, Steps& all) { all = programs_[me]; }}, window),
               {},
               {},
               {}});
      const Range range = in_range(task, me);
      const bool is_out = task.collective == Collective::broadcast;
      for (Count at = 0; at < range.count; ++at)
        hosts_.back().memory[is_out ? out : in][at] = given(me, at);
    }
  }

  void run() {
    while (true) {
      std::vector<std::pair<Rank, std::size_t>> may_be_done;
      for (Rank me = 0; me < hosts_.size(); ++me) {
        admit(me);
        for (std::size_t at = 0; at < hosts_[me].unfinished.size(); ++at)
          if (may_be_done_now(me, hosts_[me].unfinished[at])) may_be_done.emplace_back(me, at);
      }
      if (may_be_done.empty()) break;
      const auto& [me, at] = may_be_done[random_() % may_be_done.size()];
      const Unfinished step = hosts_[me].unfinished[at];
      hosts_[me].unfinished.erase(hosts_[me].unfinished.begin() + static_cast<std::ptrdiff_t>(at));
      perform(me, step);
      std::vector<Slot> freed;
      hosts_[me].admission.finish(step.slot, freed);
    }
    for (const Host& host : hosts_) REQUIRE(host.admission.is_done());
    REQUIRE(messages_.empty());
  }
  const std::map<Count, Value>& result(Rank me) { return hosts_[me].memory[out]; }

 private:
  struct Unfinished {
    Slot slot;
    std::size_t number, ordinal;
  };
  struct Host {
    Admission admission;
    std::vector<Unfinished> unfinished;
    std::map<std::tuple<Action, Rank, Channel>, std::size_t> ordinals;
    Memory memory;
    std::size_t admitted = 0;
  };
  using Name = std::tuple<Rank, Rank, Channel, std::size_t>;

  void admit(Rank me) {
    Host& host = hosts_[me];
    while (const auto slot = host.admission.admit()) {
      const Step step = programs_[me][host.admitted];
      std::size_t ordinal = 0;
      if (step.is_message()) ordinal = host.ordinals[{step.action, step.peer, step.channel}]++;
      host.unfinished.push_back({*slot, host.admitted++, ordinal});
    }
  }
  bool may_be_done_now(Rank me, const Unfinished& what) {
    const Step step = programs_[me][what.number];
    return hosts_[me].admission.is_free(what.slot) &&
           (step.action != Action::receive ||
            messages_.contains(Name{step.peer, me, step.channel, what.ordinal}));
  }
  Value& cell(Rank me, const Block& block, Count at) {
    return hosts_[me].memory[block.buffer][block.cells.offset + at];
  }
  const Value& defined(Rank me, const Block& block, Count at) {
    const auto& cells = hosts_[me].memory[block.buffer];
    const auto found = cells.find(block.cells.offset + at);
    REQUIRE(found != cells.end());
    return found->second;
  }
  void perform(Rank me, const Unfinished& what) {
    const Step step = programs_[me][what.number];
    if (step.action == Action::send) {
      std::vector<Value>& message = messages_[{me, step.peer, step.channel, what.ordinal}];
      for (const Block& block : step.blocks)
        for (Count at = 0; at < block.cells.count; ++at) message.push_back(defined(me, block, at));
      return;
    }
    if (step.action == Action::receive) {
      const auto message = messages_.find({step.peer, me, step.channel, what.ordinal});
      std::size_t next = 0;
      for (const Block& block : step.blocks)
        for (Count at = 0; at < block.cells.count; ++at)
          cell(me, block, at) = message->second.at(next++);
      REQUIRE(next == message->second.size());
      messages_.erase(message);
      return;
    }
    const Block& into = step.blocks[0];
    for (Count at = 0; at < into.cells.count; ++at) {
      const Value left = defined(me, step.blocks[1], at);
      cell(me, into, at) =
          step.action == Action::copy ? left : left + defined(me, step.blocks[2], at);
    }
  }

  const CollectiveSpec& task_;
  std::mt19937_64& random_;
  std::vector<Steps> programs_;
  std::vector<Host> hosts_;
  std::map<Name, std::vector<Value>> messages_;
};

/// Returns the sum of a group's values in the canonical order. Each group adds the sums of its
/// inner groups from left to right.
Value canonical(const Topology& group, std::size_t level, std::size_t number, Count at) {
  if (level == group.depth() + 1) return given(group.members(level, number)[0], at);
  const Topology::Inner inner = group.inner(level, number, level + 1);
  Value sum = canonical(group, level + 1, inner.first, at);
  for (std::size_t next = inner.first + 1; next < inner.last; ++next)
    sum = sum + canonical(group, level + 1, next, at);
  return sum;
}

struct Expected {
  // Expected values. The test always compares the sums. It compares the expressions only if
  // `is_exact`.
  std::vector<Value> cells;
  bool is_exact = true;
};

Expected expected(const CollectiveSpec& task, Rank me, bool is_canonical) {
  Expected result;
  const auto moved = [&](Rank from, Range range) {
    for (Count at = 0; at < range.count; ++at)
      result.cells.push_back(given(from, range.offset + at));
  };
  const auto summed = [&](Range range, Rank end) {
    result.is_exact = is_canonical && end == task.size();
    for (Count at = range.offset; at < range.end(); ++at) {
      Value sum{};
      for (Rank rank = 0; rank < end; ++rank) sum.sum += given(rank, at).sum;
      result.cells.push_back(result.is_exact ? canonical(task.group(), 0, 0, at) : sum);
    }
  };
  const auto block = [&](std::size_t index) { return task.counts.block(index); };
  switch (task.collective) {
    case Collective::broadcast: moved(task.root, task.vector()); break;
    case Collective::scatter: moved(task.root, block(me)); break;
    case Collective::gather:
      if (me != task.root) break;
      [[fallthrough]];
    case Collective::allgather:
      for (Rank rank = 0; rank < task.size(); ++rank) moved(rank, {0, block(rank).count});
      break;
    case Collective::alltoall:
      for (Rank rank = 0; rank < task.size(); ++rank)
        moved(rank, collectives::given(task, rank, me));
      break;
    case Collective::reduce:
      if (me == task.root) summed(task.vector(), task.size());
      break;
    case Collective::allreduce: summed(task.vector(), task.size()); break;
    case Collective::reduce_scatter: summed(block(me), task.size()); break;
    case Collective::scan: summed(task.vector(), me + 1); break;
    case Collective::exscan:
      if (me > 0) summed(task.vector(), me);
      break;
    case Collective::barrier: break;
  }
  return result;
}

void execute(const Algorithm& algorithm, const CollectiveSpec& task, const Parameters& parameters,
             std::mt19937_64& random) {
  INFO(::text(algorithm, task, parameters));
  Execution execution(algorithm, task, parameters, random);
  execution.run();
  if (task.collective == Collective::barrier) return;
  const bool is_canonical =
      is_reduction(task.collective) && algorithm.order(task, parameters) == Order::canonical;
  std::map<Count, std::uint64_t> agreed;  // expression by index, the same on all participants
  for (Rank me = 0; me < task.size(); ++me) {
    const Expected wanted = expected(task, me, is_canonical);
    const std::map<Count, Value>& result = execution.result(me);
    INFO("participant " << me);
    for (Count at = 0; at < wanted.cells.size(); ++at) {
      REQUIRE(result.contains(at));
      const Value value = result.at(at);
      REQUIRE(value.sum == wanted.cells[at].sum);
      if (wanted.is_exact) REQUIRE(value == wanted.cells[at]);
      if (task.collective == Collective::allreduce)
        REQUIRE(agreed.try_emplace(at, value.expression).first->second == value.expression);
    }
  }
}

/// Returns a random topology of several levels, with ranks in random order.
std::shared_ptr<const Topology> random_group(std::mt19937_64& random, std::size_t largest) {
  std::vector<Topology::Path> paths(1 + random() % largest, Topology::Path(random() % 4));
  for (Topology::Path& path : paths)
    for (std::uint32_t& number : path) number = static_cast<std::uint32_t>(random() % 3);
  return std::make_shared<const Topology>(paths);
}

std::size_t execute_some(std::uint64_t seed, std::size_t largest, std::size_t one_in) {
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  std::size_t executed = 0;
  for_every_schedule(
      random_group(random, largest),
      [&](const Algorithm& algorithm, const CollectiveSpec& task, const Parameters& values) {
        if (random() % one_in != 0) return;
        ++executed;
        execute(algorithm, task, values, random);
      });
  return executed;
}

}  // namespace

TEST_CASE("execution: any order that hazards allow gives the result that defines the collective") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) CHECK(execute_some(seed, 9, 100) > 0);
}

TEST_CASE("execution: more and larger schedules in any order", "[.random]") {
  std::size_t executed = 0;
  for (std::uint64_t seed = 100; seed < 200; ++seed) executed += execute_some(seed, 13, 30);
  std::cout << executed << " schedules executed\n";
}
