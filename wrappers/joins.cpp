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

/// Reads the setting `template`. Returns nullopt if the config does not contain it.
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
  kind.help =
      "Joins paths: combines all contributions and returns the result to every contributor.";
  kind.settings = paths::reduction_settings();
  kind.job = paths::Job::join;
  kind.answers_in_kind = true;
  kind.collective = {
      .help = "Combines the contributions of all threads and returns the result to every thread.",
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
  kind.help =
      "Joins paths: combines all contributions and returns the result to the first contributor.";
  kind.settings = paths::reduction_settings();
  kind.job = paths::Job::join;
  kind.collective = {
      .help =
          "Combines the contributions of all threads and returns the result to the first thread.",
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
  kind.help = "Joins paths: returns the value that one contributor moved to every contributor.";
  kind.settings = {
      {"from", "integer from 0", "none",
       "Number of the contributor that moves the value, from 0; none if the value comes from "
       "below."},
      {"template", "template", "any", "Template of the value."},
  };
  kind.job = paths::Job::join;
  kind.collective = {
      .help = "Returns the value that the first thread of the root moved to every thread.",
      .settings = {{"template", "template", "required", "Template of the value."}},
      .read =
          [](base::MapReader& reader) {
            reader.required_word("template", "a template such as f64");
            if (reader.take("template").is_scalar()) read_template(reader);
          },
      .root_slot = "from"};
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace& place) {
    std::optional<std::uint32_t> from;
    if (reader.has("from")) {
      // If the plan has mistakes, place.slots() may be 0. The check then accepts any slot.
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
  kind.help = "Joins paths: no contributor continues before all have arrived.";
  kind.job = paths::Job::join;
  kind.collective = {.help = "No thread continues before all have arrived."};
  kind.read = [](base::MapReader&, const paths::WrapperPlace& place) {
    return make_join(place, {});
  };
  return kind;
}

}  // namespace wrappers
