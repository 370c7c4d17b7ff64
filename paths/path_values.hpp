// SPDX-License-Identifier: Apache-2.0
// paths/path_values.hpp — types of the values on a path, and number of contributions to a result.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/payload.hpp"
#include "pastset/template.hpp"

namespace paths {

/// Types and sizes of the tuples that a thread may move (send down) and read on a path. A path uses
/// this object to refuse a wrong value before the value is sent.
///
/// Owns:        nothing. All paths with equal types share one object. The object lives until the
///              process ends, because a Result refers to it and the Result may outlive the plan.
/// Thread-safe: immutable.
struct PathValues {
  /// Templates of a path's tuples; nullopt = the plan does not declare the template.
  struct Templates {
    std::optional<pastset::Template> moved;  ///< template of tuples that a move sends and returns
    /// Template of the tuples that a read of the element at the end of the path returns.
    std::optional<pastset::Template> read;
  };

  std::string path;  ///< name of the path's graph
  Templates templates;
  /// Number of contributions to a complete result; 0 if every result is complete.
  std::uint64_t contributors = 0;
  bool has_rounds = false;  ///< whether each move is a contribution for which other threads wait
  base::ValueType moved_type = base::ValueType::unknown;
  base::ValueType read_type = base::ValueType::unknown;
  std::size_t moved_bytes = 0;  ///< size of each moved tuple; 0 if the size varies

  /// Returns the object that all paths with these types share. The first call with these types
  /// creates the object.
  static const PathValues& of(std::string path, Templates templates, std::uint64_t contributors,
                              bool has_rounds);

  /// Checks a payload that will be moved. `what` names the operation, such as "move".
  /// Throws: UsageError if `payload` is known to be wrong: it has values of the wrong type, it has
  ///         too many or too few values, or it is a partial result.
  void check_moved(std::string_view what, const base::Payload& payload) const {
    const bool is_untyped = payload.may_be(base::ValueType::unknown);
    if (!is_untyped && !(payload.may_be(moved_type) && payload.size() == moved_bytes))
      check_typed(what, payload);
  }
  /// Returns whether results of the path may be read as values of type `wanted`.
  bool gives(base::ValueType wanted) const {
    return wanted == moved_type || !base::is_one_scalar(wanted) || !base::is_one_scalar(moved_type);
  }
  /// Throws UsageError because results do not have type `wanted`. `what` names the operation, such
  /// as "move".
  [[noreturn]] void refuse_result(std::string_view what, base::ValueType wanted) const;

 private:
  void check_typed(std::string_view what, const base::Payload& payload) const;
};

}  // namespace paths
