// SPDX-License-Identifier: Apache-2.0
// wrappers/broadcast.cpp — a join that hands out one contributor's value.
#include "wrappers/broadcast.hpp"

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "paths/host/wiring.hpp"

namespace wrappers {
namespace {

using paths::Carrier;

paths::JoinRules rules_for(std::optional<std::uint32_t> from) {
  return {.carrier = from ? Carrier::one : Carrier::first, .slot = from.value_or(0)};
}

}  // namespace

Broadcast::Broadcast(paths::Wiring& wiring, std::uint32_t wrapper,
                     std::optional<std::uint32_t> from, std::optional<pastset::Template> value)
    : from_(from), value_(std::move(value)), rounds_(wiring, wrapper, rules_for(from)) {}

void Broadcast::handle(paths::Operation&& operation, paths::Next next,
                       paths::Responder& responder) {
  if (operation.kind == paths::OperationKind::move) check(operation, next.wiring());
  rounds_.handle(std::move(operation), next, responder);
}

/// Only the root's tuple goes anywhere; a wrong one is its failure, which reaches everyone.
void Broadcast::check(paths::Operation& operation, paths::Wiring& wiring) const {
  if (!value_ || operation.slot != from_ || operation.failure) return;
  const std::string mismatch = value_->mismatch(operation.payload);
  if (mismatch.empty()) return;
  operation.payload = {};
  operation.failure = wiring.failure(name(), operation.path,
                                     fmt::format("round {}: {}", operation.sequence, mismatch));
}

namespace {

/// Nothing when it is not written.
std::optional<pastset::Template> read_template(base::MapReader& reader) {
  const auto text = reader.word("template");
  if (!text) return std::nullopt;
  std::string wrong;
  const auto value = pastset::Template::parse(*text, &wrong);
  if (!value) reader.mistake("template", wrong);
  return value;
}

}  // namespace

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
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace& place) -> paths::MakeWrapper {
    std::optional<std::uint32_t> from;
    if (reader.has("from")) {
      // Of a plan with mistakes they have not been counted.
      const std::int64_t most = place.slots() > 0 ? std::int64_t{place.slots()} - 1
                                                  : std::numeric_limits<std::uint32_t>::max();
      from = static_cast<std::uint32_t>(reader.integer("from", 0, 0, most));
    }
    const std::optional<pastset::Template> value = read_template(reader);
    return [from, value, wrapper = place.wrapper()](paths::Wiring& wiring) {
      return std::make_unique<Broadcast>(wiring, wrapper, from, value);
    };
  };
  return kind;
}

}  // namespace wrappers
