// SPDX-License-Identifier: Apache-2.0
// wrappers/broadcast.cpp — a join that hands out one contributor's value.
#include "wrappers/broadcast.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "paths/host/host.hpp"

namespace wrappers {
namespace {

using paths::Carrier;

paths::JoinRules rules_for(std::optional<std::uint32_t> from) {
  return {.carrier = from ? Carrier::one : Carrier::first, .slot = from.value_or(0)};
}

}  // namespace

Broadcast::Broadcast(paths::Host& host, std::uint32_t wrapper, std::optional<std::uint32_t> from,
                     std::optional<pastset::Template> value)
    : from_(from), value_(std::move(value)), rounds_(host, wrapper, rules_for(from)) {}

paths::Result Broadcast::operate(paths::Operation operation, paths::Next next) {
  if (operation.kind == paths::OperationKind::move) check(operation, next.host());
  return rounds_.operate(std::move(operation), next);
}

/// Only the root's tuple goes anywhere; a wrong one is its failure, which reaches everyone.
void Broadcast::check(paths::Operation& operation, paths::Host& host) const {
  if (!value_ || operation.slot != from_ || operation.failure) return;
  const std::string mismatch = value_->mismatch(operation.payload);
  if (mismatch.empty()) return;
  operation.payload = {};
  operation.failure = host.failure(name(), operation.path,
                                   fmt::format("round {}: {}", operation.sequence, mismatch));
}

paths::WrapperKind broadcast_kind() {
  paths::WrapperKind kind;
  kind.name = "broadcast";
  kind.help = "Joins paths: gives everyone the value that one contributor moved.";
  kind.settings = {
      {"from", "integer", "none",
       "The contributor, counted from 0, whose value it is; none where it comes from below."},
      {"template", "template", "any", "What that contributor moves."},
  };
  kind.job = paths::Job::join;
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace& place) -> paths::MakeWrapper {
    std::optional<std::uint32_t> from;
    if (reader.has("from")) {
      const std::int64_t most = place.slots > 0 ? std::int64_t{place.slots} - 1 : 0;
      from = static_cast<std::uint32_t>(reader.integer("from", 0, 0, most));
    }
    std::optional<pastset::Template> value;
    if (const auto text = reader.word("template")) {
      std::string wrong;
      value = pastset::Template::parse(*text, &wrong);
      if (!value) reader.mistake("template", wrong);
    }
    return [from, value, wrapper = place.wrapper](paths::Host& host) {
      return std::make_unique<Broadcast>(host, wrapper, from, value);
    };
  };
  return kind;
}

}  // namespace wrappers
