// SPDX-License-Identifier: Apache-2.0
// tests/collectives/planner/plans.cpp — checks of plans transfer by transfer.
#include "tests/collectives/planner/plans.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

namespace planning {
namespace {

struct Interval {
  Nanos start, end;
};

/// Returns whether the intervals are disjoint: no two of them overlap.
bool are_disjoint(std::vector<Interval> taken) {
  std::sort(taken.begin(), taken.end(),
            [](const Interval& a, const Interval& b) { return a.start < b.start; });
  for (std::size_t index = 1; index < taken.size(); ++index)
    if (taken[index].start < taken[index - 1].end) return false;
  return true;
}

}  // namespace

std::string mistake_of(const Plan& plan, const PairCosts& costs) {
  std::map<std::pair<std::uint32_t, Rank>, Nanos> here;
  for (std::uint32_t piece = 0; piece < plan.pieces.size(); ++piece)
    here[{piece, plan.pieces[piece].owner}] = Nanos(0);
  for (const Transfer& transfer : plan.transfers) {
    const auto at_sender = here.find({transfer.piece, transfer.from});
    if (at_sender == here.end() || at_sender->second > transfer.start)
      return fmt::format("{} sends piece {} before it has it", transfer.from, transfer.piece);
    if (!here.try_emplace({transfer.piece, transfer.to}, transfer.end).second)
      return fmt::format("{} gets piece {} twice", transfer.to, transfer.piece);
  }
  if (here.size() != plan.pieces.size() * costs.hosts()) return "a piece does not come to all";
  return "";
}

std::string mistake_of(const Plan& plan, const PairCosts& costs, const PortModel& model) {
  if (const std::string mistake = mistake_of(plan, costs); !mistake.empty()) return mistake;
  // Intervals in which each port is occupied. Key: host, and true for its receiving port or false
  // for its sending port.
  std::map<std::pair<Rank, bool>, std::vector<Interval>> ports;
  std::map<std::pair<Rank, Rank>, std::vector<Interval>> pairs;
  for (const Transfer& transfer : plan.transfers) {
    const Bytes bytes = plan.pieces[transfer.piece].bytes;
    const Nanos sent = transfer.start + costs.sending(transfer.from, bytes);
    const Nanos passed = transfer.start + costs.takes(transfer.from, transfer.to, bytes);
    if (transfer.end - passed != costs.pair(transfer.from, transfer.to).latency)
      return "a transfer takes another time than it should";
    ports[{transfer.from, false}].push_back({transfer.start, sent});
    ports[{transfer.to, !model.is_half_duplex}].push_back({transfer.start, transfer.end});
    pairs[{transfer.from, transfer.to}].push_back({transfer.start, std::max(sent, passed)});
  }
  for (const auto& [port, taken] : ports)
    if (!are_disjoint(taken)) return fmt::format("host {} has a port taken twice", port.first);
  for (const auto& [pair, taken] : pairs)
    if (!are_disjoint(taken))
      return fmt::format("from {} to {} are two at once", pair.first, pair.second);
  return "";
}

std::size_t copies_into_cluster(const Plan& plan, const PairCosts& costs) {
  std::map<std::pair<std::uint32_t, std::size_t>, std::size_t> copies;
  std::size_t most = 0;
  for (const Transfer& transfer : plan.transfers)
    if (costs.crosses(transfer.from, transfer.to))
      most = std::max(most, ++copies[{transfer.piece, costs.topology().cluster_of(transfer.to)}]);
  return most;
}

}  // namespace planning
