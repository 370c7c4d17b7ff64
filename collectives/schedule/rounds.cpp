// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/rounds.cpp — `hand` buffers that order rounds, and partners of each round.
#include "collectives/schedule/rounds.hpp"

namespace collectives {
namespace {

constexpr Block sending{{Storage::hand, 0}, {0, 1}};
constexpr Block receiving{{Storage::hand, 1}, {0, 1}};

Block first_of(const Ref& message) {
  const Block& first = message.blocks().front();
  return {first.buffer, {first.cells.offset, 1}};
}

/// Returns the bundles of `count` members in cyclic order, beginning with the member `first`.
Ref bundles_from(Bundles bundles, std::size_t first, std::size_t count) {
  Ref all;
  for (std::size_t next = 0; next < count; ++next)
    all.append(bundles[(first + next) % bundles.size()]);
  return all;
}

}  // namespace

const Ref& Rounds::passed(Block hand, const Ref& message) {
  message_.clear();
  message_.add(hand);
  Count left_out = 1;
  for (const Block& block : message.blocks()) {
    message_.add({block.buffer, {block.cells.offset + left_out, block.cells.count - left_out}});
    left_out = 0;
  }
  return message_;
}

/// Delays the outgoing message until both messages of the previous round have ended. The first
/// element of the outgoing message is copied to the receiving `hand` buffer, which is free when the
/// previous incoming message has arrived. From this buffer it is copied to the sending `hand`
/// buffer, which is free when the previous outgoing message has left. Then the first incoming
/// element is received into the receiving `hand` buffer.
void Rounds::exchange(Rank to, const Ref& what, Rank from, const Ref& into) {
  if (what.count() > 0) {
    const Block first = first_of(what);
    if (came_ != first) steps_.copy(receiving, first);
    if (came_ != first || went_ != first) steps_.copy(sending, receiving);
    came_ = went_ = first;
    steps_.send(to, passed(sending, what));
  }
  if (into.count() > 0) {
    came_ = first_of(into);
    steps_.receive(from, passed(receiving, into));
    steps_.copy(came_, receiving);
  }
}

void allgather_spreading(Rounds& rounds, const Team& team, Bundles bundles) {
  for (std::size_t round = 1; round < team.size(); ++round)
    rounds.exchange(team[team.after(round)], bundles[team.me], team[team.before(round)],
                    bundles[team.before(round)]);
}

void allgather_doubling(Rounds& rounds, const Team& team, Bundles bundles) {
  for (std::size_t distance = 1; distance < team.size(); distance *= 2) {
    if (is_power_of_two(team.size())) {
      const std::size_t partner = team.me ^ distance;
      rounds.exchange(team[partner], bundles_from(bundles, team.me & ~(distance - 1), distance),
                      team[partner], bundles_from(bundles, partner & ~(distance - 1), distance));
    } else {
      const std::size_t count = std::min(distance, team.size() - distance);
      rounds.exchange(team[team.before(distance)], bundles_from(bundles, team.me, count),
                      team[team.after(distance)],
                      bundles_from(bundles, team.after(distance), count));
    }
  }
}

}  // namespace collectives
