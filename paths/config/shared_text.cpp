// SPDX-License-Identifier: Apache-2.0
// paths/config/shared_text.cpp — sizes of shared elements, and what such memory cannot have.
#include "paths/config/shared_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/payload.hpp"
#include "base/units.hpp"

namespace paths {
namespace {

constexpr std::uint64_t slots_min = 3, slots_max = std::uint64_t{1} << 30;
constexpr std::uint64_t usual_slots_max = std::uint64_t{1} << 20;
constexpr std::uint64_t memory_max = std::uint64_t{1} << 40;

/// As many tuples as the element says that it has, a spare one among them; and a few of the large
/// ones, which cost memory when they are written.
pastset::SharedSizes usual_sizes(const Plan::PlanElement& element) {
  constexpr std::uint64_t arena_max = std::uint64_t{64} << 20, large_tuples_min = 4;
  pastset::SharedSizes sizes;
  const std::uint64_t kept = std::max(element.keep_newest, element.delta);
  sizes.slots = std::max(sizes.slots, std::min(kept, usual_slots_max) + 2);
  const std::uint64_t bytes = element.tuple_template.fixed_bytes().value_or(0);
  if (bytes <= base::Payload::inline_bytes || bytes > memory_max / large_tuples_min) return sizes;
  const std::uint64_t all = bytes * std::min(sizes.slots, memory_max / bytes);
  const std::uint64_t most = std::max(arena_max, large_tuples_min * bytes);
  sizes.arena_bytes = std::clamp(all, sizes.arena_bytes, most);
  return sizes;
}

pastset::SharedSizes read_sizes(const base::Settings& written, const Plan::PlanElement& element,
                                base::Mistakes& mistakes) {
  pastset::SharedSizes sizes = usual_sizes(element);
  base::MapReader reader(written, mistakes, "shared of element " + element.name);
  sizes.slots = static_cast<std::uint64_t>(
      reader.integer("slots", static_cast<std::int64_t>(sizes.slots), slots_min, slots_max));
  sizes.arena_bytes = reader.bytes("memory", sizes.arena_bytes);
  if (sizes.arena_bytes > memory_max)
    reader.mistake("memory",
                   fmt::format("expected at most {}, found {}", base::format_bytes(memory_max),
                               base::format_bytes(sizes.arena_bytes)));
  reader.finish();
  return sizes;
}

/// A sentence, or nothing.
std::string why_not(const Plan& plan, const Plan::PlanElement& element) {
  if (element.keep_newest > element.shared->slots - 2)
    return fmt::format("an element that keeps {} tuples needs {} slots, found {}",
                       element.keep_newest, element.keep_newest + 2, element.shared->slots);
  if (element.name.size() > pastset::shared_name_bytes_max)
    return fmt::format("names of shared elements have at most {} letters, found {}",
                       pastset::shared_name_bytes_max, element.name.size());
  if (const auto text = element.tuple_template.text();
      text.size() > pastset::shared_template_bytes_max)
    return fmt::format("templates of shared elements have at most {} letters, found {}",
                       pastset::shared_template_bytes_max, text.size());
  const auto others =
      std::count_if(plan.elements.begin(), plan.elements.end(),
                    [&](const auto& one) { return one.host == element.host && one.shared; });
  if (static_cast<std::size_t>(others) >= pastset::shared_elements_max)
    return fmt::format("a host has at most {} shared elements, this is one more",
                       pastset::shared_elements_max);
  return {};
}

}  // namespace

void read_shared(base::MapReader& reader, const Plan& plan, Plan::PlanElement& element) {
  const base::Settings written = reader.take("shared");
  const bool is_usual = element.host < plan.hosts.size() && plan.hosts[element.host].shares_space;
  if (written.is_map())
    element.shared = read_sizes(written, element, reader.mistakes());
  else if (written.is_list())
    reader.mistake("shared", "expected true, false, or {slots: ..., memory: ...}, found " +
                                 written.describe());
  else if (reader.flag("shared", is_usual))
    element.shared = usual_sizes(element);
  if (!element.shared) return;
  if (const std::string wrong = why_not(plan, element); !wrong.empty())
    reader.mistake("shared", wrong);
}

}  // namespace paths
