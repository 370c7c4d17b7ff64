// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/guidelines.cpp — comparison of each tuned collective with sequences of other
// collectives.
#include "collectives/tuner/guidelines.hpp"

#include <map>
#include <optional>

namespace tuner {
namespace {

using collectives::Collective;

/// Size of a collective in a guideline, relative to the size s of the compared collective: s, s/H,
/// or H s. H is the number of hosts.
enum class Scale { same, per_host, times_hosts };

struct Part {
  Collective collective;
  Scale scale = Scale::same;
};

struct Guideline {
  Collective whole;
  std::vector<Part> parts;
};

const std::vector<Guideline>& all_guidelines() {
  using enum Collective;
  using enum Scale;
  static const std::vector<Guideline> all = {
      {broadcast, {{scatter, per_host}, {allgather, per_host}}},
      {scatter, {{broadcast, times_hosts}}},
      {gather, {{allgather}}},
      {reduce, {{allreduce}}},
      {reduce, {{reduce_scatter}, {gather, per_host}}},
      {allgather, {{gather}, {broadcast, times_hosts}}},
      {allreduce, {{reduce}, {broadcast}}},
      {allreduce, {{reduce_scatter}, {allgather, per_host}}}};
  return all;
}

Bytes scaled(Bytes bytes, Scale scale, std::size_t hosts) {
  if (scale == Scale::per_host) return (bytes + hosts - 1) / hosts;
  return scale == Scale::times_hosts ? bytes * hosts : bytes;
}

}  // namespace

std::vector<Violation> check_guidelines(const std::vector<ChosenTime>& times, std::size_t hosts,
                                        double margin) {
  std::map<Collective, std::map<Bytes, base::Nanos>> known;
  for (const ChosenTime& one : times) known[one.collective][one.bytes] = one.time;
  const auto time_of = [&](Collective collective, Bytes bytes) -> std::optional<base::Nanos> {
    const auto& sizes = known[collective];
    const auto found = sizes.lower_bound(bytes);
    if (found == sizes.end() || found->first / 2 > bytes) return std::nullopt;
    return found->second;
  };
  std::vector<Violation> violations;
  for (const ChosenTime& one : times)
    for (const Guideline& guideline : all_guidelines()) {
      if (guideline.whole != one.collective) continue;
      Violation violation{one, "", base::Nanos(0)};
      bool is_complete = true;
      for (const Part& part : guideline.parts) {
        const auto time = time_of(part.collective, scaled(one.bytes, part.scale, hosts));
        is_complete = is_complete && time;
        violation.time += time.value_or(base::Nanos(0));
        violation.instead += violation.instead.empty() ? "" : " and ";
        violation.instead += name_of(part.collective);
      }
      if (is_complete && static_cast<double>(one.time.count()) >
                             margin * static_cast<double>(violation.time.count()))
        violations.push_back(violation);
    }
  return violations;
}

}  // namespace tuner
