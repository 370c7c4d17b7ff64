// SPDX-License-Identifier: Apache-2.0
// paths/links/emulated_links.hpp — emulated links of one host, by name
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/link_model/link.hpp"
#include "base/link_model/link_instance.hpp"
#include "paths/plan/ways.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// One direction of an emulated link, and the mutex that guards it.
struct EmulatedLink {
  explicit EmulatedLink(tuning::LinkModel model) : instance(std::move(model)) {}
  runtime::Mutex mutex;
  tuning::LinkInstance instance;
};

/// The emulated links of one host, keyed by name. All traffic that leaves the host over a link
/// shares the bandwidth of the link: the traffic of paths of all deployments, and of lanes.
///
/// Thread-safe: all functions.
class EmulatedLinks {
 public:
  /// Returns the link with the name `name`. The first call for a name makes the link. For the name
  /// "", each call makes a new link.
  /// Throws: UsageError if the link exists with a different model.
  std::shared_ptr<EmulatedLink> named(std::string_view name, const tuning::LinkModel& model);

 private:
  runtime::Mutex mutex_;
  std::map<std::string, std::shared_ptr<EmulatedLink>, std::less<>> links_;
};

/// Returns the properties of a link.
/// Requires: link.is_there().
/// Throws: ConfigError if the trace of the link cannot be read.
tuning::Link link_of(const HopLink& link);

/// Latency and rate of the route between two hosts if it carries no other traffic.
struct WayCost {
  double bits_per_second = 0;  ///< rate of the slowest link; 0 = unlimited
  base::Nanos latency{0};
};
/// Returns the latency and rate of the route from one host to another. If the properties of a link
/// vary, uses values such that the link is worse only 5 % of the time.
WayCost cost_of(const Plan& plan, std::uint32_t from, std::uint32_t to);

}  // namespace paths
