// SPDX-License-Identifier: Apache-2.0
// paths/operation.hpp — what travels down a path, and what comes back up.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "base/payload.hpp"
#include "paths/travel_error.hpp"

namespace paths {

/// PastSet's operations; a path carries every one of them to its element. `withdraw` tells joins
/// and roots from which round on a contributor will not come, as soon as that is known; `release`
/// tells each stage that this path will carry nothing more, when all it carried has come back.
/// Neither is ever delayed, nor answered late.
enum class OperationKind : std::uint8_t {
  enter,           ///< number: 0; the payload is the template's text, checked at the element
  move,            ///< payload: the tuple; a contribution, where a join is on the way
  observe,         ///< the oldest unobserved
  observe_number,  ///< number: which
  newest,          ///< number: from which on
  first,
  last,
  delta,
  set_delta,  ///< number: the new delta
  axe,        ///< number: up to which
  delete_element,
  release,
  traffic,   ///< number: a graph's; every host on the way adds what it has sent for that graph
  clock,     ///< answered by the host it comes to, without any stage: what its clock shows
  withdraw,  ///< from its sequence on nothing comes; may overtake moves before that
};
std::string_view operation_name(OperationKind kind);
/// What a run does to end and to be measured: no part of what it did.
constexpr bool is_housekeeping(OperationKind kind) {
  return kind == OperationKind::release || kind == OperationKind::traffic ||
         kind == OperationKind::clock || kind == OperationKind::withdraw;
}
/// Says that no more comes, to whom it may concern: is not held up by anything that does.
constexpr bool is_farewell(OperationKind kind) {
  return kind == OperationKind::release || kind == OperationKind::withdraw;
}

/// Number of a stage in its plan.
using StageId = std::uint32_t;
inline constexpr StageId no_stage = ~StageId{0};

/// What an operation is, but for what it brings.
struct OperationHead {
  OperationKind kind = OperationKind::move;
  bool one_way = false;       ///< nobody waits for a result: a push
  bool kept = false;          ///< a push whose place no newer one may take
  std::uint32_t path = 0;     ///< index in the plan of the path it began on
  std::uint32_t thread = 0;   ///< which thread of that path's range began it
  std::uint32_t slot = 0;     ///< which contributor of the next join it is
  std::uint32_t segment = 0;  ///< of `segments`: a large tuple travels in parts
  std::uint32_t segments = 1;
  std::uint32_t epoch = 0;
  std::uint64_t sequence = 0;       ///< counted by the path, from 0; joins key rounds by it
  std::uint64_t number = 0;         ///< argument of the kinds above
  std::uint64_t contributions = 1;  ///< threads whose values are in the payload
};

/// One operation on its way down. A value; wrappers pass on what they were given or a changed
/// copy of it.
struct Operation : OperationHead {
  base::Payload payload;
  /// Set when the contribution failed further up: joins below count it as arrived and give the
  /// error to everyone of the round ("Failure in a tree").
  Failure failure;
};

/// Kinds of operation, answered and as pushes.
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
  static constexpr std::uint32_t push_bits = 16;  // from there on, those that nobody waits for
  constexpr explicit OperationSet(std::uint32_t bits) : bits_(bits) {}
  static constexpr std::uint32_t bit(OperationKind kind, bool one_way) {
    return std::uint32_t{1} << (static_cast<std::uint32_t>(kind) + (one_way ? push_bits : 0));
  }
  std::uint32_t bits_;
};

/// What a thread learns of the declared condition.
enum class Condition : std::uint8_t {
  unchecked,  ///< no condition declared, or not evaluated this round: the program continues
  holds,
  fails,
};

/// How the result of a round came to be known where it was decided.
struct Origin {
  enum class Kind : std::uint8_t {
    joined,  ///< in a tree of all threads: everybody waited for everybody
    local,   ///< from the values of the thread's own cluster
    cached,  ///< with tuples of other clusters that had been fetched before
    waited,  ///< for a tuple of another cluster
  };
  Kind kind = Kind::joined;
  std::uint32_t cluster = 0;   ///< whose tuple decided, of cached and waited: its place among all
  std::uint64_t sequence = 0;  ///< of the round that tuple is about
  std::int64_t nanos = 0;      ///< cached: how long the tuple was there; waited: how long for it
};
std::string_view origin_name(Origin::Kind kind);

struct PathValues;

/// The answer on its way up. A program reads the value by value(), values() or read(), which check
/// its type and that it is complete; `payload` has the bytes.
///
/// Throws: UsageError from everything that reads, if T is not the type of the path's template, or
///         the value is not complete.
struct Result {
  Condition condition = Condition::unchecked;
  bool proved = false;              ///< decided from a part: the payload is that part's value
  std::uint64_t number = 0;         ///< the tuple's number; the answer of first, last, delta
  std::uint64_t sequence = 0;       ///< the round the value is about
  std::uint64_t contributions = 0;  ///< threads whose values are in the payload
  base::Payload payload;
  Origin origin;
  /// Of its round, in the last join of this host it came up through.
  bool last_arriver = false;
  /// Set by the path that returns it; nullptr on its way up, and of what no path has returned.
  const PathValues* path_values = nullptr;

  /// Whether the value covers every contribution to its round; true if the operation was no round.
  bool is_complete() const { return path_values == nullptr || covers_all(); }
  /// Contributions that a complete value covers; 0 if every result of the path is complete.
  std::uint64_t contributors() const;
  /// The only value. Throws UsageError also if there are several, or none.
  template <class T>
  T value() const {
    check<T>(false);
    if (payload.size() != sizeof(T)) refuse_size(sizeof(T));
    return payload.read<T>();
  }
  /// The value at that byte. Throws UsageError also if the payload does not reach that far.
  template <class T>
  T read(std::size_t offset = 0) const {
    check<T>(false);
    return payload.read<T>(offset);
  }
  /// All values.
  template <class T>
  std::vector<T> values() const {
    check<T>(false);
    if (payload.size() % sizeof(T) != 0) refuse_size(sizeof(T));
    std::vector<T> all(payload.size() / sizeof(T));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = payload.read<T>(i * sizeof(T));
    return all;
  }
  /// The same as read(), of a value that may cover only some of the contributions. It may lie on
  /// the other side of the condition's constant than the complete one: decide by `condition`.
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

}  // namespace paths
