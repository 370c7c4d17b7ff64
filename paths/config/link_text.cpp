// SPDX-License-Identifier: Apache-2.0
// paths/config/link_text.cpp — settings of links, and checks of their combinations.
#include "paths/config/link_text.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace paths {
namespace {

using base::Settings;

constexpr std::array<std::string_view, 3> link_keys = {"latency", "bandwidth", "trace"};
constexpr std::array<std::string_view, 3> stream_keys = {"stream_rate", "window", "streams"};
constexpr std::int64_t streams_most = 1'000'000;

template <class Keys>
bool is_one_of(const Settings& key, const Keys& keys) {
  return std::find(keys.begin(), keys.end(), key.text()) != keys.end();
}

void check_window(base::MapReader& reader, bool has_latency) {
  if (reader.has("trace"))
    reader.mistake("window",
                   "expected stream_rate with a trace: the rate of a window follows from the "
                   "latency, which changes in it");
  else if (!has_latency)
    reader.mistake("window", "expected also a latency, from which its rate follows");
  if (reader.has("stream_rate"))
    reader.mistake("window", "expected either stream_rate or window, found both");
}

bool read_streams(base::MapReader& reader, bool has_latency) {
  const bool has_rate = reader.bits_per_second("stream_rate", 0) > 0;
  const bool has_window = reader.has("window");
  if (has_window && reader.bytes("window", 1) == 0)
    reader.mistake("window", "expected more than 0 bytes");
  reader.integer("streams", 1, 1, streams_most);
  if (has_window) check_window(reader, has_latency);
  if (reader.has("streams") && !has_rate && !has_window)
    reader.mistake("streams", "expected also stream_rate or window: the rate of each of them");
  return has_rate || has_window;
}

}  // namespace

LinkText read_link_text(base::MapReader& reader, bool is_between_clusters) {
  LinkText link;
  std::vector<Settings::Entry> entries;
  for (const Settings::Entry& entry : reader.map().entries())
    if (is_one_of(entry.first, link_keys) ||
        (is_between_clusters && is_one_of(entry.first, stream_keys)))
      entries.push_back(entry);
  link.settings = Settings::map(std::move(entries), reader.map().position());
  const bool has_latency = reader.time("latency", base::Nanos{0}) > base::Nanos{0};
  const bool has_bandwidth = reader.bits_per_second("bandwidth", 0) > 0;
  const bool has_trace = reader.word("trace").has_value();
  if (has_trace && reader.has("latency"))
    reader.mistake("trace", "expected either latency or trace, found both");
  link.delays = has_latency || has_bandwidth || has_trace;
  if (is_between_clusters) link.has_streams = read_streams(reader, has_latency);
  return link;
}

Settings LinkText::path_settings() const {
  if (!has_streams) return settings;
  std::vector<Settings::Entry> entries;
  for (const Settings::Entry& entry : settings.entries())
    if (is_one_of(entry.first, link_keys)) entries.push_back(entry);
  return Settings::map(std::move(entries), settings.position());
}

void read_network_text(const Settings& network, Ways::Cluster& cluster, base::Mistakes& mistakes) {
  base::MapReader reader(network, mistakes, "network");
  const LinkText link = read_link_text(reader, false);
  cluster.receives = reader.flag("receiving", false);
  if (cluster.receives && reader.has("trace"))
    reader.mistake("receiving", "expected a bandwidth with it, found a trace");
  else if (cluster.receives && reader.bits_per_second("bandwidth", 0) == 0)
    reader.mistake("receiving", "expected also a bandwidth, at which hosts receive");
  reader.finish();
  if (link.delays) cluster.network = link.settings;
}

void read_uplink_text(base::MapReader& reader, const Settings& rate, Ways::Cluster& cluster) {
  cluster.has_switch = reader.choice("uplink", {"exit", "switch"}, "exit") == "switch";
  if (rate.is_null()) return;
  cluster.rate = rate;
  if (cluster.network.find("trace") != nullptr)
    reader.mistakes().add(rate.position(),
                          "rate: expected none where the network is from a trace, which has its "
                          "own bandwidths");
  if (cluster.has_switch)
    reader.mistake(
        "uplink",
        "expected exit with a rate: nothing passes a gateway of a cluster that has a switch");
}

}  // namespace paths
