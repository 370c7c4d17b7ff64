// SPDX-License-Identifier: Apache-2.0
// base/link_model/measured_network.cpp — reading, writing and comparing of measured networks
#include "base/link_model/measured_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string_view>

#include "base/errors.hpp"
#include "base/near_match.hpp"

namespace tuning {
namespace {

using base::Settings;
using Pair = std::pair<std::string, std::string>;

constexpr std::int64_t streams_most = 1'000'000;
constexpr double spread_most = 1e6;

MeasuredLink read_figures(base::MapReader& reader) {
  MeasuredLink link;
  link.position = reader.map().position();
  reader.take_required("latency", "a time such as 30ms");
  link.latency = reader.time("latency", base::Nanos(0));
  reader.take_required("bandwidth", "a rate such as 100Mbit, or unlimited");
  link.bits_per_second = reader.bits_per_second("bandwidth", 0);
  link.latency_spread = reader.number("latency_spread", 0, 0, spread_most);
  link.bandwidth_spread = reader.number("bandwidth_spread", 0, 0, spread_most);
  return link;
}

void read_streams(base::MapReader& reader, MeasuredLink& link) {
  link.is_least = reader.has("streams_at_least");
  if (link.is_least && reader.has("streams"))
    reader.mistake("streams", "expected either streams or streams_at_least, found both");
  const char* const key = link.is_least ? "streams_at_least" : "streams";
  link.streams = static_cast<std::size_t>(reader.integer(key, 1, 1, streams_most));
}

class NetworkReader {
 public:
  NetworkReader(MeasuredNetwork& network, base::Mistakes& mistakes)
      : network_(network), mistakes_(mistakes) {}

  void read_cluster(const Settings& name, const Settings& value) {
    MeasuredNetwork::Cluster cluster{name.text(), {}, name.position()};
    base::MapReader reader(value, mistakes_, "cluster " + name.text());
    if (!value.entries().empty()) cluster.network = read_figures(reader);
    reader.finish();
    network_.clusters.push_back(std::move(cluster));
  }

  void read_link(const Settings& value) {
    base::MapReader reader(value, mistakes_, "link");
    const Settings from = reader.take_required("from", "the name of a cluster");
    const Settings to = reader.take_required("to", "the name of a cluster");
    MeasuredLink link = read_figures(reader);
    read_streams(reader, link);
    reader.finish();
    const bool both_known = is_known(from) & is_known(to);
    if (!both_known) return;
    if (from.text() == to.text())
      return mistakes_.add(to.position(),
                           fmt::format("link: expected two clusters, found {} twice", to.text()));
    const auto [first, is_new] = network_.links.emplace(Pair(from.text(), to.text()), link);
    if (!is_new)
      mistakes_.add(value.position(),
                    fmt::format("link: a second one from {} to {}, besides that at {}", from.text(),
                                to.text(), first->second.position.text()));
  }

  void see_whether_all_are_there(const base::Position& links) {
    for (const auto& from : network_.clusters)
      for (const auto& to : network_.clusters)
        if (from.name != to.name && !network_.links.contains({from.name, to.name}))
          mistakes_.add(links, fmt::format("links: none from {} to {}; expected one for every two "
                                           "clusters, each way",
                                           from.name, to.name));
  }

 private:
  bool is_known(const Settings& name) {
    if (name.is_null()) return false;
    std::vector<std::string_view> names;
    for (const auto& cluster : network_.clusters) names.emplace_back(cluster.name);
    if (std::find(names.begin(), names.end(), name.text()) != names.end()) return true;
    const auto near = base::near_match(name.text(), names);
    mistakes_.add(name.position(),
                  fmt::format("link: expected a cluster of this file, found {}{}", name.describe(),
                              near ? fmt::format("; did you mean '{}'?", *near) : ""));
    return false;
  }

  MeasuredNetwork& network_;
  base::Mistakes& mistakes_;
};

std::string time_text(base::Nanos time) {
  const auto nanos = static_cast<std::int64_t>(rounded(static_cast<double>(time.count())));
  return base::format_time(base::Nanos(nanos));
}

/// Prints whole bits per second, so that a rate reads back unchanged.
std::string rate_text(double rate) {
  if (rate <= 0) return "unlimited";
  return base::format_bits_per_second(std::max(1.0, std::round(rounded(rate))));
}

std::string figures(const MeasuredLink& link) {
  return fmt::format("latency: {}, latency_spread: {:.4f}, bandwidth: {}, bandwidth_spread: {:.4f}",
                     time_text(link.latency), link.latency_spread, rate_text(link.bits_per_second),
                     link.bandwidth_spread);
}

bool differs(double before, double now, double spread, double least = 0.01) {
  return std::abs(now - before) > std::max(before, now) * (spread + least);
}

bool differs(const MeasuredLink& before, const MeasuredLink& now) {
  const auto nanos = [](base::Nanos time) { return static_cast<double>(time.count()); };
  return differs(nanos(before.latency), nanos(now.latency),
                 before.latency_spread + now.latency_spread) ||
         differs(before.bits_per_second, now.bits_per_second,
                 before.bandwidth_spread + now.bandwidth_spread) ||
         before.streams != now.streams || before.is_least != now.is_least;
}

void compare(const std::string& name, const MeasuredLink* before, const MeasuredLink* now,
             std::vector<std::string>& lines) {
  if (now == nullptr && before != nullptr)
    lines.push_back(fmt::format("{}: gone; was {}", name, describe(*before)));
  else if (before == nullptr && now != nullptr)
    lines.push_back(fmt::format("{}: new: {}", name, describe(*now)));
  else if (before != nullptr && differs(*before, *now))
    lines.push_back(fmt::format("{}: {}; was {}", name, describe(*now), describe(*before)));
}

/// Adds a line for each changed cost of hosts that does not depend on the frame. A cost of 0 in
/// `before` was not measured.
void compare_other_costs(const HostCosts& before, const HostCosts& now,
                         std::vector<std::string>& lines) {
  constexpr double least_of_work = 0.05;
  constexpr double least_of_wake_up = 0.25;  // the spread of a wake-up is not known
  const auto compare_work = [&](const char* what, double old, double found, double spread) {
    if (old > 0 && differs(old, found, spread, least_of_work))
      lines.push_back(
          fmt::format("costs of {}: {:.4g} ns per byte; was {:.4g} ns per byte", what, found, old));
  };
  compare_work("folds", before.fold_nanos_per_byte, now.fold_nanos_per_byte,
               before.fold_spread + now.fold_spread);
  compare_work("copies", before.copy_nanos_per_byte, now.copy_nanos_per_byte,
               before.copy_spread + now.copy_spread);
  const auto cores_text = [](std::uint32_t cores) {
    return cores == 0 ? std::string("one for each host") : std::to_string(cores);
  };
  if (before.cores != now.cores)
    lines.push_back(fmt::format("cores of a machine: {}; was {}", cores_text(now.cores),
                                cores_text(before.cores)));
  const auto nanos = [](base::Nanos time) { return static_cast<double>(time.count()); };
  if (before.wake_up > base::Nanos(0) &&
      differs(nanos(before.wake_up), nanos(now.wake_up), 0, least_of_wake_up))
    lines.push_back(fmt::format("time to wake up: {}; was {}", time_text(now.wake_up),
                                time_text(before.wake_up)));
}

/// Adds a line for each changed cost of hosts.
void compare_costs(const HostCosts& before, const HostCosts& now, std::vector<std::string>& lines) {
  const auto compare = [&](const std::string& where, const auto& old, const auto& found) {
    if (old != nullptr && found != nullptr && differs(*old, *found))
      lines.push_back(fmt::format("costs {}: {}; was {}", where, describe(*found), describe(*old)));
  };
  if (now.links.empty()) compare("of all frames", before.frames, now.frames);
  for (const HostCosts::Link& link : now.links)
    compare(link.from == link.to ? "inside " + link.from : link.from + " to " + link.to,
            before.between(link.from, link.to), link.costs);
  compare_other_costs(before, now, lines);
}

const MeasuredLink* network_of(const MeasuredNetwork& network, const std::string& cluster) {
  for (const auto& one : network.clusters)
    if (one.name == cluster && one.network) return &*one.network;
  return nullptr;
}

const MeasuredLink* link_of(const MeasuredNetwork& network, const Pair& pair) {
  const auto found = network.links.find(pair);
  return found == network.links.end() ? nullptr : &found->second;
}

template <class Visit>
void for_pairs(const MeasuredNetwork& network, Visit visit) {
  for (const auto& from : network.clusters)
    for (const auto& to : network.clusters)
      if (from.name != to.name) visit(Pair(from.name, to.name));
}

MeasuredNetwork read(const Settings& settings) {
  MeasuredNetwork network;
  base::Mistakes mistakes;
  base::MapReader reader(settings, mistakes, "the file of a network");
  const Settings clusters = reader.take_required("clusters", "a map of clusters");
  const Settings links = reader.take("links");
  const Settings costs = reader.take("costs");
  if (!clusters.is_null() && !clusters.is_map())
    reader.mistake("clusters", "expected a map of clusters, found " + clusters.describe());
  if (!links.is_null() && !links.is_list())
    reader.mistake("links", "expected a list, found " + links.describe());
  reader.finish();
  network.position = clusters.is_null() ? settings.position() : clusters.position();
  NetworkReader inside(network, mistakes);
  for (const auto& [name, value] : clusters.entries()) inside.read_cluster(name, value);
  for (const Settings& link : links.items()) inside.read_link(link);
  if (mistakes.empty())
    inside.see_whether_all_are_there(links.is_null() ? settings.position() : links.position());
  if (!costs.is_null()) {
    network.costs = read_host_costs(costs, mistakes);
    network.costs->position = costs.position();
    std::vector<std::string> names;
    for (const auto& cluster : network.clusters) names.push_back(cluster.name);
    check_clusters(*network.costs, names, mistakes);
  }
  mistakes.throw_if_any();
  return network;
}

/// Quotes the words that YAML reads as null.
std::string word(const std::string& name) {
  const bool is_nothing = name == "~" || name == "null" || name == "Null" || name == "NULL";
  return is_nothing ? '"' + name + '"' : name;
}

}  // namespace

Settings MeasuredLink::text() const {
  std::vector<Settings::Entry> entries;
  const auto add = [&](const char* key, std::string value) {
    entries.emplace_back(Settings::scalar(key, position),
                         Settings::scalar(std::move(value), position));
  };
  add("latency", base::format_time(latency));
  const bool has_streams = streams > 1 && bits_per_second > 0;
  const std::string rate =
      bits_per_second > 0 ? base::format_bits_per_second(bits_per_second) : "unlimited";
  add(has_streams ? "stream_rate" : "bandwidth", rate);
  if (has_streams) add("streams", std::to_string(streams));
  return Settings::map(std::move(entries), position);
}

MeasuredNetwork parse_measured_network(std::string_view text, const std::string& file) {
  return read(base::parse_settings(text, file));
}

MeasuredNetwork load_measured_network(const std::string& file) {
  return read(base::load_settings(file));
}

std::string print(const MeasuredNetwork& network, const std::string& of) {
  std::string text = fmt::format(
      "# Measured by `paths measure` between the hosts of {}.\n# `links: {{from: FILE}}` in a "
      "config reads it. A bandwidth is that of one stream; `streams`\n# is how many reach it at "
      "once. A spread is a fraction of the figure before it.\nclusters:\n",
      of);
  for (const auto& cluster : network.clusters)
    text += fmt::format("  {}: {{{}}}\n", word(cluster.name),
                        cluster.network ? figures(*cluster.network) : "");
  text += network.links.empty() ? "links: []\n" : "links:\n";
  for_pairs(network, [&](const Pair& pair) {
    const MeasuredLink* const link = link_of(network, pair);
    if (link == nullptr) return;
    text +=
        fmt::format("  - {{from: {}, to: {}, {}, {}: {}}}\n", word(pair.first), word(pair.second),
                    figures(*link), link->is_least ? "streams_at_least" : "streams", link->streams);
  });
  if (network.costs)
    text +=
        base::print_settings(base::MapBuilder().add("costs", settings_of(*network.costs)).done());
  return text;
}

double rounded(double value) {
  if (!(value > 0)) return 0;
  return std::stod(fmt::format("{:.3e}", value));  // the double also prints as four digits
}

std::string describe(const MeasuredLink& link) {
  if (link.bits_per_second <= 0) return time_text(link.latency) + ", unlimited";
  return fmt::format(
      "{}, {}{}", time_text(link.latency), rate_text(link.bits_per_second),
      link.streams == 1 && !link.is_least
          ? ""
          : fmt::format(" a stream, {}{} streams", link.is_least ? "at least " : "", link.streams));
}

std::vector<std::string> changes(const MeasuredNetwork& before, const MeasuredNetwork& now) {
  std::vector<std::string> lines;
  for (const auto& cluster : now.clusters)
    if (const MeasuredLink* const found = network_of(now, cluster.name))
      compare(cluster.name, network_of(before, cluster.name), found, lines);
  for (const auto& cluster : before.clusters)
    if (network_of(now, cluster.name) == nullptr)
      compare(cluster.name, network_of(before, cluster.name), nullptr, lines);
  const auto name = [](const Pair& pair) { return pair.first + " to " + pair.second; };
  for_pairs(now, [&](const Pair& pair) {
    if (const MeasuredLink* const found = link_of(now, pair))
      compare(name(pair), link_of(before, pair), found, lines);
  });
  for_pairs(before, [&](const Pair& pair) {
    if (link_of(now, pair) == nullptr) compare(name(pair), link_of(before, pair), nullptr, lines);
  });
  if (before.costs && now.costs) compare_costs(*before.costs, *now.costs, lines);
  return lines;
}

}  // namespace tuning
