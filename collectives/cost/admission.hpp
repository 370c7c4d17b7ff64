// SPDX-License-Identifier: Apache-2.0
// collectives/cost/admission.hpp — which steps of one participant are admitted, and which may be
// done.
#pragma once
#include <optional>
#include <vector>

#include "collectives/cost/pool.hpp"
#include "collectives/cost/uses.hpp"
#include "collectives/schedule/algorithm.hpp"

namespace pricing {

/// A step that is admitted and not done.
struct Admitted {
  collectives::Action action = collectives::Action::send;
  bool is_done = false;  ///< and its slot vacant
  collectives::Rank peer = 0;
  collectives::Channel channel = 0;
  collectives::Count elements = 0;
  std::uint64_t number = 0;                       ///< among the participant's steps
  std::uint32_t message = 0;                      ///< for whoever asks
  std::uint32_t waits = 0;                        ///< for so many uses by earlier steps
  Pool<Slot>::List followers = Pool<Slot>::none;  ///< that wait for it
};

/// A participant's program as an executor takes it: in order, up to a window of unfinished steps;
/// a step may be done when no earlier unfinished one uses the same cells, one of both writing.
class Admission {
 public:
  Admission() = default;  ///< of no steps
  Admission(collectives::Program program, std::size_t window)
      : program_(std::move(program)), window_(window) {}
  /// Begins with another program, the steps of the last one all being done: keeps the memory.
  void restart(collectives::Program program, std::size_t window);

  /// The next step, if there is one and the window has room.
  std::optional<Slot> admit();
  /// The step that was admitted last, until admit() is called again.
  collectives::Step latest() const { return pulled_[next_ - 1]; }
  /// Ends a step; those that need not wait any more go to `freed`.
  void finish(Slot slot, std::vector<Slot>& freed);
  bool is_done() const { return unfinished_ == 0 && has_ended_; }
  /// Whether the window has no room.
  bool is_full() const { return unfinished_ >= window_; }
  void widen(std::size_t window) { window_ = window; }
  std::size_t unfinished() const { return unfinished_; }

  Admitted& operator[](Slot slot) { return steps_[slot]; }
  const Admitted& operator[](Slot slot) const { return steps_[slot]; }
  bool is_free(Slot slot) const { return steps_[slot].waits == 0; }

 private:
  bool pull();
  Slot place();
  void add_hazards(Slot slot, const collectives::Step& step);
  bool is_done(Uses::User user) const {
    const Admitted& step = steps_[user.slot];
    return step.is_done || static_cast<std::uint32_t>(step.number) != user.number;
  }

  collectives::Program program_;
  std::size_t window_ = 0;
  collectives::Count portion_ = 0;  // that is pulled next
  collectives::Steps pulled_;
  std::size_t next_ = 0;  // of them
  bool has_ended_ = false;
  std::uint64_t number_ = 0;
  std::size_t unfinished_ = 0;
  std::vector<Admitted> steps_;
  std::vector<Slot> vacant_;
  Uses uses_;
  Pool<Slot> followers_;
};

}  // namespace pricing
