// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/recursive_doubling.cpp — exchanges at distances 1, 2, 4, ...
#include "collectives/algorithms/recursive_doubling.hpp"

#include <bit>

#include "collectives/schedule/team.hpp"

namespace collectives {
namespace {

Block scratch(Storage storage, std::size_t index, Range cells) {
  return {{storage, static_cast<std::uint32_t>(index)}, cells};
}

/// Allreduce by recursive doubling. It folds only sums of adjacent members, so that the operands
/// stay in order. If the number of members is not a power of two, the first members form pairs. One
/// member of each pair takes part in the rounds for both members. The number of members in the
/// rounds is then a power of two.
void allreduce(Steps& steps, const Team& team, Range cells) {
  const std::size_t size = team.size();
  const std::size_t places = std::bit_floor(size);
  const std::size_t paired = 2 * (size - places);
  const bool is_extra = team.me < paired && team.me % 2 == 1;
  if (is_extra) {
    steps.send(team[team.me - 1], Block{in, cells});
    steps.receive(team[team.me - 1], Block{out, cells});
    return;
  }
  Block sum{in, cells};
  std::size_t folds = 0;
  const auto fold_with = [&](Rank rank, bool is_left) {
    const Block theirs = scratch(Storage::child, rank, cells);
    const Block both = scratch(Storage::folded, ++folds, cells);
    steps.receive(rank, theirs);
    steps.reduce(both, is_left ? theirs : sum, is_left ? sum : theirs);
    sum = both;
  };
  if (team.me < paired) fold_with(team[team.me + 1], false);
  const std::size_t place = team.me < paired ? team.me / 2 : team.me - paired / 2;
  for (std::size_t distance = 1; distance < places; distance *= 2) {
    const std::size_t other = place ^ distance;
    const Rank partner = team[other < paired / 2 ? 2 * other : other + paired / 2];
    steps.send(partner, sum);
    fold_with(partner, other < place);
  }
  steps.copy({out, cells}, sum);
  if (team.me < paired) steps.send(team[team.me + 1], sum);
}

/// Scan in rank order. In every round, the number of participants whose values are in a sum
/// doubles. An exclusive scan keeps a second sum without this participant's value, because a value
/// cannot be subtracted from a sum.
void scan(Steps& steps, Rank me, Rank size, Range cells, bool is_exclusive) {
  Block sum{in, cells};
  Block before;  // sum of the participants before this one
  std::size_t folds = 0;
  for (Rank distance = 1; distance < size; distance *= 2) {
    if (me + distance < size) steps.send(me + distance, sum);
    if (me < distance) continue;
    const Block theirs = scratch(Storage::child, me - distance, cells);
    steps.receive(me - distance, theirs);
    if (is_exclusive && before.cells.count > 0) {
      const Block longer = scratch(Storage::folded, ++folds, cells);
      steps.reduce(longer, theirs, before);
      before = longer;
    } else if (is_exclusive) {
      before = theirs;
    }
    if (is_exclusive && me + 2 * distance >= size) continue;  // no participant needs this sum
    const Block longer = scratch(Storage::folded, ++folds, cells);
    steps.reduce(longer, theirs, sum);
    sum = longer;
  }
  if (!is_exclusive) steps.copy({out, cells}, sum);
  if (is_exclusive && me > 0) steps.copy({out, cells}, before);
}

Program recursive_doubling_program(const CollectiveSpec& task, const Parameters&, Rank me) {
  return {task.vector().count > 0 ? Count{1} : Count{0}, [&task, me](Count, Steps& steps) {
            const bool is_exclusive = task.collective == Collective::exscan;
            if (is_exclusive || task.collective == Collective::scan)
              scan(steps, me, task.size(), task.vector(), is_exclusive);
            else
              allreduce(steps, everybody(task.group(), me), task.vector());
          }};
}

}  // namespace

Algorithm recursive_doubling_algorithm() {
  return {.name = "recursive_doubling",
          .help = "Whole sums exchanged with partners at distances 1, 2, 4, ...: fewest rounds.",
          .collectives = {Collective::allreduce, Collective::barrier, Collective::scan,
                          Collective::exscan},
          .parameters = {},
          .order = [](const CollectiveSpec&, const Parameters&) { return Order::in_order; },
          .refusal = {},
          .program = recursive_doubling_program};
}

}  // namespace collectives
