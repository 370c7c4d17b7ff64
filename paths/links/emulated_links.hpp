// SPDX-License-Identifier: Apache-2.0
// paths/links/emulated_links.hpp — the emulated links of one host, by name.
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

/// What leaves a host by one link takes it from all else that does: declared paths of any
/// deployment, and lanes. So each has one home, under the name of its wrapper.
///
/// Sharing: any context may call.
class EmulatedLinks {
 public:
  /// The link of that name, made by the first who asks; "" is one of its own each time. Throws
  /// UsageError when there is one of that name that behaves otherwise.
  std::shared_ptr<EmulatedLink> named(std::string_view name, const tuning::LinkModel& model);

 private:
  runtime::Mutex mutex_;
  std::map<std::string, std::shared_ptr<EmulatedLink>, std::less<>> links_;
};

/// What a link on a way that is there is like. Throws ConfigError when its trace cannot be read.
tuning::Link link_of(const HopLink& link);

/// A way between two hosts, as long as nothing else is on it.
struct WayCost {
  double bits_per_second = 0;  ///< of its slowest link; 0: unlimited
  base::Nanos latency{0};
};
/// Of links that change, the worst but for a twentieth of the time.
WayCost cost_of(const Plan& plan, std::uint32_t from, std::uint32_t to);

}  // namespace paths
