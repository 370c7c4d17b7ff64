// SPDX-License-Identifier: Apache-2.0
// wrappers/allreduce.cpp — a join that combines and answers all.
#include "wrappers/allreduce.hpp"

#include <memory>
#include <utility>

#include "paths/host/wiring.hpp"

namespace wrappers {

Allreduce::Allreduce(paths::Site& site, std::uint32_t wrapper, paths::Reduction reduction)
    : rounds_(site, wrapper, {.carrier = paths::Carrier::last, .reduction = std::move(reduction)}) {
}

void Allreduce::handle(paths::Operation&& operation, paths::Next next,
                       paths::Responder& responder) {
  rounds_.handle(std::move(operation), next, responder);
}

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
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace& place) -> paths::MakeWrapper {
    const paths::Reduction reduction = paths::read_reduction(reader);
    return [reduction, wrapper = place.wrapper()](paths::Wiring& wiring) {
      return std::make_unique<Allreduce>(wiring, wrapper, reduction);
    };
  };
  return kind;
}

}  // namespace wrappers
