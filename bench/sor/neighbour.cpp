// SPDX-License-Identifier: Apache-2.0
// bench/sor/neighbour.cpp — exchange of borders with near and distant neighbours
#include "bench/sor/neighbour.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "base/errors.hpp"

namespace bench {
namespace {

// Type of the length that precedes the cells in a tuple of type "f64[]".
using CellsBytes = std::uint32_t;

Colour colour_of(std::uint64_t sweep) { return sweep % 2 == 0 ? Colour::red : Colour::black; }

constexpr Colour colours[] = {Colour::red, Colour::black};

}  // namespace

// ---- transfer of rows -------------------------------------------------------------------------

void RowChannel::send(std::span<const double> cells) {
  to_.send(base::Payload::filled(sizeof(CellsBytes) + cells.size_bytes(), [&](auto bytes) {
    const auto size = static_cast<CellsBytes>(cells.size_bytes());
    std::memcpy(bytes.data(), &size, sizeof size);
    std::memcpy(bytes.data() + sizeof size, cells.data(), cells.size_bytes());
  }));
}

std::vector<double> RowChannel::receive(std::size_t count) {
  const base::Nanos begin = thread_.now();
  const pastset::Stored tuple = from_.observe();
  waited_ += thread_.now() - begin;
  from_.axe(tuple.number);
  const auto bytes = tuple.payload.bytes();
  std::vector<double> cells(count);
  const std::span<double> wanted(cells);
  if (bytes.size() != sizeof(CellsBytes) + wanted.size_bytes())
    throw std::runtime_error(fmt::format("{}: expected {} cells in a tuple, found {} bytes",
                                         from_.graph(), count, bytes.size()));
  std::memcpy(cells.data(), bytes.data() + sizeof(CellsBytes), wanted.size_bytes());
  return cells;
}

// ---- near neighbours --------------------------------------------------------------------------

void PlainNeighbour::tell(std::uint64_t, std::span<const double> border) { channel_.send(border); }

void PlainNeighbour::ask(std::uint64_t, std::span<double> border) {
  const std::vector<double> cells = channel_.receive(border.size());
  std::copy(cells.begin(), cells.end(), border.begin());
}

// ---- distant neighbours -----------------------------------------------------------------------

FarNeighbour::FarNeighbour(RowChannel& channel, Work& work, const DataSet& data, double omega,
                           RowRange ours, bool is_above, HaloDepth depth)
    : channel_(channel),
      work_(work),
      omega_(omega),
      is_above_(is_above),
      depth_(depth),
      theirs_(is_above ? RowRange{ours.begin - depth.rows(), ours.begin}
                       : RowRange{ours.end, ours.end + depth.rows()}),
      our_border_(is_above ? ours.begin : ours.end - 1),
      their_border_(is_above ? ours.begin - 1 : ours.end),
      cells_(data, is_above ? RowRange{theirs_.begin, theirs_.end + 1}
                            : RowRange{theirs_.begin - 1, theirs_.end}),
      told_(2 * depth.latency + 2) {}

void FarNeighbour::begin(std::uint64_t iteration, const Block& block) {
  if (iteration == 0 || iteration % depth_.period != 0) return;
  const std::size_t rows = depth_.rows();
  const std::size_t first = is_above_ ? block.rows().begin : block.rows().end - rows;
  std::vector<double> state;
  state.reserve(rows * 2 * cells_.half_size());
  for (std::size_t row = first; row < first + rows; ++row)
    for (const Colour colour : colours) {
      const auto half = block.cells().half(row, colour);
      state.insert(state.end(), half.begin(), half.end());
    }
  channel_.send(state);
}

void FarNeighbour::tell(std::uint64_t sweep, std::span<const double> border) {
  told(sweep).assign(border.begin(), border.end());
}

void FarNeighbour::ask(std::uint64_t sweep, std::span<double> border) {
  // If half-sweep `sweep` is black: index of the iteration that has just begun. The solver asks for
  // the black cells of an iteration only when the next iteration begins.
  const std::uint64_t begun = sweep / 2 + 1;
  const bool is_black = colour_of(sweep) == Colour::black;
  const bool is_due = begun > depth_.latency && (begun - depth_.latency) % depth_.period == 0;
  if (is_black && is_due) receive_state(begun - depth_.latency);
  work_.run([&] { return relax_until(sweep); });
  const auto cells = std::as_const(cells_).half(their_border_, colour_of(sweep));
  std::copy(cells.begin(), cells.end(), border.begin());
}

void FarNeighbour::receive_state(std::uint64_t iteration) {
  const std::size_t half = cells_.half_size();
  const std::vector<double> state = channel_.receive(theirs_.size() * 2 * half);
  auto from = state.begin();
  for (std::size_t row = theirs_.begin; row < theirs_.end; ++row)
    for (const Colour colour : colours) {
      std::copy_n(from, half, cells_.half(row, colour).begin());
      from += static_cast<std::ptrdiff_t>(half);
    }
  state_ = next_ = 2 * iteration;
}

/// Returns the rows of the latest state that are still correct after half-sweep `sweep`.
RowRange FarNeighbour::right_after(std::uint64_t sweep) const {
  const auto lost = static_cast<std::size_t>(sweep - state_ + 1);
  ENSURE(lost < theirs_.size());
  if (is_above_) return {theirs_.begin + lost, theirs_.end};
  return {theirs_.begin, theirs_.end - lost};
}

std::size_t FarNeighbour::relax_until(std::uint64_t sweep) {
  std::size_t half_rows = 0;
  for (; next_ <= sweep; ++next_) {
    if (next_ > 0) {  // before half-sweep 0, our row has its initial values
      const std::vector<double>& ours = told(next_ - 1);
      std::copy(ours.begin(), ours.end(), cells_.half(our_border_, colour_of(next_ - 1)).begin());
    }
    const RowRange rows = right_after(next_);
    for (std::size_t row = rows.begin; row < rows.end; ++row)
      cells_.update(row, colour_of(next_), omega_);
    half_rows += rows.size();
  }
  relaxed_ += half_rows;
  return half_rows;
}

}  // namespace bench
