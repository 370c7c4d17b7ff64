// SPDX-License-Identifier: Apache-2.0
// paths/plan/site.cpp — the deadline and the failures of a host.
#include "paths/plan/site.hpp"

namespace paths {

runtime::Deadline Site::deadline() const {
  return {runtime_.now() + plan_->deadline, plan_->deadline_written};
}

Failure Site::failure(const std::string& wrapper, std::uint32_t path,
                      const std::string& reason) const {
  return std::make_shared<TravelError>(name(), plan_->paths[path].graph, wrapper, reason);
}

}  // namespace paths
