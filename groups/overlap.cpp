// SPDX-License-Identifier: Apache-2.0
// groups/overlap.cpp — one pass over the arrays of all members, ordered by address
#include "groups/overlap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace groups {
namespace {

struct Lent {
  const std::byte* begin;
  const std::byte* end;
  std::size_t member;
  bool is_out;
};

/// Returns two overlapping arrays of different members, at least one of them an `out`. Returns
/// nullopt if there are no such arrays. A write to the `out` would change the other array.
std::optional<std::pair<Lent, Lent>> overlapping(const Calls& calls) {
  std::vector<Lent> all;
  for (std::size_t member = 0; member < calls.size(); ++member) {
    const auto [in, out] = std::pair(calls[member]->in, calls[member]->out);
    if (!calls[member]->has_values) return std::nullopt;
    if (!out.empty()) all.push_back({out.data(), out.data() + out.size(), member, true});
    if (!in.empty() && (out.empty() || in.data() != out.data()))
      all.push_back({in.data(), in.data() + in.size(), member, false});
  }
  const std::less<const std::byte*> before;
  std::sort(all.begin(), all.end(),
            [&](const Lent& left, const Lent& right) { return before(left.begin, right.begin); });
  const Lent* farthest = nullptr;
  const Lent* farthest_out = nullptr;
  for (const Lent& one : all) {
    const Lent* const other = one.is_out ? farthest : farthest_out;
    if (other != nullptr && before(one.begin, other->end)) return std::pair(*other, one);
    if (farthest == nullptr || before(farthest->end, one.end)) farthest = &one;
    if (one.is_out && (farthest_out == nullptr || before(farthest_out->end, one.end)))
      farthest_out = &one;
  }
  return std::nullopt;
}

}  // namespace

std::string overlap_text(const GroupView& view, const Calls& calls) {
  if (calls.size() == 1) return "";
  const auto found = overlapping(calls);
  if (!found) return "";
  const auto text = [&view](const Lent& one) {
    return fmt::format("`{}` of {}", one.is_out ? "out" : "in",
                       view.thread_text(view.place(one.member)));
  };
  return fmt::format("{} overlaps {}; expected what a member writes apart from others' arrays",
                     text(found->first), text(found->second));
}

}  // namespace groups
