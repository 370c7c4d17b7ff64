// SPDX-License-Identifier: Apache-2.0
// collectives/cost/admission.hpp — admitted steps of a participant, and which of them may execute.
#pragma once
#include <algorithm>
#include <optional>
#include <vector>

#include "collectives/cost/pool.hpp"
#include "collectives/cost/uses.hpp"
#include "collectives/schedule/algorithm.hpp"

namespace pricing {

/// An admitted step, and its state until it is done.
struct Admitted {
  collectives::Action action = collectives::Action::send;
  bool is_done = false;  ///< true = the step is done, and a later step may reuse this entry
  collectives::Rank peer = 0;
  collectives::Channel channel = 0;
  collectives::Count elements = 0;
  std::uint64_t number = 0;   ///< index among all steps of the participant
  std::uint32_t message = 0;  ///< index of the step's message; the owner of the Admission sets it
  std::uint32_t waits = 0;    ///< number of unfinished earlier accesses for which this step waits
  Pool<Slot>::List followers = Pool<Slot>::none;  ///< steps that wait for this one
};

/// Returns the window: the maximum number of unfinished steps of a participant. If `configured` is
/// above 0, the window is `configured`. Otherwise it is the larger of 256 and `participants`.
/// Why: An alltoall could deadlock with a window below the number of participants.
inline std::size_t window_of(std::size_t configured, std::size_t participants) {
  return configured > 0 ? configured : std::max<std::size_t>(256, participants);
}

/// Admits the steps of a participant's program, as the executor of schedules does. The executor
/// takes up (admits) the steps in order. At most `window` admitted steps are unfinished at the same
/// time. An admitted step may execute when no earlier unfinished step makes a conflicting access to
/// the same cells.
class Admission {
 public:
  Admission() = default;  ///< admits nothing: a participant without steps
  Admission(collectives::Program program, std::size_t window)
      : program_(std::move(program)), window_(window) {}
  /// Begins again with the steps of a different program. Reuses the memory of this object.
  /// Requires: all steps of the previous program are done.
  void restart(collectives::Program program, std::size_t window);

  /// Admits the next step of the program, and returns its slot. Returns nullopt if there is no
  /// further step, or if `window` steps are unfinished.
  std::optional<Slot> admit();
  /// Returns the step that was admitted last. Valid until the next admit().
  collectives::Step latest() const { return pulled_[next_ - 1]; }
  /// Marks a step as done. Appends to `freed` the admitted steps that waited only for it.
  void finish(Slot slot, std::vector<Slot>& freed);
  bool is_done() const { return unfinished_ == 0 && has_ended_; }
  /// Whether `window` steps are unfinished, so that no further step can be admitted.
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
  // Number of the program's next portion (part of its steps) to generate. See collectives::Program.
  collectives::Count portion_ = 0;
  collectives::Steps pulled_;
  std::size_t next_ = 0;  // index in `pulled_` of the next step to admit
  bool has_ended_ = false;
  std::uint64_t number_ = 0;
  std::size_t unfinished_ = 0;
  std::vector<Admitted> steps_;
  std::vector<Slot> vacant_;
  Uses uses_;
  Pool<Slot> followers_;
};

}  // namespace pricing
