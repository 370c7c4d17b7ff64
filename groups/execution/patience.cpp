// SPDX-License-Identifier: Apache-2.0
// groups/execution/patience.cpp — inquiries to hosts that are late, and the error that names them
#include "groups/execution/patience.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "paths/operation.hpp"

namespace groups {
namespace {

/// Duration without progress after which this host first asks other hosts whether they can still
/// take part. The duration doubles after each inquiry.
constexpr base::Nanos asks_after = std::chrono::milliseconds(250);

}  // namespace

std::optional<std::size_t> wait_patiently(runtime::WaitSet& waits, const runtime::Runtime& runtime,
                                          const Patience& patience) {
  const base::Nanos begin = runtime.now();
  for (base::Nanos pause = asks_after; pause < patience.longest; pause *= 2) {
    if (const auto member = waits.any(runtime::Deadline::written_at(begin + pause))) return member;
    if (patience.ask_hosts) patience.ask_hosts();
  }
  return waits.any({begin + patience.longest, patience.is_written});
}

void throw_late(const std::string& operation, const paths::MessageGroup& lanes,
                const std::vector<std::uint32_t>& hosts, base::Nanos patience) {
  constexpr std::size_t named_max = 12;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(hosts.size(), named_max); ++i)
    names.push_back(lanes.host_name(hosts[i]));
  const std::size_t others = hosts.size() - names.size();
  throw paths::TravelError(
      "", "", "",
      fmt::format("{}: host {} received nothing for {}; waited for {} {}{}{}", operation,
                  lanes.own_host_name(), base::format_time(patience),
                  hosts.size() == 1 ? "host" : "hosts", fmt::join(names, ", "),
                  others > 0 ? fmt::format(" and {} others", others) : "",
                  lanes.known_cause_text()),
      paths::FailureCause::deadline);
}

}  // namespace groups
