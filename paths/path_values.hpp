// SPDX-License-Identifier: Apache-2.0
// paths/path_values.hpp — types of the values on a path, and the contributions to a result.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/payload.hpp"
#include "pastset/template.hpp"

namespace paths {

/// Types and sizes of the tuples that a thread may move (send down) and read on a path. They let a
/// path refuse a wrong value before it is sent.
///
/// Owns:        nothing. All paths with equal types share one object. It lives until the process
///              ends, because a Result refers to it and may outlive its plan.
/// Thread-safe: immutable.
struct PathValues {
  /// Templates of a path's tuples. Each is nullopt if the plan does not declare it.
  struct Templates {
    std::optional<pastset::Template> moved;  ///< tuples that a move sends and returns
    /// Tuples that a read of the element at the end of the path returns.
    std::optional<pastset::Template> read;
  };

  std::string path;  ///< name of the path's graph
  Templates templates;
  /// Number of contributions to a complete result; 0 if every result is complete.
  std::uint64_t contributors = 0;
  bool has_rounds = false;  ///< whether moves are contributions that other threads wait for
  base::ValueType moved_type = base::ValueType::unknown;
  base::ValueType read_type = base::ValueType::unknown;
  std::size_t moved_bytes = 0;  ///< size of each moved tuple; 0 if the size varies

  /// Returns the shared object with these values.
  static const PathValues& of(std::string path, Templates templates, std::uint64_t contributors,
                              bool has_rounds);

  /// Checks a payload before it is moved. `what` names the operation, such as "move".
  /// Throws: UsageError if `payload` is known not to be a tuple of the path: values of another
  ///         type, too many or too few values, or a partial result.
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
