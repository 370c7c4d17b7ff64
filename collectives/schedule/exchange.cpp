// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/exchange.cpp — partners and pieces in each round of an exchange.
#include "collectives/schedule/exchange.hpp"

#include "base/errors.hpp"
#include "collectives/schedule/fold.hpp"
#include "collectives/schedule/tree.hpp"

namespace collectives {
namespace {

/// Returns the pieces of `count` members in cyclic order, beginning with the member `first`.
Ref pieces_from(const Gathering& gathering, std::size_t first, std::size_t count) {
  Ref pieces;
  for (std::size_t next = 0; next < count; ++next)
    pieces.add({gathering.buffer, gathering.pieces[(first + next) % gathering.pieces.size()]});
  return pieces;
}

Buffer received(Rank from) { return {Storage::received, from}; }

}  // namespace

void allgather_ring(Steps& steps, const Gathering& gathering) {
  const Team& team = gathering.team;
  for (std::size_t round = 0; round + 1 < team.size(); ++round) {
    steps.send(team[team.after(1)], Block{gathering.buffer, gathering.pieces[team.before(round)]},
               gathering.channel);
    steps.receive(team[team.before(1)],
                  Block{gathering.buffer, gathering.pieces[team.before(round + 1)]},
                  gathering.channel);
  }
}

void allgather_direct(Steps& steps, const Gathering& gathering) {
  const Team& team = gathering.team;
  for (std::size_t round = 1; round < team.size(); ++round) {
    steps.send(team[team.after(round)], Block{gathering.buffer, gathering.pieces[team.me]},
               gathering.channel);
    const std::size_t from = team.before(round);
    steps.receive(team[from], Block{gathering.buffer, gathering.pieces[from]}, gathering.channel);
  }
}

void allgather_bruck(Steps& steps, const Gathering& gathering) {
  const Team& team = gathering.team;
  for (std::size_t distance = 1; distance < team.size(); distance *= 2) {
    const std::size_t count = std::min(distance, team.size() - distance);
    steps.send(team[team.before(distance)], pieces_from(gathering, team.me, count),
               gathering.channel);
    steps.receive(team[team.after(distance)], pieces_from(gathering, team.after(distance), count),
                  gathering.channel);
  }
}

void allgather_doubling(Steps& steps, const Gathering& gathering) {
  const Team& team = gathering.team;
  ENSURE(is_power_of_two(team.size()));
  for (std::size_t distance = 1; distance < team.size(); distance *= 2) {
    const std::size_t partner = team.me ^ distance;
    steps.send(team[partner], pieces_from(gathering, team.me & ~(distance - 1), distance),
               gathering.channel);
    steps.receive(team[partner], pieces_from(gathering, partner & ~(distance - 1), distance),
                  gathering.channel);
  }
}

Block reduce_scatter_ring(Steps& steps, const Summing& summing) {
  const Team& team = summing.team;
  const std::size_t size = team.size();
  Block sum = summing.at(summing.source, summing.pieces[team.before(1)]);
  for (std::size_t round = 0; round + 1 < size; ++round) {
    const Range next = summing.pieces[team.before((round + 2) % size)];
    const Rank left = team[team.before(1)];
    const Block theirs = summing.at(received(left), next);
    const Block both = summing.at(round + 2 < size ? part : summing.result, next);
    steps.send(team[team.after(1)], sum, summing.channel);
    steps.receive(left, theirs, summing.channel);
    steps.reduce(both, theirs, summing.at(summing.source, next));
    sum = both;
  }
  return size == 1 ? summing.at(summing.source, summing.pieces[team.me]) : sum;
}

Block reduce_scatter_direct(Steps& steps, const Summing& summing) {
  const Team& team = summing.team;
  const Range own = summing.pieces[team.me];
  for (std::size_t round = 1; round < team.size(); ++round) {
    const std::size_t to = team.after(round);
    const Rank from = team[team.before(round)];
    steps.send(team[to], summing.at(summing.source, summing.pieces[to]), summing.channel);
    steps.receive(from, summing.at(received(from), own), summing.channel);
  }
  std::vector<Block> operands;
  operands.reserve(team.size());
  for (std::size_t member = 0; member < team.size(); ++member)
    operands.push_back(
        summing.at(member == team.me ? summing.source : received(team[member]), own));
  const Block into = summing.at(summing.result, own);
  if (summing.groups == nullptr) return fold(steps, operands, into);
  return fold_by_groups(steps, *summing.groups, team.members, operands, into,
                        summing.stretches->scratch(own));
}

Block reduce_scatter_halving(Steps& steps, const Summing& summing) {
  const Team& team = summing.team;
  ENSURE(is_power_of_two(team.size()));
  std::size_t first = 0;  // index of the first piece that this member still has to sum
  Buffer have = summing.source;
  for (std::size_t half = team.size() / 2; half > 0; half /= 2) {
    const std::size_t partner = team.me ^ half;
    const std::size_t kept = first + (team.me & half);
    const std::size_t given = first + (partner & half);
    const Buffer theirs = received(team[partner]);
    const Buffer both = half > 1 ? part : summing.result;
    Ref send, receive;
    for (std::size_t next = 0; next < half; ++next) {
      send.add(summing.at(have, summing.pieces[given + next]));
      receive.add(summing.at(theirs, summing.pieces[kept + next]));
    }
    steps.send(team[partner], send, summing.channel);
    steps.receive(team[partner], receive, summing.channel);
    for (std::size_t next = kept; next < kept + half; ++next) {
      const Block own = summing.at(have, summing.pieces[next]);
      const Block other = summing.at(theirs, summing.pieces[next]);
      const bool is_lower = team.me < partner;
      steps.reduce(summing.at(both, summing.pieces[next]), is_lower ? own : other,
                   is_lower ? other : own);
    }
    first = kept;
    have = both;
  }
  return summing.at(have, summing.pieces[team.me]);
}

void exchange_sums(Steps& steps, const Team& team, Block sum, Range range, Range scratch,
                   Channel channel) {
  for (std::size_t distance = 1; distance < team.size(); ++distance)
    steps.send(team[team.after(distance)], sum, channel);
  std::vector<Block> operands(team.size(), sum);
  for (std::size_t distance = 1; distance < team.size(); ++distance) {
    const std::size_t from = team.before(distance);
    operands[from] = {{Storage::across, static_cast<std::uint32_t>(from)}, scratch};
    steps.receive(team[from], operands[from], channel);
  }
  steps.copy({out, range}, fold(steps, operands, {out, range}));
}

namespace {

/// Returns all pieces of the subtree of a member in the binomial tree.
Ref pieces_below(const Gathering& gathering, std::size_t member) {
  const std::size_t size = gathering.team.size();
  const std::size_t below = member == 0 ? size : member & (~member + 1);
  return pieces_from(gathering, member, std::min(below, size - member));
}

}  // namespace

void scatter_binomial(Steps& steps, const Gathering& gathering) {
  const Team& team = gathering.team;
  const Shape::Node node = Shape{}.node(team.size(), team.me);
  if (team.me > 0)
    steps.receive(team[node.parent], pieces_below(gathering, team.me), gathering.channel);
  for (const std::size_t child : node.children)
    steps.send(team[child], pieces_below(gathering, child), gathering.channel);
}

void gather_binomial(Steps& steps, const Gathering& gathering) {
  const Team& team = gathering.team;
  const Shape::Node node = Shape{}.node(team.size(), team.me);
  for (const std::size_t child : node.children)
    for (const Ref& message : pieces_below(gathering, child).in_segments(gathering.segment))
      steps.receive(team[child], message, gathering.channel);
  if (team.me > 0)
    for (const Ref& message : pieces_below(gathering, team.me).in_segments(gathering.segment))
      steps.send(team[node.parent], message, gathering.channel);
}

std::vector<std::string> allgather_words() { return {"ring", "direct", "bruck", "doubling"}; }

std::vector<std::string> reduce_scatter_words() { return {"ring", "direct", "halving"}; }

void allgather(const std::string& word, Steps& steps, const Gathering& gathering) {
  if (word == "ring") return allgather_ring(steps, gathering);
  if (word == "direct") return allgather_direct(steps, gathering);
  if (word == "bruck") return allgather_bruck(steps, gathering);
  allgather_doubling(steps, gathering);
}

Block reduce_scatter(const std::string& word, Steps& steps, const Summing& summing) {
  if (word == "ring") return reduce_scatter_ring(steps, summing);
  if (word == "direct") return reduce_scatter_direct(steps, summing);
  return reduce_scatter_halving(steps, summing);
}

bool needs_power_of_two(const std::string& word) { return word == "doubling" || word == "halving"; }

}  // namespace collectives
