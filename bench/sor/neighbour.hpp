// SPDX-License-Identifier: Apache-2.0
// bench/sor/neighbour.hpp — border rows of the blocks above and below a thread's block
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/sor/block.hpp"
#include "bench/sor/work.hpp"
#include "paths/host/thread.hpp"

namespace bench {

/// Channel for rows of cells to and from one neighbour. It uses the two inboxes of an exchange.
///
/// Thread-safe: no; one thread owns the object.
class RowChannel {
 public:
  RowChannel(paths::Thread& thread, paths::Path& to, paths::Path& from)
      : thread_(thread), to_(to), from_(from) {}
  void send(std::span<const double> cells);
  /// Returns the oldest row that this function has not returned yet. Throws std::runtime_error if
  /// the row does not have `count` cells.
  std::vector<double> receive(std::size_t count);
  base::Nanos waited() const { return waited_; }
  paths::Path& to() { return to_; }

 private:
  paths::Thread& thread_;
  paths::Path& to_;
  paths::Path& from_;
  base::Nanos waited_{0};
};

/// The block above or below the block of this thread. A half-sweep relaxes all cells of one colour.
/// Iteration i has half-sweep 2i for red and 2i + 1 for black. After each half-sweep, neighbours
/// send each other the changed cells of their border rows.
class Neighbour {
 public:
  virtual ~Neighbour() = default;
  /// Called at the start of each iteration. A FarNeighbour sends a state of `block` to the
  /// neighbour if a state is due.
  virtual void begin(std::uint64_t /*iteration*/, const Block& /*block*/) {}
  virtual void tell(std::uint64_t sweep, std::span<const double> border) = 0;
  /// Reads the cells that half-sweep `sweep` changed in the neighbour's border into `border`.
  virtual void ask(std::uint64_t sweep, std::span<double> border) = 0;
  /// Returns how many half rows of the neighbour this thread has relaxed redundantly.
  virtual std::uint64_t redundant_half_rows() const { return 0; }
};

/// A near neighbour. After each half-sweep, each side sends its border row and waits for the border
/// row of the other side.
class PlainNeighbour final : public Neighbour {
 public:
  explicit PlainNeighbour(RowChannel& channel) : channel_(channel) {}
  void tell(std::uint64_t sweep, std::span<const double> border) override;
  void ask(std::uint64_t sweep, std::span<double> border) override;

 private:
  RowChannel& channel_;
};

/// Settings of the exchange with a distant neighbour. Every `period` iterations, each side sends a
/// state: the present cells of `rows` border rows. The other side uses the state `latency`
/// iterations later.
struct HaloDepth {
  std::uint64_t latency = 1, period = 1;
  /// Returns the number of rows in a state. Each half-sweep makes one more row of the state
  /// incorrect, because the row beyond the outermost correct row is missing. A state is needed for
  /// `latency + period` iterations of two half-sweeps each, until the next state replaces it.
  std::size_t rows() const { return static_cast<std::size_t>(2 * (latency + period)); }
  /// Returns the mean number of rows per iteration that a side relaxes redundantly. From one state
  /// to the next, each half-sweep can relax one row less than the half-sweep before.
  std::size_t redundant_rows() const {
    return static_cast<std::size_t>(rows() * (rows() - 1) / (4 * period));
  }
};

/// A distant neighbour. This thread also relaxes the neighbour's nearest rows, so it need not wait
/// for the neighbour's border. The neighbour sends the cells of its nearest rows at intervals, as a
/// state. A state is some iterations old when it is used. This thread then repeats the iterations
/// since the state on the rows of the state. It uses its own border rows of the same half-sweeps.
class FarNeighbour final : public Neighbour {
 public:
  /// `ours` are the rows of this thread's block. `is_above` is true if the neighbour is above them.
  FarNeighbour(RowChannel& channel, Work& work, const DataSet& data, double omega, RowRange ours,
               bool is_above, HaloDepth depth);
  void begin(std::uint64_t iteration, const Block& block) override;
  void tell(std::uint64_t sweep, std::span<const double> border) override;
  void ask(std::uint64_t sweep, std::span<double> border) override;
  std::uint64_t redundant_half_rows() const override { return relaxed_; }

 private:
  void receive_state(std::uint64_t iteration);
  std::size_t relax_until(std::uint64_t sweep);
  RowRange right_after(std::uint64_t sweep) const;
  std::vector<double>& told(std::uint64_t sweep) { return told_[sweep % told_.size()]; }

  RowChannel& channel_;
  Work& work_;
  const double omega_;
  const bool is_above_;
  const HaloDepth depth_;
  const RowRange theirs_;
  const std::size_t our_border_, their_border_;
  GridRows cells_;           // neighbour's rows and our border row
  std::uint64_t state_ = 0;  // number of half-sweeps that the latest received state contains
  std::uint64_t next_ = 0;   // number of the next half-sweep on the neighbour's rows
  std::vector<std::vector<double>> told_;  // our border row after each of the latest half-sweeps
  std::uint64_t relaxed_ = 0;
};

}  // namespace bench
