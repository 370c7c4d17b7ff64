// SPDX-License-Identifier: Apache-2.0
// paths/host/host.cpp — what a host has beside its wirings, and the order of its beginning and end.
#include "paths/host/host.hpp"

#include <fmt/format.h>

#include <numeric>
#include <utility>
#include <vector>

#include "base/usage_error.hpp"
#include "paths/host/peers_of.hpp"

namespace paths {

Host::Host(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan, std::uint32_t index,
           const WrapperKinds& kinds, std::unique_ptr<Transport> transport,
           std::shared_ptr<const Peers> peers)
    : Site(runtime, std::move(plan), index, recorder_),
      multiplexer_(
          std::move(transport),
          [this](ConnectionId, Frame& frame) {
            return frame.kind == FrameKind::lane ? lane_share_ : share_;
          },
          [this](const std::string& source, const std::string& reason) {
            wiring_->turned_away(source, reason);
          }) {
  std::vector<std::uint32_t> numbers(plan_->hosts.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  if (!peers) peers = peers_of(*plan_);
  auto lane_share = multiplexer_.share(numbers);
  lane_share_ = lane_share.get();
  lane_connections_ =
      std::make_unique<LaneConnections>(runtime_, peers, index, std::move(lane_share));
  lanes_ = std::make_unique<Lanes>(runtime_, plan_, index, links_, *lane_connections_);
  auto share = multiplexer_.share(std::move(numbers));
  share_ = share.get();
  wiring_ =
      std::make_unique<Wiring>(*this, plan_, index, kinds, std::move(share), std::move(peers));
}

Host::~Host() {
  multiplexer_.stop();
  lanes_->stop();
}

std::shared_ptr<pastset::Element> Host::element(std::string_view name) {
  auto element = space_.find(name);
  if (element == nullptr)
    throw base::UsageError(fmt::format("host {} has no element '{}'", this->name(), name));
  return element;
}

void Host::start() {
  lane_connections_->start(*lanes_);
  multiplexer_.start();
  wiring_->start();
}

std::string Host::finish() {
  std::string wrong = wiring_->finish();
  lanes_->finish();
  lane_connections_->part(deadline());
  lanes_->stop();
  multiplexer_.stop();
  return wrong;
}

}  // namespace paths
