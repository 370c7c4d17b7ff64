// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/predictor.cpp — latencies of labels, and changes by label.
#include "eventspace/analysis/attribution/predictor.hpp"

namespace eventspace {

Predictor::Predictor(const Bindings& bindings)
    : moments_(bindings.moments()), pass_(bindings), recorded_nanos_(pass_.run_nanos({})) {
  for (std::uint32_t number = 0; number < labels().count(); ++number) {
    const TimeLabel& label = labels().at(number);
    const bool has_latency =
        label.cause == TimeCause::link_latency || label.cause == TimeCause::network;
    latencies_.push_back(!has_latency              ? 0
                         : label.latency_nanos > 0 ? label.latency_nanos
                                                   : pass_.typical_nanos(number));
  }
}

double Predictor::latency_nanos_of(std::uint32_t label) const { return latencies_[label]; }

Changes Predictor::by_label(const std::vector<Change>& changes) const {
  Changes all(labels().count());
  for (const Change& one : changes)
    for (const std::uint32_t label : one.labels) all[label].push_back(one.change);
  return all;
}

}  // namespace eventspace
