// SPDX-License-Identifier: Apache-2.0
// wrappers/joins.cpp — rules and settings of the joins.
#include "wrappers/joins.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "paths/host/deployment.hpp"
#include "paths/joins/join.hpp"
#include "paths/joins/reduction.hpp"

namespace wrappers {
namespace {

paths::MakeWrapper make_join(const paths::WrapperPlace& place, paths::JoinRules rules) {
  return [rules = std::move(rules), wrapper = place.wrapper()](paths::Deployment& deployment) {
    return std::make_unique<paths::Join>(deployment, wrapper, rules);
  };
}

/// Returns nothing if the setting is not written.
std::optional<pastset::Template> read_template(base::MapReader& reader) {
  const auto text = reader.word("template");
  if (!text) return std::nullopt;
  std::string wrong;
  const auto value = pastset::Template::parse(*text, &wrong);
  if (!value) reader.mistake("template", wrong);
  return value;
}

}  // namespace

paths::WrapperKind allreduce_kind() {
  paths::WrapperKind kind;
  kind.name = "allreduce";
  kind.help = "Joins paths: combines all contributions and gives everyone the result.";
  kind.settings = paths::reduction_settings();
  kind.job = paths::Job::join;
  kind.answers_in_kind = true;
  kind.collective = {.help = "Combines what all threads contribute and gives everyone the result.",
                     .settings = kind.settings,
                     .read = [](base::MapReader& reader) { paths::read_reduction(reader); }};
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace& place) {
    return make_join(
        place, {.leader = paths::Leader::last_arriver, .reduction = paths::read_reduction(reader)});
  };
  return kind;
}

paths::WrapperKind reduce_kind() {
  paths::WrapperKind kind;
  kind.name = "reduce";
  kind.help = "Joins paths: combines all contributions and gives the first contributor the result.";
  kind.settings = paths::reduction_settings();
  kind.job = paths::Job::join;
  kind.collective = {
      .help = "Combines what all threads contribute and gives the first thread the result.",
      .settings = kind.settings,
      .read = [](base::MapReader& reader) { paths::read_reduction(reader); }};
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace& place) {
    return make_join(place, {.leader = paths::Leader::fixed_slot_after_all,
                             .reduction = paths::read_reduction(reader)});
  };
  return kind;
}

paths::WrapperKind broadcast_kind() {
  paths::WrapperKind kind;
  kind.name = "broadcast";
  kind.help = "Joins paths: gives everyone the value that one contributor moved.";
  kind.settings = {
      {"from", "integer from 0", "none",
       "The contributor, counted from 0, whose value it is; none where it comes from below."},
      {"template", "template", "any", "What that contributor moves."},
  };
  kind.job = paths::Job::join;
  kind.collective = {.help = "Gives everyone the value that the first thread of the root moved.",
                     .settings = {{"template", "template", "required", "What that thread moves."}},
                     .read =
                         [](base::MapReader& reader) {
                           reader.required_word("template", "a template such as f64");
                           if (reader.take("template").is_scalar()) read_template(reader);
                         },
                     .root_slot = "from"};
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace& place) {
    std::optional<std::uint32_t> from;
    if (reader.has("from")) {
      // If the plan has mistakes, its slots are not counted.
      const std::int64_t most = place.slots() > 0 ? std::int64_t{place.slots()} - 1
                                                  : std::numeric_limits<std::uint32_t>::max();
      from = static_cast<std::uint32_t>(reader.integer("from", 0, 0, most));
    }
    return make_join(place,
                     {.leader = from ? paths::Leader::fixed_slot : paths::Leader::first_arriver,
                      .slot = from.value_or(0),
                      .value = read_template(reader)});
  };
  return kind;
}

paths::WrapperKind barrier_kind() {
  paths::WrapperKind kind;
  kind.name = "barrier";
  kind.help = "Joins paths: nobody returns before everyone has come.";
  kind.job = paths::Job::join;
  kind.collective = {.help = "Nobody returns before all threads have come."};
  kind.read = [](base::MapReader&, const paths::WrapperPlace& place) {
    return make_join(place, {});
  };
  return kind;
}

}  // namespace wrappers
