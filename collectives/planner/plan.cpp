// SPDX-License-Identifier: Apache-2.0
// collectives/planner/plan.cpp — pieces, digests and steps of planned allgathers.
#include "collectives/planner/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace planning {
namespace {

std::size_t segments_of(collectives::Count count, collectives::Count largest, std::size_t segments,
                        bool proportional) {
  if (!proportional || largest == 0) return segments;
  const double share = static_cast<double>(count) / static_cast<double>(largest);
  return std::max<std::size_t>(1, static_cast<std::size_t>(share * double(segments) + 0.5));
}

/// Returns the name of a piece: the name of its owner. If the owner has several pieces, the number
/// of the piece is appended.
std::string name_of(const Plan& plan, std::uint32_t piece, std::span<const std::string> names) {
  const Rank owner = plan.pieces[piece].owner;
  const auto is_same = [&](std::size_t other) {
    return other < plan.pieces.size() && plan.pieces[other].owner == owner;
  };
  std::size_t number = 0;
  while (number < piece && is_same(piece - number - 1)) ++number;
  if (number == 0 && !is_same(piece + 1)) return names[owner];
  return fmt::format("{}.{}", names[owner], number);
}

bool are_equal(const collectives::Counts& left, const collectives::Counts& right) {
  if (left.blocks() != right.blocks()) return false;
  for (std::size_t block = 0; block < left.blocks(); ++block)
    if (left.block(block) != right.block(block)) return false;
  return true;
}

}  // namespace

std::vector<Piece> pieces_of(const collectives::Counts& counts, Bytes element_bytes,
                             std::size_t segments, bool proportional) {
  std::vector<Piece> pieces;
  for (std::size_t block = 0; block < counts.blocks(); ++block) {
    const collectives::Range whole = counts.block(block);
    for (const collectives::Range cells :
         cut(whole, segments_of(whole.count, counts.largest(), segments, proportional)))
      if (cells.count > 0)
        pieces.push_back({static_cast<Rank>(block), cells, cells.count * element_bytes});
  }
  return pieces;
}

Nanos Plan::time() const {
  Nanos last{0};
  for (const Transfer& transfer : transfers) last = std::max(last, transfer.end);
  return last;
}

base::Digest Plan::digest() const {
  base::RunningDigest digest;
  const auto add = [&](std::uint64_t number) { digest.add(std::as_bytes(std::span(&number, 1))); };
  add(hosts);
  for (const Piece& piece : pieces) {
    add(piece.owner);
    add(piece.cells.offset);
    add(piece.cells.count);
  }
  for (const Transfer& transfer : transfers) {
    add(transfer.from);
    add(transfer.to);
    add(transfer.piece);
  }
  return digest.value();
}

void sort_by_start(std::vector<Transfer>& transfers) {
  std::stable_sort(
      transfers.begin(), transfers.end(),
      [](const Transfer& left, const Transfer& right) { return left.start < right.start; });
}

void append_steps(const Plan& plan, Rank me, collectives::Steps& steps) {
  using collectives::Block;
  const collectives::Range own = plan.counts.block(me);
  steps.copy({collectives::out, own}, {collectives::in, {0, own.count}});
  for (const Transfer& transfer : plan.transfers) {
    const Block block{collectives::out, plan.pieces[transfer.piece].cells};
    if (transfer.from == me) steps.send(transfer.to, block);
    if (transfer.to == me) steps.receive(transfer.from, block);
  }
}

std::string text(const Plan& plan, const Transfer& transfer, std::span<const std::string> names) {
  const auto milliseconds = [](Nanos time) { return static_cast<double>(time.count()) / 1e6; };
  return fmt::format("{}>{} {} {:.10g}-{:.10g}", names[transfer.from], names[transfer.to],
                     name_of(plan, transfer.piece, names), milliseconds(transfer.start),
                     milliseconds(transfer.end));
}

collectives::Algorithm algorithm_of(std::shared_ptr<const Plan> plan, std::string name,
                                    std::string help) {
  using collectives::CollectiveSpec;
  using collectives::Parameters;
  const auto refusal = [plan](const CollectiveSpec& task, const Parameters&) -> std::string {
    if (task.size() != plan->hosts)
      return fmt::format("it was planned for {} participants, and here are {}", plan->hosts,
                         task.size());
    return are_equal(task.counts, plan->counts) ? "" : "it was planned for blocks of other lengths";
  };
  const auto program = [plan](const CollectiveSpec&, const Parameters&, Rank me) {
    return collectives::Program(1, [plan, me](collectives::Count, collectives::Steps& steps) {
      append_steps(*plan, me, steps);
    });
  };
  return {.name = std::move(name),
          .help = std::move(help),
          .collectives = {collectives::Collective::allgather},
          .parameters = {},
          .order = {},
          .refusal = refusal,
          .program = program};
}

}  // namespace planning
