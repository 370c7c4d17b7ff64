// SPDX-License-Identifier: Apache-2.0
// commands/paper_parameters.cpp — derivation of the paper's parameters.
#include "commands/paper_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "groups/execution/execution.hpp"

namespace commands {
namespace {

/// Costs of larger frames are not measured.
constexpr std::uint64_t largest_shown = 64 << 10;

}  // namespace

using base::Nanos;

bool PaperParameters::is_blocking() const {
  constexpr double blocking_share = 0.8;  // the paper says "comparable"
  return static_cast<double>(or_time.count()) >=
         blocking_share * static_cast<double>(os_g_or.count());
}

PaperParameters paper_parameters(const tuning::FrameCosts& costs, const tuning::MeasuredLink& link,
                                 std::uint64_t frame_bytes, std::uint64_t bytes) {
  const Nanos sending(link.bits_per_second > 0
                          ? std::llround(static_cast<double>(bytes) * 8e9 / link.bits_per_second)
                          : 0);
  PaperParameters found;
  found.os_start = costs.send.at(bytes);
  found.or_time = costs.receive.at(bytes);
  found.g = link.latency + sending;
  found.os_g_or = found.os_start + found.g + found.or_time;
  found.os_spike = std::max({found.os_start, sending, found.or_time});
  found.initial_interval = std::max<std::uint64_t>(1, costs.window(frame_bytes) / bytes);
  return found;
}

std::string paper_lines(const std::string& name, const tuning::FrameCosts& costs,
                        const tuning::MeasuredLink& link, std::uint64_t frame_bytes) {
  const std::uint64_t frame = std::min(frame_bytes, largest_shown);
  std::string lines;
  for (const std::uint64_t bytes :
       std::set<std::uint64_t>{1, std::min(frame, groups::little_bytes), frame}) {
    const PaperParameters found = paper_parameters(costs, link, frame_bytes, bytes);
    lines += fmt::format(
        "measure: {}: {}: os_g_or {}, os_start {}, g {}, or {} ({}); initial_interval {}, "
        "os_spike {}\n",
        name, base::format_bytes(bytes), base::format_time(found.os_g_or),
        base::format_time(found.os_start), base::format_time(found.g),
        base::format_time(found.or_time), found.is_blocking() ? "blocking" : "immediate",
        found.initial_interval, base::format_time(found.os_spike));
  }
  return lines;
}

}  // namespace commands
