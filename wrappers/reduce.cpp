// SPDX-License-Identifier: Apache-2.0
// wrappers/reduce.cpp — a join that combines and answers slot 0.
#include "wrappers/reduce.hpp"

#include <memory>
#include <utility>

#include "paths/host/wiring.hpp"

namespace wrappers {

Reduce::Reduce(paths::Site& site, std::uint32_t wrapper, paths::Reduction reduction)
    : rounds_(site, wrapper,
              {.carrier = paths::Carrier::one_after_all, .reduction = std::move(reduction)}) {}

void Reduce::handle(paths::Operation&& operation, paths::Next next, paths::Responder& responder) {
  rounds_.handle(std::move(operation), next, responder);
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
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace& place) -> paths::MakeWrapper {
    const paths::Reduction reduction = paths::read_reduction(reader);
    return [reduction, wrapper = place.wrapper()](paths::Wiring& wiring) {
      return std::make_unique<Reduce>(wiring, wrapper, reduction);
    };
  };
  return kind;
}

}  // namespace wrappers
