// SPDX-License-Identifier: Apache-2.0
// paths/path_values.cpp — errors for wrong values, and the object that paths with equal types
// share.
#include "paths/path_values.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "base/usage_error.hpp"
#include "runtime/wait.hpp"

namespace paths {
namespace {

std::string text_of(const std::optional<pastset::Template>& known) {
  return known ? known->text() : "?";
}

/// Returns whether tuples of the template have fields; false if the template is not declared.
/// Tuples without fields only synchronize threads, so their payload is not checked.
bool has_values(const std::optional<pastset::Template>& known) {
  return known && !known->fields().empty();
}

}  // namespace

const PathValues& PathValues::of(std::string path, Templates templates, std::uint64_t contributors,
                                 bool has_rounds) {
  using Key = std::tuple<std::string, std::string, std::string, std::uint64_t, bool>;
  static runtime::Mutex mutex;
  static auto& known = *new std::map<Key, std::unique_ptr<const PathValues>>;  // never destroyed
  const Key key(path, text_of(templates.moved), text_of(templates.read), contributors, has_rounds);
  const runtime::Lock lock(mutex);
  std::unique_ptr<const PathValues>& found = known[key];
  if (found) return *found;
  auto made = std::make_unique<PathValues>();
  made->path = std::move(path);
  made->contributors = contributors;
  made->has_rounds = has_rounds;
  if (templates.moved) {
    made->moved_type = templates.moved->value_type();
    made->moved_bytes = templates.moved->fixed_bytes().value_or(0);
  }
  if (templates.read) made->read_type = templates.read->value_type();
  made->templates = std::move(templates);
  found = std::move(made);
  return *found;
}

void PathValues::check_typed(std::string_view what, const base::Payload& payload) const {
  if (payload.is_partial())
    throw base::UsageError(
        fmt::format("path {}: {} of a result that covers only some of the contributions; decide by "
                    "`condition`, or call `partial<T>()`",
                    path, what));
  if (!has_values(templates.moved)) return;
  const std::string mismatch = templates.moved->mismatch(payload);
  if (mismatch.empty()) return;
  throw base::UsageError(
      fmt::format("path {}: {} of a value that is no tuple of the path: {}", path, what, mismatch));
}

void PathValues::refuse_result(std::string_view what, base::ValueType wanted) const {
  throw base::UsageError(fmt::format(
      "path {}: {} with memory for values of type {}, but results of template \"{}\" "
      "have type {}",
      path, what, base::type_name(wanted), text_of(templates.moved), base::type_name(moved_type)));
}

}  // namespace paths
