// SPDX-License-Identifier: Apache-2.0
// base/link_model/measured_network.hpp — measured links, and the file that stores them
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/link_model/host_costs.hpp"
#include "base/settings.hpp"
#include "base/units.hpp"

namespace tuning {

/// Measured values of one direction between two clusters, or of the network inside a cluster.
struct MeasuredLink {
  base::Nanos latency{0};
  double bits_per_second = 0;  ///< bandwidth of one stream; 0 = unlimited
  std::size_t streams = 1;     ///< number of streams that reach full rate at the same time
  bool is_least = false;       ///< true = `streams` is a lower bound; more were not tried
  double latency_spread = 0, bandwidth_spread = 0;  ///< spreads as fractions of the values
  base::Position position = {};

  /// Returns the config settings of this link. All of them have the link's position in the file.
  /// Several streams give the keys `stream_rate` and `streams`. A single stream gives `bandwidth`,
  /// because it uses the whole bandwidth of the link.
  base::Settings text() const;
};

/// The measured network: a link for each pair of clusters in each direction.
struct MeasuredNetwork {
  struct Cluster {
    std::string name;
    std::optional<MeasuredLink> network;  ///< nullopt if fewer than two hosts can send
    base::Position position = {};
  };
  std::vector<Cluster> clusters;
  std::map<std::pair<std::string, std::string>, MeasuredLink> links;
  std::optional<HostCosts> costs = {};  ///< empty = not measured
  base::Position position = {};         ///< position of the map `clusters` in the file
};

/// parse_measured_network() reads the text of a network file. load_measured_network() opens the
/// file and reads its text. An example of such a text:
///
///     clusters:
///       alpha: {latency: 60us, bandwidth: 940Mbit}
///       beta: {}
///     links:
///       - {from: alpha, to: beta, latency: 50ms, bandwidth: 10Mbit, streams: 8}
///       - {from: beta, to: alpha, latency: 50ms, bandwidth: 10Mbit, streams_at_least: 16}
///
/// Each link may have `latency_spread` and `bandwidth_spread`.
/// Throws: ConfigError with all mistakes: missing links, duplicate links, unknown clusters, and
///   invalid latencies, bandwidths or numbers of streams.
MeasuredNetwork parse_measured_network(std::string_view text, const std::string& file);
MeasuredNetwork load_measured_network(const std::string& file);

/// Returns the text of the file; the same network gives the same bytes. `of` is the config that
/// names the measured hosts.
std::string print(const MeasuredNetwork& network, const std::string& of);

/// Rounds to four significant digits, which are exact enough for a measured figure.
double rounded(double value);

/// Returns a readable text such as "10ms, 9.98Mbit a stream, 8 streams".
std::string describe(const MeasuredLink& link);

/// Compares two measurements. Returns a line for each link and cluster that is new, missing, or
/// changed. A difference counts as a change only if it exceeds the sum of both spreads plus 1 %.
/// For costs of hosts, the difference must exceed the sum of both spreads plus 5 %. The time to
/// wake up has no spread, so its difference must exceed 25 %.
std::vector<std::string> changes(const MeasuredNetwork& before, const MeasuredNetwork& now);

}  // namespace tuning
