// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/barriers.cpp — barriers as reductions of a token without bytes.
#include "collectives/algorithms/barriers.hpp"

#include "collectives/schedule/team.hpp"

namespace collectives {
namespace {

constexpr Range token{0, 1};

Block numbered(Storage storage, std::size_t index) {
  return {{storage, static_cast<std::uint32_t>(index)}, token};
}

Program dissemination(const CollectiveSpec& task, const Parameters&, Rank me) {
  return {1, [&task, me](Count, Steps& steps) {
            const Team team = everybody(task.group(), me);
            Block sum{in, token};
            std::size_t round = 0;
            for (std::size_t distance = 1; distance < team.size(); distance *= 2) {
              const Rank from = team[team.before(distance)];
              const Block theirs = numbered(Storage::child, from);
              const Block both = numbered(Storage::folded, ++round);
              steps.send(team[team.after(distance)], sum);
              steps.receive(from, theirs);
              steps.reduce(both, theirs, sum);
              sum = both;
            }
            steps.copy({out, token}, sum);
          }};
}

/// Sends the token around the ring twice. The first time, the token collects the arrivals of all
/// participants. The second time, it releases the participants.
Program twice_round(const CollectiveSpec& task, const Parameters&, Rank me) {
  return {1, [&task, me](Count, Steps& steps) {
            const Team team = everybody(task.group(), me);
            const Block result{out, token};
            if (team.size() == 1) return steps.copy(result, {in, token});
            const Rank right = team[team.after(1)];
            const Rank left = team[team.before(1)];
            const bool is_last = team.me + 1 == team.size();
            const Block theirs = numbered(Storage::child, left);
            const Block both = is_last ? result : numbered(Storage::folded, 1);
            if (team.me > 0) {
              steps.receive(left, theirs);
              steps.reduce(both, theirs, {in, token});
            }
            if (!is_last) steps.send(right, team.me > 0 ? both : Block{in, token});
            if (!is_last) steps.receive(left, result);
            if (team.me + 2 != team.size()) steps.send(right, result);
          }};
}

Order in_some_order(const CollectiveSpec&, const Parameters&) { return Order::permuted; }

}  // namespace

Algorithm dissemination_algorithm() {
  return {.name = "dissemination",
          .help =
              "Each participant notifies those 1, 2, 4, ... after it. Sums would differ: for "
              "barriers only.",
          .collectives = {Collective::barrier},
          .parameters = {},
          .order = [](const CollectiveSpec&, const Parameters&) { return Order::differs; },
          .refusal = {},
          .program = dissemination};
}

Algorithm ring_barrier_algorithm() {
  return {.name = "extended_ring",
          .help = "A token passes all participants twice.",
          .collectives = {Collective::barrier},
          .parameters = {},
          .order = in_some_order,
          .refusal = {},
          .program = twice_round};
}

}  // namespace collectives
