// SPDX-License-Identifier: Apache-2.0
// bench/sor/neighbour.hpp — border rows of the block above or below ours.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/sor/block.hpp"
#include "bench/sor/work.hpp"
#include "paths/host/thread.hpp"

namespace bench {

/// Which rows of cells go to one neighbour and come from it: an exchange's two inboxes.
///
/// Sharing: one thread's own.
class RowChannel {
 public:
  RowChannel(paths::Thread& thread, paths::Path& to, paths::Path& from)
      : thread_(thread), to_(to), from_(from) {}
  void send(std::span<const double> cells);
  /// The oldest that was not received yet. Throws std::runtime_error when it is not `count` cells.
  std::vector<double> receive(std::size_t count);
  base::Nanos waited() const { return waited_; }
  paths::Path& to() { return to_; }

 private:
  paths::Thread& thread_;
  paths::Path& to_;
  paths::Path& from_;
  base::Nanos waited_{0};
};

/// The block above or below ours. Half-sweeps are counted: the red one of iteration i is 2i, the
/// black one 2i + 1. Neighbours tell each other the cells that a half-sweep changed in their border
/// rows.
class Neighbour {
 public:
  virtual ~Neighbour() = default;
  /// Before an iteration begins.
  virtual void begin(std::uint64_t /*iteration*/, const Block& /*block*/) {}
  virtual void tell(std::uint64_t sweep, std::span<const double> border) = 0;
  /// Fills in the neighbour's border after that half-sweep.
  virtual void ask(std::uint64_t sweep, std::span<double> border) = 0;
  /// Half rows of the neighbour that were relaxed here, too.
  virtual std::uint64_t redundant_half_rows() const { return 0; }
};

/// Sends each border as it is, and waits for the neighbour's.
class PlainNeighbour final : public Neighbour {
 public:
  explicit PlainNeighbour(RowChannel& channel) : channel_(channel) {}
  void tell(std::uint64_t sweep, std::span<const double> border) override;
  void ask(std::uint64_t sweep, std::span<double> border) override;

 private:
  RowChannel& channel_;
};

/// How a neighbour far away is kept up with: every `period` iterations the state of `rows` rows is
/// sent, and used `latency` iterations later.
struct HaloDepth {
  std::uint64_t latency = 1, period = 1;
  /// Relaxing a half-sweep takes the outermost row's neighbours to be there, so each half-sweep
  /// leaves one row less that is right; a state serves until the next one has caught up.
  std::size_t rows() const { return static_cast<std::size_t>(2 * (latency + period)); }
  /// Relaxed in a mean iteration: a state's rows, one less in each half-sweep, until it is used up.
  std::size_t redundant_rows() const {
    return static_cast<std::size_t>(rows() * (rows() - 1) / (4 * period));
  }
};

/// Relaxes the neighbour's nearest rows here, as it does itself, so that its borders are there at
/// once; for that the neighbour sends many rows now and then. When such a state comes, it is some
/// iterations old: it is brought up to date by relaxing with our own border rows as they were in
/// each half-sweep since.
class FarNeighbour final : public Neighbour {
 public:
  /// `ours` are the rows of our block, `is_above` says on which side of them the neighbour is.
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
  GridRows cells_;           // theirs, and our border row
  std::uint64_t state_ = 0;  // how many half-sweeps had been done when theirs were sent
  std::uint64_t next_ = 0;   // the half-sweep that theirs are to do
  std::vector<std::vector<double>> told_;  // our border row after the last half-sweeps
  std::uint64_t relaxed_ = 0;
};

}  // namespace bench
