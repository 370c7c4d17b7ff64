// SPDX-License-Identifier: Apache-2.0
// paths/config/shared_text.cpp — sizes of shared elements, and limits of their memory.
#include "paths/config/shared_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "base/payload.hpp"
#include "base/units.hpp"
#include "pastset/shared/space.hpp"

namespace paths {
namespace {

constexpr std::uint64_t slots_min = 3, slots_max = std::uint64_t{1} << 30;
constexpr std::int64_t line_min = 1, line_max = std::int64_t{1} << 20;
constexpr std::uint64_t usual_slots_max = std::uint64_t{1} << 20;
constexpr std::uint64_t memory_max = pastset::shared_bytes_max;

/// Returns the size in bytes of the element's tuples, if all tuples have the same size and are too
/// large for an entry of the element's table (setting `slots`). Otherwise returns 0.
std::uint64_t large_bytes_of(const Plan::PlanElement& element) {
  const std::uint64_t bytes = element.tuple_template.fixed_bytes().value_or(0);
  return bytes <= base::Payload::inline_bytes ? 0 : std::min(bytes, memory_max);
}

/// Returns the size in bytes of an arena for `tuples` tuples that do not fit into table entries.
/// Returns a value above memory_max if the arena would be too large.
std::uint64_t arena_bytes_of(const Plan::PlanElement& element, std::uint64_t tuples) {
  const std::uint64_t one = large_bytes_of(element);
  if (one == 0) return 0;
  const bool is_too_much = tuples > memory_max / pastset::extent_bytes(one);
  return is_too_much ? memory_max + 1 : pastset::arena_bytes_for(tuples, one);
}

/// Returns the minimum number of tuples for which the element needs memory. The number is one more
/// than the element keeps, because a new tuple is stored before the oldest tuple is dropped.
std::uint64_t least_tuples(const Plan::PlanElement& element) { return element.keep_newest + 1; }

bool has_least(const Plan::PlanElement& element) {
  const std::uint64_t one = large_bytes_of(element);
  const std::uint64_t arena = pastset::extent_bytes(element.shared->arena_bytes);
  return one == 0 || pastset::tuples_in(arena, one) >= least_tuples(element);
}

/// Returns the default sizes of a shared element. The table (`slots`) has an entry for each tuple
/// that the element keeps, and two more entries. The arena has room for one large tuple per entry
/// of the table, but has at most 64 MiB. This maximum is higher if 64 MiB are too little for the
/// large tuples that the element keeps and for six more. These six are two tuples of waiting moves,
/// a tuple that is being written, a tuple that is being read, the next tuple, and a spare tuple.
/// Unused room costs nothing, because the operating system provides memory only when a tuple is
/// written there.
pastset::SharedSizes usual_sizes(const Plan::PlanElement& element) {
  constexpr std::uint64_t arena_max = std::uint64_t{64} << 20, large_tuples_min = 6;
  pastset::SharedSizes sizes;
  const std::uint64_t kept = std::max(element.keep_newest, element.delta);
  sizes.slots = std::max(sizes.slots, std::min(kept, usual_slots_max) + 2);
  const std::uint64_t some = arena_bytes_of(element, element.keep_newest + large_tuples_min);
  const std::uint64_t most = std::min(std::max(arena_max, some), memory_max);
  sizes.arena_bytes = std::clamp(arena_bytes_of(element, sizes.slots), sizes.arena_bytes, most);
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
  sizes.line = static_cast<std::uint64_t>(
      reader.integer("line", static_cast<std::int64_t>(sizes.line), line_min, line_max));
  reader.finish();
  return sizes;
}

/// Returns why the sizes of a shared element are not allowed; "" if they are allowed.
std::string why_not(const Plan& plan, const Plan::PlanElement& element) {
  if (element.keep_newest > element.shared->slots - 2)
    return fmt::format("an element that keeps {} tuples needs {} slots, found {}",
                       element.keep_newest, element.keep_newest + 2, element.shared->slots);
  if (element.keep_newest == 0 && element.delta > element.shared->slots - 2)
    return fmt::format("an element of delta {} needs {} slots, found {}", element.delta,
                       element.delta + 2, element.shared->slots);
  if (!has_least(element))
    return fmt::format(
        "tuples of {} bytes, of which it keeps {}, need {} of memory, found {}",
        *element.tuple_template.fixed_bytes(),
        element.keep_newest > 0 ? fmt::format("{}", element.keep_newest) : "one at least",
        base::format_bytes(arena_bytes_of(element, least_tuples(element))),
        base::format_bytes(element.shared->arena_bytes));
  if (element.name.size() > pastset::shared_name_bytes_max)
    return fmt::format("names of shared elements have at most {} letters, found {}",
                       pastset::shared_name_bytes_max, element.name.size());
  if (const auto text = element.tuple_template.text();
      text.size() > pastset::shared_template_bytes_max)
    return fmt::format("templates of shared elements have at most {} letters, found {}",
                       pastset::shared_template_bytes_max, text.size());
  std::vector<pastset::SharedSizes> all{*element.shared};
  for (const Plan::PlanElement& other : plan.elements)
    if (other.host == element.host && other.shared) all.push_back(*other.shared);
  if (all.size() > pastset::shared_elements_max)
    return fmt::format("a host has at most {} shared elements, this is one more",
                       pastset::shared_elements_max);
  if (element.shared->arena_bytes <= memory_max && pastset::SharedSpace::bytes_of(all) > memory_max)
    return fmt::format("a host shares at most {}, which it exceeds with this one",
                       base::format_bytes(memory_max));
  return {};
}

/// Returns the index of the element at the end of a path; nullopt if the path does not end in an
/// element of the plan.
std::optional<std::uint32_t> end_of(const Plan& plan, const Plan::PlanPath& path) {
  StageId stage = path.stage;
  for (std::size_t steps = 0; stage < plan.stages.size() && steps < plan.stages.size(); ++steps) {
    if (plan.stages[stage].below == no_stage) {
      const auto& settings = plan.wrappers[plan.stages[stage].wrapper].settings;
      const base::Settings* const element = settings.find("element");
      return element != nullptr ? plan.element_named(element->text()) : std::nullopt;
    }
    stage = plan.stages[stage].below;
  }
  return std::nullopt;
}

}  // namespace

void give_movers_room(Plan& plan) {
  const auto is_shared = [](const Plan::PlanElement& one) { return one.shared.has_value(); };
  if (std::none_of(plan.elements.begin(), plan.elements.end(), is_shared)) return;
  std::vector<std::uint64_t> threads(plan.elements.size());
  for (const Plan::PlanPath& path : plan.paths)
    if (const auto element = end_of(plan, path)) threads[*element] += std::max(1u, path.threads);
  for (std::size_t i = 0; i < threads.size(); ++i)
    if (auto& sizes = plan.elements[i].shared)
      sizes->line = std::max(sizes->line, 2 * threads[i] + 32);
}

void read_shared_spaces(base::MapReader& reader, Plan& plan) {
  if (!reader.has("shared_spaces")) return;
  const base::Settings written = reader.take("shared_spaces");
  if (!written.is_map())
    return reader.mistake(
        "shared_spaces", "expected {access: ..., lock_patience: ...}, found " + written.describe());
  base::MapReader spaces(written, reader.mistakes(), "shared_spaces");
  const std::vector<std::string_view> words(pastset::shared_access_words.begin(),
                                            pastset::shared_access_words.end());
  const std::string word = spaces.choice("access", words, std::string(words[0]));
  const auto found = std::find(words.begin(), words.end(), word);
  plan.shared_access = static_cast<pastset::SharedAccess>(found - words.begin());
  plan.lock_patience = spaces.time("lock_patience").value_or(plan.lock_patience);
  if (plan.lock_patience <= base::Nanos{0})
    spaces.mistake("lock_patience",
                   "expected more than 0, found " + spaces.take("lock_patience").describe());
  spaces.finish();
}

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
