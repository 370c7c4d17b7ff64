// SPDX-License-Identifier: Apache-2.0
// paths/messages/carriers/switches.cpp — frames between hosts of one process and their switches
#include "paths/messages/carriers/switches.hpp"

#include <utility>

namespace paths {

struct Switches::One final : LaneCarrier {
  One(Switches& all, runtime::Runtime& runtime, std::shared_ptr<const Plan> plan,
      std::uint32_t place)
      : everybody(all), number(place), lanes(runtime, std::move(plan), place, links, *this) {
    lanes.record_transfers([&all](std::uint32_t source) { return all.recorders_[source]; });
  }
  void send(std::uint32_t host, LaneFrame frame) override {
    everybody.hosts_[host]->deliver(number, std::move(frame));
  }
  Switches& everybody;
  const std::uint32_t number;
  EmulatedLinks links;
  MessageEndpoint lanes;
};

Switches::Switches(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan)
    : hosts_(plan->hosts.size()), recorders_(plan->hosts.size()), switches_(plan->clusters.size()) {
  for (std::uint32_t cluster = 0; plan->ways && cluster < switches_.size(); ++cluster)
    if (plan->ways->clusters[cluster].has_switch)
      switches_[cluster] =
          std::make_unique<One>(*this, runtime, plan, switch_number(*plan, cluster));
}

Switches::~Switches() { stop(); }

void Switches::stop() {
  for (auto& one : switches_)
    if (one != nullptr) one->lanes.stop();
}

void Switches::add(std::uint32_t host, MessageEndpoint& lanes, eventspace::Recorder& recorder) {
  hosts_[host] = &lanes;
  recorders_[host] = &recorder;
}

void Switches::deliver(std::uint32_t from, std::uint32_t number, LaneFrame frame) {
  switches_[number - hosts_.size()]->lanes.deliver(from, std::move(frame));
}

}  // namespace paths
