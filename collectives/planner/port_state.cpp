// SPDX-License-Identifier: Apache-2.0
// collectives/planner/port_state.cpp — equations 1 to 3 of the paper's model of ports.
#include "collectives/planner/port_state.hpp"

#include <map>

#include "base/errors.hpp"

namespace planning {

void PortState::Slots::take(Nanos until) {
  std::pop_heap(taken_.begin(), taken_.end(), std::greater<>());
  taken_.back() = until;
  std::push_heap(taken_.begin(), taken_.end(), std::greater<>());
}

PortState::PortState(const PairCosts& costs, const std::vector<Piece>& pieces,
                     const PortModel& model)
    : costs_(costs), pieces_(pieces), model_(model), hosts_(costs.hosts()) {
  std::map<Bytes, std::size_t> sizes;
  for (const Piece& piece : pieces) {
    const auto [found, is_new] = sizes.try_emplace(piece.bytes, sizes.size());
    size_of_.push_back(found->second);
    if (!is_new) continue;
    std::vector<Nanos>& ways = ways_.emplace_back();
    for (Rank from = 0; from < hosts_; ++from)
      for (Rank to = 0; to < hosts_; ++to)
        ways.push_back(costs.pair(from, to).latency + costs.takes(from, to, piece.bytes));
  }
  here_.assign(pieces.size() * hosts_, Nanos(-1));
  for (std::uint32_t piece = 0; piece < pieces.size(); ++piece)
    here_[index(piece, pieces[piece].owner)] = Nanos(0);
  pairs_.assign(hosts_ * hosts_, Nanos(0));
  for (const bool is_across : {false, true}) {
    const std::size_t ports = is_across ? model.receiving_across : 1;
    sending_[is_across].assign(hosts_, Slots(1));
    receiving_[is_across].assign(hosts_, Slots(std::max<std::size_t>(1, ports)));
  }
  const std::size_t clusters = costs.topology().clusters();
  for (std::size_t path = 0; path < clusters * clusters; ++path)
    paths_.emplace_back(std::max<std::size_t>(1, costs.slots(path)));
  for (Rank from = 0; from < hosts_; ++from)
    for (Rank to = 0; to < hosts_; ++to) {
      Takes& takes = takes_.emplace_back();
      if (!costs.crosses(from, to)) continue;
      const std::size_t path = costs.path(from, to);
      takes.ports = model.are_apart ? 1 : 0;
      if (model.counts_slots && costs.slots(path) > 0)
        takes.path = static_cast<std::uint32_t>(path);
    }
}

Nanos PortState::start(std::uint32_t piece, Rank from, Rank to) const {
  const Takes takes = takes_[pair(from, to)];
  const auto& receiving = model_.is_half_duplex ? sending_ : receiving_;
  const Nanos start =
      std::max({pairs_[pair(from, to)], here_[index(piece, from)],
                sending_[takes.ports][from].free_at(), receiving[takes.ports][to].free_at()});
  return takes.path == Takes::any ? start : std::max(start, paths_[takes.path].free_at());
}

Transfer PortState::commit(std::uint32_t piece, Rank from, Rank to) {
  ENSURE(has(piece, from) && !has(piece, to));
  const Transfer transfer{from, to, piece, start(piece, from, to), end(piece, from, to)};
  if (transfer.end > base::time_max)
    throw std::invalid_argument("a message would arrive after the end of the clock, in 31 years");
  const Bytes bytes = pieces_[piece].bytes;
  const Nanos sent = transfer.start + costs_.sending(from, bytes);
  const Nanos passed = transfer.start + costs_.takes(from, to, bytes);
  const Takes takes = takes_[pair(from, to)];
  pairs_[pair(from, to)] = std::max(sent, passed);
  sending_[takes.ports][from].take(sent);
  auto& receiving = model_.is_half_duplex ? sending_ : receiving_;
  receiving[takes.ports][to].take(transfer.end);
  here_[index(piece, to)] = transfer.end;
  if (takes.path != Takes::any) paths_[takes.path].take(passed);
  return transfer;
}

}  // namespace planning
