// SPDX-License-Identifier: Apache-2.0
// paths/operation.hpp — operations that travel down a path, and the results that travel up.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "base/payload.hpp"
#include "base/units.hpp"
#include "paths/travel_error.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Kinds of operations. A path carries all operations of PastSet to its element. The comment of a
/// kind describes the fields `number` and `payload` if operations of the kind use them.
///
/// A `withdraw` announces that a contributor takes no part in a given round and all later rounds.
/// It goes to joins and to roots of clusters. The contributor's path sends it as soon as the path
/// knows this round. A `release` announces to each stage that the path carries no further
/// operations. The path sends it after all its operations have returned. Emulated links do not
/// delay operations of these two kinds, but a `release` never overtakes pushes that were sent
/// before it.
enum class OperationKind : std::uint8_t {
  enter,           ///< number: 0; payload: text of the template, which the element checks
  move,            ///< payload: the tuple, which is a contribution if the path passes a join
  observe,         ///< reads the oldest tuple that was not observed yet
  observe_number,  ///< number: the tuple to read
  newest,          ///< number: the lowest tuple number to accept
  first,
  last,
  delta,
  set_delta,  ///< number: the new delta
  axe,        ///< number: the last tuple to discard
  delete_element,
  release,
  /// Reads traffic counts. number: index of a graph. Each host on the path adds its traffic for
  /// this graph to the result.
  traffic,
  clock,  ///< reads the clock of the receiving host; no stage handles it
  /// Announces that the contributor contributes neither to round `sequence` nor to later rounds.
  /// The announcement may overtake earlier contributions.
  withdraw,
};
std::string_view operation_name(OperationKind kind);
/// Returns whether the operation only ends or measures the run. Such an operation is not part of
/// the program's work.
constexpr bool is_housekeeping(OperationKind kind) {
  return kind == OperationKind::release || kind == OperationKind::traffic ||
         kind == OperationKind::clock || kind == OperationKind::withdraw;
}
/// Returns whether the operation announces that a contributor sends nothing more. Flow control does
/// not delay such an operation.
constexpr bool is_farewell(OperationKind kind) {
  return kind == OperationKind::release || kind == OperationKind::withdraw;
}

/// Index of a stage in Plan::stages; no_stage = no stage.
using StageId = std::uint32_t;
inline constexpr StageId no_stage = ~StageId{0};

/// All fields of an operation except its payload and failure.
struct OperationHead {
  OperationKind kind = OperationKind::move;
  bool one_way = false;       ///< whether the operation is a push, which returns no result
  bool kept = false;          ///< if true, no newer push may replace this push in the send queue
  std::uint32_t path = 0;     ///< plan index of the path on which the operation began
  std::uint32_t thread = 0;   ///< index of the sending thread among the threads of `path`
  std::uint32_t slot = 0;     ///< index of the contributor at the next join
  std::uint32_t segment = 0;  ///< index of this segment of a large tuple; less than `segments`
  std::uint32_t segments = 1;
  /// Number of a move on its path, counted from 0. It identifies the round of the move.
  std::uint64_t sequence = 0;
  std::uint64_t number = 0;         ///< argument of the operation; see OperationKind
  std::uint64_t contributions = 1;  ///< number of threads whose values are in the payload
  /// Time on the clock of this host at which the operation fails; 0 = not set yet. The first stage
  /// sets this time, and all waits of the operation end at this time. A message to another host
  /// contains the remaining duration instead.
  base::Nanos until{0};
  runtime::Deadline deadline() const { return runtime::Deadline::written_at(until); }
};

/// One operation on its way down. Wrappers pass on the operation that they received, or a changed
/// copy.
struct Operation : OperationHead {
  base::Payload payload;
  /// Failure of the contribution at an earlier stage; nullptr if the contribution has not failed. A
  /// join below counts a failed contribution as arrived, and fails the round for all contributors
  /// of the round.
  Failure failure;
};

/// Set of operation kinds. The set distinguishes requests from pushes: it may contain a kind for
/// requests only, for pushes only, or for both.
class OperationSet {
 public:
  static constexpr OperationSet none() { return OperationSet(0); }
  static constexpr OperationSet all() { return OperationSet(~std::uint32_t{0}); }
  static constexpr OperationSet pushes() { return OperationSet(~std::uint32_t{0} << push_bits); }
  static constexpr OperationSet of(std::initializer_list<OperationKind> kinds) {
    std::uint32_t bits = 0;
    for (const OperationKind kind : kinds) bits |= bit(kind, false) | bit(kind, true);
    return OperationSet(bits);
  }
  bool has(const Operation& operation) const {
    return (bits_ & bit(operation.kind, operation.one_way)) != 0;
  }
  constexpr OperationSet operator&(OperationSet other) const {
    return OperationSet(bits_ & other.bits_);
  }
  constexpr OperationSet operator|(OperationSet other) const {
    return OperationSet(bits_ | other.bits_);
  }

 private:
  static constexpr std::uint32_t push_bits = 16;  // index of the first bit for pushes
  constexpr explicit OperationSet(std::uint32_t bits) : bits_(bits) {}
  static constexpr std::uint32_t bit(OperationKind kind, bool one_way) {
    return std::uint32_t{1} << (static_cast<std::uint32_t>(kind) + (one_way ? push_bits : 0));
  }
  std::uint32_t bits_;
};

/// Outcome, in one round, of the condition that the config declares for a collective.
enum class Condition : std::uint8_t {
  unchecked,  ///< condition not declared, or not evaluated in this round; the program continues
  holds,
  fails,
};

/// Way in which a round got its result. The cluster that decided the round reports it.
struct Origin {
  enum class Kind : std::uint8_t {
    joined,  ///< combined in one tree of all threads; each thread waited for all others
    local,   ///< computed from the values of the thread's own cluster
    cached,  ///< computed from tuples of other clusters that were fetched earlier
    waited,  ///< computed from another cluster's tuple, for which the round waited
  };
  Kind kind = Kind::joined;
  std::uint32_t cluster = 0;   ///< if cached or waited: index of the cluster whose tuple decided
  std::uint64_t sequence = 0;  ///< if cached or waited: round of the tuple that decided
  std::int64_t nanos = 0;      ///< if cached: age of the tuple; if waited: duration of the wait
};
std::string_view origin_name(Origin::Kind kind);

struct PathValues;

/// Result of an operation on its way up. A program reads the value with value(), values() or
/// read(). These functions check the type, and that the value is complete. The member `payload`
/// contains the bytes of the value.
///
/// Throws: UsageError from value(), values(), read() and partial() if T is not the type of the
///         path's template. All of them except partial() also throw it if the value is not
///         complete.
struct Result {
  Condition condition = Condition::unchecked;
  /// Whether a part of the contributions decided the condition. If true, `payload` is the combined
  /// value of that part.
  bool proved = false;
  /// Number of the tuple that was moved or read. For an operation `first`, `last` or `delta`: the
  /// number that the element returned.
  std::uint64_t number = 0;
  std::uint64_t sequence = 0;       ///< round to which the value belongs
  std::uint64_t contributions = 0;  ///< number of threads whose values are in the payload
  base::Payload payload;
  Origin origin;
  /// Whether the contributor that receives this result arrived last in the round. Each join that
  /// the result passes on this host sets this member again.
  bool last_arriver = false;
  /// Types of the path that returned this result; nullptr until a path has returned it.
  const PathValues* path_values = nullptr;

  /// Returns whether the value covers every contribution to its round. Returns true also for an
  /// operation that was not part of a round.
  bool is_complete() const { return path_values == nullptr || covers_all(); }
  /// Returns how many contributions a complete value covers; 0 if every result of the path is
  /// complete.
  std::uint64_t contributors() const;
  /// Returns the value of a result that has exactly one value.
  /// Throws: UsageError if T is the wrong type, if the value is not complete, or if the payload
  ///         does not have the size of exactly one value.
  template <class T>
  T value() const {
    check<T>(false);
    if (payload.size() != sizeof(T)) refuse_size(sizeof(T));
    return payload.read<T>();
  }
  /// Returns the value at byte `offset`.
  /// Throws: UsageError if T is the wrong type, if the value is not complete, or if the payload
  ///         ends before the end of the value.
  template <class T>
  T read(std::size_t offset = 0) const {
    check<T>(false);
    return payload.read<T>(offset);
  }
  template <class T>
  std::vector<T> values() const {
    check<T>(false);
    if (payload.size() % sizeof(T) != 0) refuse_size(sizeof(T));
    std::vector<T> all(payload.size() / sizeof(T));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = payload.read<T>(i * sizeof(T));
    return all;
  }
  /// Returns the value at byte `offset`, even if it covers only some of the contributions. A
  /// program must not compare such a value with the constant of the condition, because the complete
  /// value may compare differently. The member `condition` has the outcome.
  template <class T>
  T partial(std::size_t offset = 0) const {
    check<T>(true);
    return payload.read_partial<T>(offset);
  }

 private:
  template <class T>
  void check(bool may_be_partial) const {
    if (!payload.may_be(base::value_type_of<T>()))
      check_read(base::value_type_of<T>(), may_be_partial);
  }
  bool covers_all() const { return contributors() == 0 || contributions >= contributors(); }
  void check_read(base::ValueType wanted, bool may_be_partial) const;
  [[noreturn]] void refuse_size(std::size_t bytes) const;
};

/// Returns a result that a wrapper makes itself for the move `head`, instead of the result of a
/// round. Its value is `payload`, its condition is `unchecked`, and its origin is `local`.
Result unchecked_result(const OperationHead& head, base::Payload payload);

}  // namespace paths
