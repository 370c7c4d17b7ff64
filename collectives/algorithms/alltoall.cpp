// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/alltoall.cpp — pairwise exchange, and slots of Bruck's exchange.
#include "collectives/algorithms/alltoall.hpp"

#include <bit>

namespace collectives {
namespace {

Program pairwise(const CollectiveSpec& task, const Parameters&, Rank me) {
  return {1, [&task, me](Count, Steps& steps) {
            append_pairwise(steps, task, everybody(task.group(), me), taken(task, me));
          }};
}

/// Slots of Bruck's exchange. Slot j holds the block whose receiver is j members after its sender.
/// There are two buffers: one for blocks that have made an odd number of hops so far, and one for
/// blocks with an even number of hops. A round therefore never receives into the slot from which it
/// sends. If a round did so, all members could wait for each other in a circle.
class Slots {
 public:
  Slots(const CollectiveSpec& task, const Team& team, const std::vector<Range>& results)
      : task_(task), team_(team), results_(results) {}

  /// Return where a member has the block of slot `distance` before or after a round. In the round,
  /// blocks move to the member that is `bit` positions further.
  Block before(std::size_t distance, std::size_t bit) const {
    const std::size_t gone = distance & (bit - 1);
    const Rank source = team_[team_.before(gone)];
    const Rank target = team_[team_.round(team_.before(gone), distance)];
    const Range block = given(task_, source, target);
    if (gone == 0) return {in, block};
    return {buffer(gone), {distance * task_.counts.largest(), block.count}};
  }
  Block after(std::size_t distance, std::size_t bit) const {
    const std::size_t gone = distance & (2 * bit - 1);
    const Rank source = team_[team_.before(gone)];
    if (gone == distance) return {out, results_[source]};
    const Rank target = team_[team_.round(team_.before(gone), distance)];
    return {buffer(gone), {distance * task_.counts.largest(), given(task_, source, target).count}};
  }

 private:
  static Buffer buffer(std::size_t gone) {
    return {Storage::slot, static_cast<std::uint32_t>(std::popcount(gone) % 2)};
  }
  const CollectiveSpec& task_;
  const Team& team_;
  const std::vector<Range>& results_;
};

Program bruck(const CollectiveSpec& task, const Parameters&, Rank me) {
  return {1, [&task, me](Count, Steps& steps) {
            const Team team = everybody(task.group(), me);
            const std::vector<Range> results = taken(task, me);
            const Slots slots(task, team, results);
            steps.copy({out, results[me]}, {in, given(task, me, me)});
            for (std::size_t bit = 1; bit < team.size(); bit *= 2) {
              Ref send, receive;
              for (std::size_t distance = bit; distance < team.size(); ++distance) {
                if ((distance & bit) == 0) continue;
                send.add(slots.before(distance, bit));
                receive.add(slots.after(distance, bit));
              }
              steps.send(team[team.after(bit)], send);
              steps.receive(team[team.before(bit)], receive);
            }
          }};
}

}  // namespace

void append_pairwise(Steps& steps, const CollectiveSpec& task, const Team& team,
                     std::span<const Range> results, Channel channel) {
  const Rank me = team[team.me];
  steps.copy({out, results[me]}, {in, given(task, me, me)});
  for (std::size_t round = 1; round < team.size(); ++round) {
    const Rank to = team[team.after(round)];
    const Rank from = team[team.before(round)];
    steps.send(to, Block{in, given(task, me, to)}, channel);
    steps.receive(from, Block{out, results[from]}, channel);
  }
}

Algorithm pairwise_algorithm() {
  return {
      .name = "pairwise",
      .help = "Each participant sends every other its block, starting with its right neighbour.",
      .collectives = {Collective::alltoall},
      .parameters = {},
      .order = {},
      .refusal = {},
      .program = pairwise};
}

Algorithm bruck_alltoall_algorithm() {
  return {.name = "bruck_alltoall",
          .help = "Blocks travel distances that are powers of two: few messages, more bytes.",
          .collectives = {Collective::alltoall},
          .parameters = {},
          .order = {},
          .refusal = {},
          .program = bruck};
}

}  // namespace collectives
