// SPDX-License-Identifier: Apache-2.0
// paths/host/requests/validator.hpp — check of operations that arrive from other hosts.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "paths/path_values.hpp"
#include "paths/plan/plan.hpp"
#include "paths/wire/frame.hpp"
#include "paths/wire/short_frame.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// Compares operations of other hosts with the plan and with earlier operations. Stages can rely on
/// three properties of an accepted operation. Its path enters this host at the stage. It has the
/// slot of its contributor. It is not a second contribution of the slot to a round. The memory of
/// this object grows with the number of slots in use.
///
/// Thread-safe: no. The caller serializes all calls.
class Validator {
 public:
  /// Maximum number of operations of one slot that are inside. An operation is inside from its
  /// acceptance by validate() or admit() until complete(). Many operations are inside if a path
  /// starts operations without waiting for their results. For a path with wrappers that have the
  /// setting `rounds`, the maximum is this number plus their values of `rounds`.
  static constexpr std::uint64_t inside_max = 4096;

  static constexpr std::uint32_t segments_max = 4096;  ///< maximum number of segments of one tuple

  struct Verdict {
    enum class Kind : std::uint8_t {
      enters,  ///< valid; the operation is inside from now until complete()
      late,    ///< the path was released before, so the operation must have no effect
      wrong,   ///< invalid; no host of this plan sends it
    };
    Kind kind = Kind::enters;
    /// If `kind` is `enters`: whether no other operation of the same slot is inside.
    bool is_alone = false;
    std::string reason = {};  ///< if `wrong`: a text such as "slot 7, expected 3"
  };

  /// `plan` and `kinds` outlive this object.
  Validator(const Plan& plan, std::uint32_t host, const WrapperKinds& kinds);

  /// Validates the operation in a frame of another host.
  Verdict validate(const Frame& frame);
  /// Notes that an operation that validate() accepted has ended.
  void complete(const Frame& frame);
  /// Data that all requests of one standing call (a repeated request) have in common.
  class Standing;
  /// Returns the common data of the standing call that `request` begins.
  /// Requires: validate() has not found `request` wrong.
  Standing standing_of(const Frame& request);
  /// Checks a request of a standing call quickly. Returns true if the check accepts the request, as
  /// it nearly always does. If admit() returns false, the caller must call validate().
  bool admit(const Standing& standing, std::uint32_t thread, std::uint64_t sequence,
             std::uint64_t contributions);
  Verdict validate(const Standing& standing, std::uint32_t thread, std::uint64_t sequence,
                   std::uint64_t contributions);
  void complete(const Standing& standing);
  /// Checks the result `answer` that another host sent for the operation `asked`. `stage` is the
  /// stage of the other host that the operation entered. Returns a description of the mistake in
  /// the result; "" if the result is right.
  std::string wrong_answer(StageId stage, const OperationHead& asked, const Result& answer);
  /// Returns true if a quick check shows that the result is right. If the function returns false,
  /// the caller must call wrong_answer().
  bool is_surely_right(StageId stage, const OperationHead& asked, const Result& answer);
  /// Notes that no further operation arrives for this slot of `stage`. Returns false if the slot
  /// was released before.
  bool release(StageId stage, std::uint32_t slot);

 private:
  /// Data about a path that enters a stage of this host from another host.
  struct Way {
    std::uint32_t from_host = 0;
    std::uint32_t first_slot = 0;
    std::uint32_t slots = 1;  ///< 1 below a join, otherwise the number of threads of the path
    /// Whether moves (operations that send a tuple down the path) arrive in the order of their
    /// numbers. False below a join in which the first contributor to arrive leads the round. The
    /// leader of such a join may differ from round to round, so rounds may overtake each other.
    bool has_order = true;
    std::uint64_t inside_max = Validator::inside_max;
  };
  /// Templates of the results that a stage of another host returns, if the plan has them.
  using Tuples = PathValues::Templates;
  /// Records the numbers of the moves of a slot that have arrived. Failed moves and other moves may
  /// overtake each other. Moves that have not failed arrive in order, unless the rounds of a join
  /// on their path may overtake each other (`may_overtake`). Numbers may be missing, because a
  /// newer push may replace a push that was not sent yet.
  class Moves {
   public:
    /// Handles the usual case: if the number of a move is one above the highest number so far,
    /// notes the move and returns true. Otherwise returns false.
    bool note_next(std::uint64_t sequence, bool may_overtake);
    /// Returns why a move with this number must not arrive now; "" if the move is valid.
    std::string wrong(std::uint64_t sequence, bool may_overtake) const;
    /// Notes a move that wrong() has accepted. Remembers at most `gaps_max` ranges of missing
    /// numbers.
    void note(std::uint64_t sequence, bool may_overtake, std::size_t gaps_max);

   private:
    bool is_new(std::uint64_t sequence) const;
    std::uint64_t next_ = 0;  // one more than the highest number that has arrived
    // One more than the highest number of the arrived moves that must not overtake other moves.
    std::uint64_t next_in_order_ = 0;
    // Ranges of missing numbers: the highest ranges, if there are too many to keep all.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps_;
  };
  struct Slot {
    bool is_released = false;  // whether its path, or this host after a loss, released the slot
    bool is_released_by_path = false;
    std::uint64_t released_from = 0;  // after a release, moves with lower numbers may still arrive
    std::uint64_t inside = 0;
    Moves moves;
    // Moves that carry the second or a later segment of a large tuple, keyed by the index of the
    // segment (1 and above). Each segment has rounds of its own.
    std::map<std::uint32_t, Moves> further;
    Moves& moves_of(std::uint32_t segment) { return segment == 0 ? moves : further[segment]; }
  };
  /// Stage of this host that paths from other hosts enter.
  struct Entrance {
    StageId stage = no_stage;
    std::uint32_t first_slot = 0;
    std::vector<std::uint32_t> from_hosts = {};
    // Paths that enter at this stage, keyed by path. An entry is added when the path is first used.
    std::vector<std::pair<std::uint32_t, Way>> ways = {};
    std::vector<Slot> slots = {};  // the slot first_slot has index 0; grows as needed
  };

  /// Operation that has passed the checks of its stage, path and slot, but whose sequence number
  /// has not been checked yet.
  struct Entering {
    OperationKind kind = OperationKind::move;
    std::uint32_t slot = 0;
    std::uint32_t segment = 0;
    std::uint64_t sequence = 0;
    bool has_failed = false;
  };
  static Verdict let_in(const Entering& entering, const Way& way, Slot& slot);
  std::string wrong_form(const Frame& frame) const;
  std::string wrong_kind(const Frame& frame) const;
  std::string wrong_place(const Frame& frame, Entrance* entrance, const Way*& way);
  Entrance* entrance_at(StageId stage);
  const Way* way_into(Entrance& entrance, std::uint32_t path) const;
  void pass(StageId stage, Way& way) const;
  static Slot& slot_of(Entrance& entrance, std::uint32_t slot);
  const Tuples& tuples(StageId stage, std::uint32_t path);

  const Plan& plan_;
  const WrapperKinds& kinds_;
  const std::uint64_t threads_;                       // number of threads in the plan
  std::vector<Entrance> entrances_;                   // sorted by stage
  std::unordered_map<std::uint64_t, Tuples> tuples_;  // keyed by stage and path
  std::pair<std::uint64_t, const Tuples*> last_tuples_{0,
                                                       nullptr};  // latest entry found in tuples_
};

class Validator::Standing {
 private:
  friend class Validator;
  bool is_of(std::uint32_t thread) const {
    return thread < threads && (way.slots == 1 || way.first_slot + thread == slot);
  }
  Entrance* entrance = nullptr;
  Way way;
  std::uint32_t slot = 0;
  std::size_t place = 0;      // index in Entrance::slots; valid after the first request
  std::uint32_t threads = 1;  // number of threads of the path
};

}  // namespace paths
