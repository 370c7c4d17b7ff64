// SPDX-License-Identifier: Apache-2.0
// paths/path_values.hpp — types of the values that a path carries, and how many make a result.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/payload.hpp"
#include "pastset/template.hpp"

namespace paths {

/// Types and number of the values that a thread may move down a path and read from it.
///
/// Owns:        nothing. One object for all paths that are alike; it stays until the process ends,
///              because a Result refers to it and may outlive its plan.
/// Thread-safe: it never changes.
struct PathValues {
  /// Templates of a path's tuples as the plan has them; no value where the plan does not say.
  struct Templates {
    std::optional<pastset::Template> moved;  ///< the tuple that is moved, and its result
    std::optional<pastset::Template> read;   ///< tuples of the element at the end
  };

  std::string path;  ///< its graph
  Templates templates;
  /// Contributions to a complete result of a path whose results may cover fewer; 0: all are
  /// complete.
  std::uint64_t contributors = 0;
  bool has_rounds = false;  ///< moves are contributions that other threads wait for
  base::ValueType moved_type = base::ValueType::unknown;
  base::ValueType read_type = base::ValueType::unknown;
  std::size_t moved_bytes = 0;  ///< size of each moved tuple; 0 if it varies

  static const PathValues& of(std::string path, Templates templates, std::uint64_t contributors,
                              bool has_rounds);

  /// Throws UsageError if `payload` has values that are known not to be a tuple of the path: of
  /// another type, too many, too few, or partial. `what` is the operation: "move".
  void check_moved(std::string_view what, const base::Payload& payload) const {
    const bool is_untyped = payload.may_be(base::ValueType::unknown);
    if (!is_untyped && !(payload.may_be(moved_type) && payload.size() == moved_bytes))
      check_typed(what, payload);
  }
  /// Whether results of the path may be read as values of the type `wanted`.
  bool gives(base::ValueType wanted) const {
    return wanted == moved_type || !base::is_one_scalar(wanted) || !base::is_one_scalar(moved_type);
  }
  /// Throws UsageError, because results are not of the type `wanted`. `what`: "move".
  [[noreturn]] void refuse_result(std::string_view what, base::ValueType wanted) const;

 private:
  void check_typed(std::string_view what, const base::Payload& payload) const;
};

}  // namespace paths
