// SPDX-License-Identifier: Apache-2.0
// paths/host/validator.hpp — what may enter a host from another one.
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

/// Compares operations that other hosts send with the plan, and with what came before them. Behind
/// it, what came from outside is as good as what this host's own paths bring: its path leads in
/// where it says, its slot is its own, and no round is entered twice.
///
/// Sharing: none; one call at a time. Keeps a few words for each slot that was entered.
class Validator {
 public:
  /// Operations of one slot that may be inside at once, besides the `rounds` that wrappers on its
  /// way let be under way: of a path that begins them without waiting.
  static constexpr std::uint64_t inside_max = 4096;

  static constexpr std::uint32_t segments_max = 4096;  ///< of one tuple

  struct Verdict {
    enum class Kind : std::uint8_t {
      enters,  ///< and counts as inside until left()
      late,    ///< its path was released before, so that it does nothing any more
      wrong,   ///< no host of this plan sends that
    };
    Kind kind = Kind::enters;
    bool is_alone = false;    ///< of one that enters: nothing else of its slot is inside
    std::string reason = {};  ///< of wrong, a clause such as "slot 7, expected slot 3"
  };

  /// The plan and the kinds outlive it.
  Validator(const Plan& plan, std::uint32_t host, const WrapperKinds& kinds);

  /// Judges a request or push of the host that the frame is from.
  Verdict validate(const Frame& frame);
  /// What entered has been carried out.
  void complete(const Frame& frame);
  /// What a request that was not wrong has in common with all of its standing call.
  class Standing;
  Standing standing_of(const Frame& request);
  /// The same of a short one: whether it enters, as nearly all do; judge() tells of the others.
  bool admit(const Standing& standing, std::uint32_t thread, std::uint64_t sequence,
             std::uint64_t contributions);
  Verdict validate(const Standing& standing, std::uint32_t thread, std::uint64_t sequence,
                   std::uint64_t contributions);
  void complete(const Standing& standing);
  /// What is wrong with the answer to an operation that this host sent into a stage of another one;
  /// empty when nothing is.
  std::string wrong_answer(StageId stage, const OperationHead& asked, const Result& answer);
  /// Quick; false may also mean that wrong_answer() has to look.
  bool is_surely_right(StageId stage, const OperationHead& asked, const Result& answer);
  /// Nothing will come at this slot any more; false when that was known.
  bool release(StageId stage, std::uint32_t slot);

 private:
  /// How a path comes to a stage of this host from another one.
  struct Way {
    std::uint32_t from_host = 0;
    std::uint32_t first_slot = 0;
    std::uint32_t slots = 1;  ///< 1 below a join, else one for each thread of the path
    /// Rounds may overtake each other below a join whose value comes from below: whoever is there
    /// first takes one down.
    bool has_order = true;
    std::uint64_t inside_max = Validator::inside_max;
  };
  /// What comes back up from a stage of another host, where the plan says it.
  using Tuples = PathValues::Templates;
  /// Which moves of a slot have come. Those that failed may overtake others and be overtaken; the
  /// rest come in order where there is one, though not each of them: a newer push may have taken a
  /// place.
  class Moves {
   public:
    /// Notes the one that follows the last of all, as most do; false when it is another.
    bool note_next(std::uint64_t sequence, bool may_overtake);
    std::string wrong(std::uint64_t sequence, bool may_overtake) const;
    void note(std::uint64_t sequence, bool may_overtake, std::size_t gaps_max);

   private:
    bool is_new(std::uint64_t sequence) const;
    std::uint64_t next_ = 0;           // after the last one of all
    std::uint64_t next_in_order_ = 0;  // after the last one that might not overtake
    std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps_;  // before next_, the last few
  };
  struct Slot {
    bool is_released = false;  // by us, when its host was lost, or by its path
    bool is_released_by_path = false;
    std::uint64_t released_from = 0;  // moves before that one may still come
    std::uint64_t inside = 0;
    Moves moves;
    std::map<std::uint32_t, Moves> further;  // by segment, from 1 on: each is a round of its own
    Moves& moves_of(std::uint32_t segment) { return segment == 0 ? moves : further[segment]; }
  };
  /// A stage at which paths enter.
  struct Entrance {
    StageId stage = no_stage;
    std::uint32_t first_slot = 0;
    std::vector<std::uint32_t> from_hosts = {};
    std::vector<std::pair<std::uint32_t, Way>> ways = {};  // by path, those that were asked for
    std::vector<Slot> slots = {};                          // from the first on, as far as used
  };

  /// Of something whose place is right.
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
  const std::uint32_t host_;
  const WrapperKinds& kinds_;
  const std::uint64_t threads_;                                      // of the whole plan
  std::vector<Entrance> entrances_;                                  // by stage
  std::unordered_map<std::uint64_t, Tuples> tuples_;                 // by stage and path
  std::pair<std::uint64_t, const Tuples*> last_tuples_{0, nullptr};  // that were asked for
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
  std::size_t place = 0;      // of the entrance's slots; its first request has been there
  std::uint32_t threads = 1;  // of the path
};

}  // namespace paths
