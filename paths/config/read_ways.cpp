// SPDX-License-Identifier: Apache-2.0
// paths/config/read_ways.cpp — reader of lanes and of the routes between hosts.
#include <fmt/format.h>

#include <map>

#include "paths/config/link_text.hpp"
#include "paths/config/low_level.hpp"

namespace paths {
namespace {

using base::Settings;

constexpr std::uint64_t frame_bytes_min = 1 << 10;
constexpr std::uint64_t frame_bytes_max = 1 << 30;
constexpr std::int64_t striping_max = 10'000;

/// Returns the settings of a link between clusters, for the plan; null if the link takes no time,
/// so that it needs no emulation.
Settings read_link(const Settings& link, base::Mistakes& mistakes) {
  base::MapReader reader(link, mistakes, "link");
  const LinkText text = read_link_text(reader, true);
  reader.finish();
  return text.delays || text.has_streams ? link : Settings();
}

class WayReader {
 public:
  WayReader(Plan& plan, base::Mistakes& mistakes) : plan_(plan), mistakes_(mistakes) {
    for (std::uint32_t cluster = 0; cluster < plan.clusters.size(); ++cluster)
      numbers_.try_emplace(plan.clusters[cluster], cluster);
  }

  void read(const Settings& section) {
    plan_.ways.emplace();
    plan_.ways->clusters.resize(plan_.clusters.size());
    for (std::uint32_t cluster = 0; cluster < plan_.clusters.size(); ++cluster)
      if (section.find(plan_.clusters[cluster]) == nullptr)
        mistakes_.add(
            section.position(),
            fmt::format("ways: expected those of cluster {}, found none", plan_.clusters[cluster]));
    for (const auto& [name, value] : section.entries())
      if (const auto cluster = cluster_of(name)) read_cluster(*cluster, value);
  }

 private:
  std::optional<std::uint32_t> cluster_of(const Settings& name) {
    if (const auto found = numbers_.find(name.text()); found != numbers_.end())
      return found->second;
    mistakes_.add(name.position(),
                  "ways: " + not_named("the name of a cluster", name,
                                       {plan_.clusters.begin(), plan_.clusters.end()}));
    return std::nullopt;
  }

  void read_cluster(std::uint32_t cluster, const Settings& value) {
    base::MapReader reader(value, mistakes_, "ways of cluster " + plan_.clusters[cluster]);
    const Settings exit = reader.take_required("exit", "the name of a host");
    const Settings network = reader.take("network");
    const Settings to = reader.take("to");
    const Settings rate = reader.take("rate");
    reader.bits_per_second("rate", 0);
    Ways::Cluster& read = plan_.ways->clusters[cluster];
    if (!network.is_null()) read_network_text(network, read, mistakes_);
    read_uplink_text(reader, rate, read);
    reader.finish();
    const auto host = plan_.host_named(exit.text());
    if (host && plan_.hosts[*host].cluster == cluster) {
      read.exit = *host;
    } else if (exit.is_scalar()) {
      mistakes_.add(exit.position(), fmt::format("exit: expected a host of cluster {}, found '{}'",
                                                 plan_.clusters[cluster], exit.text()));
    }
    for (const auto& [name, link] : to.entries()) {
      const auto other = cluster_of(name);
      if (!other) continue;
      if (*other == cluster)
        mistakes_.add(name.position(), "to: expected another cluster, found the same");
      plan_.ways->links[{cluster, *other}] = read_link(link, mistakes_);
    }
  }

  Plan& plan_;
  base::Mistakes& mistakes_;
  std::map<std::string, std::uint32_t> numbers_;  // indexes of clusters, keyed by name
};

void read_lanes(const Settings& section, Plan& plan, base::Mistakes& mistakes) {
  plan.lanes.is_written = true;
  base::MapReader reader(section, mistakes, "lanes");
  plan.lanes.inbox_bytes = reader.bytes("inbox", plan.lanes.inbox_bytes);
  if (const Settings frame = reader.take("frame"); frame.text() == "unlimited") {
    plan.lanes.frame_bytes = 0;
  } else if (reader.has("frame")) {
    plan.lanes.frame_bytes = reader.bytes("frame", plan.lanes.frame_bytes);
    if (plan.lanes.frame_bytes < frame_bytes_min || plan.lanes.frame_bytes > frame_bytes_max)
      reader.mistake("frame", fmt::format("expected a size from {} to {}, or unlimited, found {}",
                                          base::format_bytes(frame_bytes_min),
                                          base::format_bytes(frame_bytes_max), frame.describe()));
  }
  plan.lanes.striping = static_cast<std::uint32_t>(reader.integer("striping", 1, 1, striping_max));
  reader.finish();
}

}  // namespace

void read_ways(base::MapReader& reader, Plan& plan, base::Mistakes& mistakes) {
  if (reader.has("lanes")) read_lanes(reader.take("lanes"), plan, mistakes);
  if (!reader.has("ways")) return;
  const Settings ways = reader.take("ways");
  if (ways.is_map())
    WayReader(plan, mistakes).read(ways);
  else
    reader.mistake("ways", "expected a map of clusters, found " + ways.describe());
}

}  // namespace paths
