// SPDX-License-Identifier: Apache-2.0
// base/link_model/measured_network.hpp — what links were found to be, in a file.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/settings.hpp"
#include "base/units.hpp"

namespace tuning {

/// One direction between two clusters, or the network inside of one.
struct MeasuredLink {
  base::Nanos latency{0};
  double bits_per_second = 0;  ///< of one stream; 0: unlimited
  std::size_t streams = 1;     ///< that go at full rate at once
  bool is_least = false;       ///< of the streams: perhaps more do, no more were tried
  double latency_spread = 0, bandwidth_spread = 0;  ///< as parts of those
  base::Position position = {};                     ///< where it is written

  /// As a config has it, of the same place: streams of which one fills the link are its bandwidth.
  base::Settings text() const;
};

/// A link for every two clusters, each way.
struct MeasuredNetwork {
  struct Cluster {
    std::string name;
    std::optional<MeasuredLink> network;  ///< none: it has not two hosts that could send
    base::Position position = {};
  };
  std::vector<Cluster> clusters;
  std::map<std::pair<std::string, std::string>, MeasuredLink> links;
  base::Position position = {};  ///< of the clusters
};

/// What the file says:
///
///     clusters:
///       alpha: {latency: 60us, bandwidth: 940Mbit}
///       beta: {}
///     links:
///       - {from: alpha, to: beta, latency: 50ms, bandwidth: 10Mbit, streams: 8}
///       - {from: beta, to: alpha, latency: 50ms, bandwidth: 10Mbit, streams_at_least: 16}
///
/// with `latency_spread` and `bandwidth_spread`. Mistakes are a link that is missing, double or of
/// a cluster that there is not, and what a latency, a bandwidth, a number of streams may not be.
MeasuredNetwork read_measured_network(const base::Settings& settings, base::Mistakes& mistakes);
/// Throw ConfigError with all of them.
MeasuredNetwork parse_measured_network(std::string_view text, const std::string& file);
MeasuredNetwork load_measured_network(const std::string& file);

/// The file: the same network gives the same bytes. `of` is the config whose hosts it is between.
std::string print(const MeasuredNetwork& network, const std::string& of);

/// "10ms, 9.98Mbit a stream, 8 streams", for people.
std::string describe(const MeasuredLink& link);

/// A line for each link and cluster that is new, gone, or another than the old file has it, by more
/// than the spreads of both and 1 %.
std::vector<std::string> changes(const MeasuredNetwork& before, const MeasuredNetwork& now);

}  // namespace tuning
