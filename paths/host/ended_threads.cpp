// SPDX-License-Identifier: Apache-2.0
// paths/host/ended_threads.cpp — changes and searches of the set of ended threads, and its text.
#include "paths/host/ended_threads.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"

namespace paths {
namespace {

constexpr std::size_t list_bytes_max = 3000;  // below the limit of 4096 bytes for a text in a frame

}  // namespace

void EndedThreads::add(std::uint32_t thread) {
  runtime::Lock lock(mutex_);
  if (ended_.size() <= thread) ended_.resize(thread + 1);
  if (!ended_[thread]) count_.fetch_add(1);
  ended_[thread] = true;
}

void EndedThreads::remove(std::uint32_t thread) {
  if (empty()) return;
  runtime::Lock lock(mutex_);
  if (thread >= ended_.size() || !ended_[thread]) return;
  ended_[thread] = false;
  count_.fetch_sub(1);
}

bool EndedThreads::has(std::uint32_t thread) const {
  if (empty()) return false;
  runtime::Lock lock(mutex_);
  return thread < ended_.size() && ended_[thread];
}

std::optional<std::uint32_t> EndedThreads::first_of(std::string_view list) const {
  if (empty()) return std::nullopt;
  runtime::Lock lock(mutex_);
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), part.size() + 1));
    const std::size_t dash = part.find('-');
    const auto first = base::parse_natural(part.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : base::parse_natural(part.substr(dash + 1));
    if (!first || !last) return std::nullopt;
    for (std::uint64_t thread = *first; thread <= *last && thread < ended_.size(); ++thread)
      if (ended_[thread]) return static_cast<std::uint32_t>(thread);
  }
  return std::nullopt;
}

std::string EndedThreads::list_text(const std::vector<std::uint32_t>& threads) {
  std::string text;
  for (std::size_t at = 0; at < threads.size() && text.size() < list_bytes_max;) {
    const std::uint32_t first = threads[at++];
    std::uint32_t last = first;
    while (at < threads.size() && threads[at] == last + 1) last = threads[at++];
    text += fmt::format("{}{}", text.empty() ? "" : ",", first);
    if (last > first) text += fmt::format("-{}", last);
  }
  return text;
}

}  // namespace paths
