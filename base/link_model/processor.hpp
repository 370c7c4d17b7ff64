// SPDX-License-Identifier: Apache-2.0
// base/link_model/processor.hpp — processor of one simulated host, and the work that waits for it
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "base/units.hpp"

namespace tuning {

/// Kind of a piece of work. If a processor can begin several pieces, it begins one of the first
/// kind.
enum class WorkKind : std::uint8_t {
  step,     ///< work for a step of the host: to fold, to copy, to prepare a frame for sending
  receipt,  ///< to receive or to forward a frame that has arrived
};

/// The processor of one host. It does one piece of work at a time and never interrupts a piece.
/// When a piece has ended, the processor begins the earliest requested piece of the kind
/// WorkKind::step. If no such piece waits, it begins the earliest WorkKind::receipt.
///
/// Why: a host that forwards a long message in segments must send a segment before it receives all
///      later segments. Otherwise the next host waits although it could work.
///
/// The caller calls begin_next() only after all requests of the present time. Otherwise the
/// processor could begin a receipt although a step would be requested at the same time.
///
/// Units: the caller provides all times, which may be simulated or predicted.
/// Thread-safe: no.
template <class Work>
class Processor {
 public:
  struct Piece {
    base::Nanos time;  ///< time that the processor needs on a core of its own
    Work work;
  };

  void request(base::Nanos time, Work work, WorkKind kind) {
    (kind == WorkKind::step ? steps_ : receipts_).push_back({time, std::move(work)});
  }
  /// Returns whether the processor has a piece of work that has not ended.
  bool works() const { return is_busy_ || has_waiting(); }
  /// Returns whether the processor has a piece of work that has not begun.
  bool has_waiting() const { return !steps_.empty() || !receipts_.empty(); }
  /// Begins the next piece of work and returns it. The caller must call end() when the piece ends.
  /// Returns nullopt if the processor is busy, or if no piece waits.
  std::optional<Piece> begin_next() {
    std::deque<Piece>& next = steps_.empty() ? receipts_ : steps_;
    if (is_busy_ || next.empty()) return std::nullopt;
    is_busy_ = true;
    std::optional<Piece> piece(std::move(next.front()));
    next.pop_front();
    return piece;
  }
  void end() { is_busy_ = false; }
  /// Removes all work.
  void clear() { *this = {}; }

 private:
  std::deque<Piece> steps_, receipts_;  // pieces that have not begun
  bool is_busy_ = false;                // whether a piece has begun and not ended
};

}  // namespace tuning
