// SPDX-License-Identifier: Apache-2.0
// wrappers/barrier.cpp — a join that combines nothing.
#include "wrappers/barrier.hpp"

#include <memory>
#include <utility>

#include "paths/host/wiring.hpp"

namespace wrappers {

void Barrier::handle(paths::Operation&& operation, paths::Next next, paths::Responder& responder) {
  rounds_.handle(std::move(operation), next, responder);
}

paths::WrapperKind barrier_kind() {
  paths::WrapperKind kind;
  kind.name = "barrier";
  kind.help = "Joins paths: nobody returns before everyone has come.";
  kind.job = paths::Job::join;
  kind.collective = {.help = "Nobody returns before all threads have come."};
  kind.read = [](base::MapReader&, const paths::WrapperPlace& place) -> paths::MakeWrapper {
    return [wrapper = place.wrapper()](paths::Wiring& wiring) {
      return std::make_unique<Barrier>(wiring, wrapper);
    };
  };
  return kind;
}

}  // namespace wrappers
