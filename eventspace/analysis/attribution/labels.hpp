// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/labels.hpp — causes of time in a run, with the responsible
// objects.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "eventspace/analysis/report/time_report.hpp"

namespace eventspace {

/// Reason for which the cause of a time is unknown.
enum class UnknownReason : std::uint8_t {
  missing_records,      ///< records of the host are missing
  clocks_not_compared,  ///< the time depends on a host whose clock cannot be compared
  thread_not_begun,     ///< the chain of waits leads to a thread that began after the run's begin
  circle,               ///< records contradict each other, so the chain of waits never ends
};
inline constexpr std::uint32_t unknown_reasons = 4;

/// A cause of time, and the object that is responsible for it.
struct TimeLabel {
  TimeCause cause = TimeCause::unknown;
  /// The meaning of `one` and `other` depends on the cause:
  /// - computing, noise: rank of the thread, and number of the place in the program
  /// - link: the two clusters, in the direction of the message
  /// - network: the two hosts, in the direction of the message
  /// - hold, folding: number of the wrapper
  /// - folding in a group's operation: none, and number of the host
  /// - runtime: number of the host
  /// - sending: the sending host and the receiving host
  /// - unknown: a host, and an UnknownReason
  std::uint32_t one = 0;
  std::uint32_t other = 0;
  /// For a link: nanoseconds that it needs for each byte, and its declared latency; 0 = not known.
  /// Labels that differ only in these two members are equal.
  double nanos_per_byte = 0;
  double latency_nanos = 0;
  friend bool operator==(const TimeLabel& a, const TimeLabel& b) {
    return a.cause == b.cause && a.one == b.one && a.other == b.other;
  }
};

/// Assigns numbers to labels, from 0. The constructor adds the labels of threads, hosts and unknown
/// times in a fixed order, so that their numbers can be computed without a look-up.
class Labels {
 public:
  Labels(std::uint32_t hosts, std::uint32_t threads) : hosts_(hosts), threads_(threads) {
    for (std::uint32_t thread = 0; thread < threads; ++thread)
      number_of({TimeCause::computing, thread, 0});
    for (std::uint32_t host = 0; host < hosts; ++host) number_of({TimeCause::runtime, host, 0});
    for (std::uint32_t host = 0; host < hosts; ++host)
      for (std::uint32_t reason = 0; reason < unknown_reasons; ++reason)
        number_of({TimeCause::unknown, host, reason});
  }
  std::uint32_t number_of(const TimeLabel& label) {
    const auto [found, is_new] =
        numbers_.try_emplace(label, static_cast<std::uint32_t>(labels_.size()));
    if (is_new) labels_.push_back(label);
    TimeLabel& kept = labels_[found->second];
    kept.nanos_per_byte = std::max(kept.nanos_per_byte, label.nanos_per_byte);
    kept.latency_nanos = std::max(kept.latency_nanos, label.latency_nanos);
    return found->second;
  }
  std::uint32_t computing_of(std::uint32_t thread) const { return thread; }
  std::uint32_t runtime_of(std::uint32_t host) const { return threads_ + host; }
  std::uint32_t unknown_of(std::uint32_t host, UnknownReason reason) const {
    return threads_ + hosts_ + host * unknown_reasons + static_cast<std::uint32_t>(reason);
  }
  const TimeLabel& at(std::uint32_t number) const { return labels_[number]; }
  std::uint32_t count() const { return static_cast<std::uint32_t>(labels_.size()); }

 private:
  struct Hash {
    std::size_t operator()(const TimeLabel& label) const {
      const std::uint64_t key = std::uint64_t{label.one} << 32 | label.other;
      return (key * 31 + static_cast<std::uint64_t>(label.cause)) * 0x9e3779b97f4a7c15 >> 8;
    }
  };
  std::uint32_t hosts_;
  std::uint32_t threads_;
  std::vector<TimeLabel> labels_;
  std::unordered_map<TimeLabel, std::uint32_t, Hash> numbers_;
};

}  // namespace eventspace
