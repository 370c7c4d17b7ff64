// SPDX-License-Identifier: Apache-2.0
// wrappers/barrier.cpp — a join that combines nothing.
#include "wrappers/barrier.hpp"

#include <memory>
#include <utility>

#include "paths/host/wiring.hpp"

namespace wrappers {

paths::Result Barrier::operate(paths::Operation operation, paths::Next next) {
  return rounds_.operate(std::move(operation), next);
}

void Barrier::begin(paths::Operation&& operation, paths::Next next, paths::Ascent& ascent) {
  rounds_.begin(std::move(operation), next, ascent);
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
