// SPDX-License-Identifier: Apache-2.0
// collectives/planner/min3.cpp — greedy search for the next transfer, by a heap of known end times.
#include "collectives/planner/min3.hpp"

#include <fmt/format.h>

#include <queue>
#include <stdexcept>
#include <tuple>

namespace planning {
namespace {

/// The transfer that brings `piece` into `part` of the pool earliest.
struct Least {
  Nanos end = Nanos::max();
  std::uint32_t piece = 0;
  std::uint32_t part = 0;
  Rank from = 0, to = 0;

  /// Compares in reverse order, so that a std::priority_queue has the transfer that ends first on
  /// top.
  friend bool operator<(const Least& left, const Least& right) {
    return std::tie(left.end, left.piece, left.part) > std::tie(right.end, right.piece, right.part);
  }
};

class Greedy {
 public:
  Greedy(const PairCosts& costs, const std::vector<Piece>& pieces, const PortModel& model)
      : state_(costs, pieces, model), part_of_(costs.hosts()) {}

  /// Plans all transfers within a pool, until each of its hosts has all pieces. Before these
  /// transfers, `holders[piece]` is the only host of the pool that has the piece.
  void plan(const Pool& pool, const std::vector<Rank>& holders);
  std::vector<Transfer> transfers() && { return std::move(transfers_); }

 private:
  using Parts = std::vector<std::span<const Rank>>;
  Least look(std::uint32_t piece, std::uint32_t part, std::span<const Rank> from,
             std::span<const Rank> to) const;
  std::vector<std::vector<Rank>> spread(const Parts& parts, const std::vector<Rank>& holders);

  PortState state_;
  std::vector<std::size_t> part_of_;  // index of the current pool's part that contains each host
  std::vector<Transfer> transfers_;
};

Least Greedy::look(std::uint32_t piece, std::uint32_t part, std::span<const Rank> from,
                   std::span<const Rank> to) const {
  Least least{.piece = piece, .part = part};
  for (const Rank sender : from)
    for (const Rank receiver : to)
      if (const Nanos end = state_.end(piece, sender, receiver); end < least.end) {
        least.end = end;
        least.from = sender;
        least.to = receiver;
      }
  return least;
}

/// Plans transfers that bring every piece to one host of each part. Returns for each piece the
/// hosts that have it after these transfers, in the order in which they get it.
std::vector<std::vector<Rank>> Greedy::spread(const Parts& parts,
                                              const std::vector<Rank>& holders) {
  const auto pieces = static_cast<std::uint32_t>(holders.size());
  std::vector<std::vector<Rank>> sources(pieces);
  std::vector<Least> known(std::size_t{pieces} * parts.size());
  std::priority_queue<Least> queue;
  const auto remember = [&](const Least& least) {
    known[least.piece * parts.size() + least.part] = least;
    queue.push(least);
  };
  for (std::uint32_t piece = 0; piece < pieces; ++piece) {
    sources[piece] = {holders[piece]};
    for (std::uint32_t part = 0; part < parts.size(); ++part)
      if (part != part_of_[holders[piece]])
        remember(look(piece, part, sources[piece], parts[part]));
  }
  while (!queue.empty()) {
    const Least least = queue.top();
    queue.pop();
    Least& latest = known[least.piece * parts.size() + least.part];
    if (latest.end != least.end || latest.from != least.from || latest.to != least.to) continue;
    std::vector<Rank>& from = sources[least.piece];
    if (state_.end(least.piece, least.from, least.to) != least.end) {
      remember(look(least.piece, least.part, from, parts[least.part]));
      continue;
    }
    transfers_.push_back(state_.commit(least.piece, least.from, least.to));
    latest.end = Nanos(-1);  // negative = the plan already brings the piece into this part
    from.push_back(least.to);
    for (std::uint32_t part = 0; part < parts.size(); ++part) {
      const Least& other = known[least.piece * parts.size() + part];
      if (other.end < Nanos(0) || part == part_of_[holders[least.piece]]) continue;
      const Least further = look(least.piece, part, {&from.back(), 1}, parts[part]);
      if (further.end < other.end) remember(further);
    }
  }
  return sources;
}

void Greedy::plan(const Pool& pool, const std::vector<Rank>& holders) {
  Parts parts;
  for (const Pool& part : pool.parts) parts.emplace_back(part.hosts);
  if (parts.empty())
    for (const Rank& host : pool.hosts) parts.emplace_back(&host, 1);
  const auto tell_parts = [&] {
    for (std::size_t part = 0; part < parts.size(); ++part)
      for (const Rank host : parts[part]) part_of_[host] = part;
  };
  tell_parts();
  const std::vector<std::vector<Rank>> sources = spread(parts, holders);
  for (std::size_t part = 0; part < pool.parts.size(); ++part) {
    if (parts[part].size() == 1) continue;
    std::vector<Rank> inside(holders.size());
    for (std::size_t piece = 0; piece < holders.size(); ++piece)
      inside[piece] = *std::find_if(sources[piece].begin(), sources[piece].end(),
                                    [&](Rank host) { return part_of_[host] == part; });
    plan(pool.parts[part], inside);
    tell_parts();  // restores part_of_, which plan() has overwritten
  }
}

}  // namespace

Plan min3(const Pool& pools, const PairCosts& costs, const collectives::Counts& counts,
          std::vector<Piece> pieces, const PortModel& model) {
  if (pools.hosts.size() != costs.hosts())
    throw std::invalid_argument(
        fmt::format("pools have {} hosts, and the network {}", pools.hosts.size(), costs.hosts()));
  Plan plan{.hosts = costs.hosts(), .counts = counts, .pieces = std::move(pieces), .transfers = {}};
  std::vector<Rank> holders;
  for (const Piece& piece : plan.pieces) holders.push_back(piece.owner);
  Greedy greedy(costs, plan.pieces, model);
  greedy.plan(pools, holders);
  plan.transfers = std::move(greedy).transfers();
  return plan;
}

}  // namespace planning
