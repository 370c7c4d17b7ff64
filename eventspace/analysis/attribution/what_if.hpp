// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/what_if.hpp — changes of a run as users write them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "eventspace/analysis/attribution/predictor.hpp"
#include "eventspace/structure.hpp"

namespace eventspace {

/// Property of an object, and its new value. The forms are:
/// - link:FROM>TO.latency=5ms and link:FROM>TO.bandwidth=1Gbit for one direction of a link
/// - link:A,B.latency=5ms and link:A,B.bandwidth=1Gbit for both directions
/// - network:CLUSTER.latency=100us
/// - host:NAME.speed=1.2 for a host that is 1.2 times as fast; also cluster:NAME and thread:NAME
///
/// A name may be "*", which stands for all objects. A latency with a sign, such as "-1ms", is added
/// to the latency of the traced run.
struct RequestedChange {
  enum class Object : std::uint8_t { link, network, host, cluster, thread };
  enum class Property : std::uint8_t { latency, added_latency, bandwidth, speed };
  Object object = Object::link;
  Property property = Property::latency;
  std::string from, to;  ///< names; `to` only for a link
  bool goes_both_ways = false;
  double value = 0;  ///< nanoseconds, bits per second, or factor of the speed
};

/// Reads changes from texts.
/// Throws: ConfigError that lists all mistakes and what was expected.
std::vector<RequestedChange> read_changes(const std::vector<std::string>& texts,
                                          const Structure& structure);

/// Converts requested changes of objects into changes of the labels that belong to the objects.
/// Throws: ConfigError if the run has no message or computation of an object, or if a link has no
///         known latency or bandwidth that could change. Also if a latency would become negative.
std::vector<Change> changes_of(const std::vector<RequestedChange>& requested,
                               const Predictor& predictor);

}  // namespace eventspace
