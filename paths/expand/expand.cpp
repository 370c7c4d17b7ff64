// SPDX-License-Identifier: Apache-2.0
// paths/expand.cpp — writes what is declared of clusters out as hosts, wrappers and paths.
#include "paths/expand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "paths/cluster_tuples.hpp"
#include "paths/config_low_level.hpp"
#include "paths/instrument.hpp"
#include "paths/multi_cluster.hpp"

namespace paths {
namespace {

using base::Settings;
using Entries = std::vector<Settings::Entry>;
using Way = std::vector<Settings>;
using Collective = MultiCluster::Collective;
using Exchange = MultiCluster::Exchange;

/// An exchange has elements for every thread, and a million threads may be a typing error.
constexpr std::uint64_t exchanging_threads_max = 100'000;

void append(Way& way, const Way& rest) { way.insert(way.end(), rest.begin(), rest.end()); }

class Expansion {
 public:
  Expansion(const MultiCluster& all, base::Mistakes& mistakes) : all_(all), mistakes_(mistakes) {}

  void write_hosts();
  void write_collective(const Collective& collective);
  void write_exchange(const Exchange& exchange);
  void write_element(const MultiCluster::Element& element);

  Entries hosts, elements, wrappers;
  std::vector<Settings> paths;

 private:
  /// A collective while it is written: names of its parts, and a position for all of them.
  struct Writing {
    const Collective& collective;
    base::Position position;
    std::string name(std::string_view part) const {
      return fmt::format("{}.{}", collective.name.text(), part);
    }
  };
  /// Who combines with whom inside a cluster: hosts in order, each with those that send to it.
  struct ClusterTree {
    std::vector<std::uint32_t> hosts;  ///< with threads, in the config's order
    std::uint32_t root = 0;
    std::unordered_map<std::uint32_t, std::uint32_t> parent;
    std::unordered_map<std::uint32_t, std::uint32_t> children;  ///< how many
  };

  ClusterTree cluster_tree(const Collective& collective, std::uint32_t cluster) const;
  void write_cluster(const Writing& writing, std::uint32_t cluster, const Way& rest);
  Way climb(const Writing& writing, const ClusterTree& tree, std::uint32_t cluster,
            std::uint32_t host, const Way& rest);
  void write_tree(const Writing& writing, const std::vector<std::uint32_t>& clusters);
  void write_all_to_all(const Writing& writing, const std::vector<std::uint32_t>& clusters);
  void write_transfer(const Writing& writing, std::uint32_t into, std::uint32_t from);
  void write_prefetch(const Writing& writing, std::uint32_t into, std::uint32_t from);
  void write_push(const Writing& writing, std::uint32_t into, std::uint32_t from);
  void write_asks(const Writing& writing, std::uint32_t into, std::uint32_t from);
  /// Of one kind, in the root of the cluster `here`, for its dealings with another cluster.
  std::string between(const Writing& writing, std::string_view kind, std::uint32_t here,
                      std::uint32_t other) const {
    return writing.name(
        fmt::format("{}.{}.{}", kind, all_.cluster_name(here), all_.cluster_name(other)));
  }

  Settings join(const Writing& writing, std::string_view part, std::uint32_t host,
                std::optional<std::uint32_t> root_slot);
  std::optional<std::uint32_t> root_slot(const Writing& writing, const ClusterTree& tree) const;
  Settings check(const Writing& writing, const std::string& result, const Way& combine,
                 const Way& asks);
  void element(const Writing& writing, const std::string& name, std::uint32_t host,
               const pastset::Template& tuple, std::uint64_t keep_newest);
  bool checks_condition(const Collective& collective) const {
    return collective.all_to_all || !collective.written_condition.is_null();
  }

  /// A thread of the whole program.
  struct Place {
    std::uint32_t host = 0, thread = 0;
  };
  void write_passing(const Exchange& exchange, const std::string& element, const Place& mover,
                     const Place& receiver);

  void route(Way& way, std::uint32_t from, std::uint32_t to, const Settings& asker);
  void hop(Way& way, std::uint32_t from, std::uint32_t to);
  void cross(Way& way, std::uint32_t from, std::uint32_t to, const Settings& asker);
  const MultiCluster::Link* link(std::uint32_t from, std::uint32_t to, const Settings& asker);
  Settings link_stage(const std::string& name, std::uint32_t host, const Settings& settings,
                      std::string_view role);
  Settings forward(std::uint32_t host);
  std::uint32_t exit(std::uint32_t cluster) const { return all_.clusters[cluster].exit; }
  std::uint32_t cluster_of(std::uint32_t host) const { return all_.hosts[host].cluster; }

  /// Puts a wrapper among the shared ones, once.
  void share(const std::string& name, std::string_view kind, std::uint32_t host,
             const Settings& settings, const base::Position& position);
  void add_path(const Writing& writing, std::uint32_t host, std::uint32_t threads, Way way);
  void add_path(const Settings& graph, std::uint32_t host, std::uint32_t first_thread,
                std::uint32_t threads, Way way);
  Way instrument(const std::vector<std::string>& instrumented, bool has_threads, Way way) const;

  const MultiCluster& all_;
  base::Mistakes& mistakes_;
  std::set<std::string> shared_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> missing_links_;
  std::unordered_map<std::uint32_t, Settings> forwards_;
};

Settings word(std::string text, const base::Position& position) {
  return Settings::scalar(std::move(text), position);
}

Settings::Entry entry(std::string key, Settings value) {
  const base::Position position = value.position();
  return {word(std::move(key), position), std::move(value)};
}

Settings in_place(std::string kind, Entries settings, const base::Position& position) {
  return Settings::map(
      {{word(std::move(kind), position), Settings::map(std::move(settings), position)}}, position);
}

// ---- hosts, routes

void Expansion::write_hosts() {
  for (const MultiCluster::Cluster& cluster : all_.clusters) {
    for (const std::uint32_t index : cluster.hosts) {
      const MultiCluster::Host& host = all_.hosts[index];
      Entries settings = {entry("cluster", cluster.name)};
      settings.push_back(
          entry("threads", word(std::to_string(host.threads), host.name.position())));
      if (!host.speed.is_null()) settings.push_back(entry("speed", host.speed));
      if (!host.address.is_null()) settings.push_back(entry("address", host.address));
      hosts.emplace_back(host.name, Settings::map(std::move(settings), host.name.position()));
    }
  }
}

void Expansion::share(const std::string& name, std::string_view kind, std::uint32_t host,
                      const Settings& settings, const base::Position& position) {
  if (!shared_.insert(name).second) return;
  Entries map = {entry("kind", word(std::string(kind), position)),
                 entry("host", word(all_.host_name(host), position))};
  map.insert(map.end(), settings.entries().begin(), settings.entries().end());
  wrappers.emplace_back(word(name, position), Settings::map(std::move(map), position));
}

Settings Expansion::forward(std::uint32_t host) {
  const auto [found, is_new] = forwards_.try_emplace(host);
  if (is_new) {
    const Settings& name = all_.hosts[host].name;
    found->second = in_place("forward", {entry("to", name)}, name.position());
  }
  return found->second;
}

Settings Expansion::link_stage(const std::string& name, std::uint32_t host,
                               const Settings& settings, std::string_view role) {
  share(name, "emulate_link", host, settings, settings.position());
  return Settings::map(
      {{word(name, settings.position()), word(std::string(role), settings.position())}},
      settings.position());
}

/// One hop inside a cluster.
void Expansion::hop(Way& way, std::uint32_t from, std::uint32_t to) {
  if (from == to) return;
  const auto& network = all_.clusters[cluster_of(from)].network;
  if (network) way.push_back(link_stage("network." + all_.host_name(from), from, *network, "down"));
  way.push_back(forward(to));
  if (network) way.push_back(link_stage("network." + all_.host_name(to), to, *network, "up"));
}

const MultiCluster::Link* Expansion::link(std::uint32_t from, std::uint32_t to,
                                          const Settings& asker) {
  const auto found = all_.links.find({from, to});
  if (found != all_.links.end()) return &found->second;
  const bool one_way = all_.links.contains({to, from});
  const bool is_new =
      missing_links_.insert({from, to}).second && (one_way || !missing_links_.contains({to, from}));
  if (is_new)
    mistakes_.add(
        asker.position(),
        fmt::format("links: {} needs one {} {} {} {}{}, found none", asker.text(),
                    one_way ? "from" : "between", all_.cluster_name(from), one_way ? "to" : "and",
                    all_.cluster_name(to),
                    one_way ? ", as there is one the other way and answers must come back" : ""));
  return nullptr;
}

/// The hop between two clusters: what leaves each is delayed where it leaves.
void Expansion::cross(Way& way, std::uint32_t from, std::uint32_t to, const Settings& asker) {
  const MultiCluster::Link* there = link(from, to, asker);
  const MultiCluster::Link* back = link(to, from, asker);
  if (there == nullptr || back == nullptr) return;
  const std::string& a = all_.cluster_name(from);
  const std::string& b = all_.cluster_name(to);
  if (there->delays)
    way.push_back(link_stage(fmt::format("wan.{}.{}", a, b), exit(from), there->settings, "down"));
  way.push_back(forward(exit(to)));
  if (back->delays)
    way.push_back(link_stage(fmt::format("wan.{}.{}", b, a), exit(to), back->settings, "up"));
}

void Expansion::route(Way& way, std::uint32_t from, std::uint32_t to, const Settings& asker) {
  if (cluster_of(from) == cluster_of(to)) return hop(way, from, to);
  hop(way, from, exit(cluster_of(from)));
  cross(way, cluster_of(from), cluster_of(to), asker);
  hop(way, exit(cluster_of(to)), to);
}

// ---- paths, elements

void Expansion::add_path(const Settings& graph, std::uint32_t host, std::uint32_t first_thread,
                         std::uint32_t threads, Way way) {
  const base::Position& position = graph.position();
  Entries path = {entry("graph", graph), entry("host", word(all_.host_name(host), position))};
  const std::string first = std::to_string(first_thread);
  if (threads > 0)
    path.push_back(
        entry("threads",
              word(threads == 1 ? first : fmt::format("{}-{}", first, first_thread + threads - 1),
                   position)));
  path.push_back(entry("through", Settings::list(std::move(way), position)));
  paths.push_back(Settings::map(std::move(path), position));
}

void Expansion::add_path(const Writing& writing, std::uint32_t host, std::uint32_t threads,
                         Way way) {
  add_path(writing.collective.name, host, 0, threads,
           instrument(writing.collective.instrumented, threads > 0, std::move(way)));
}

Way Expansion::instrument(const std::vector<std::string>& instrumented, bool has_threads,
                          Way way) const {
  if (instrumented.empty()) return way;
  const bool is_all = instrumented.front() == "true";
  const Settings named = is_all ? Settings() : Settings::map(wrappers);
  return with_collectors(way, has_threads, [&](const Settings& wrapper) {
    const auto is = [&](const std::string& kind) { return kind == kind_in_way(wrapper, named); };
    return is_all || std::any_of(instrumented.begin(), instrumented.end(), is);
  });
}

void Expansion::write_element(const MultiCluster::Element& element) {
  elements.emplace_back(element.name, element.settings);
  const auto home = all_.host_named(element.host.text());
  if (!home) return;
  for (const std::uint32_t host : element.reach) {
    Way way;
    route(way, host, *home, element.name);
    way.push_back(in_place("store", {entry("element", element.name)}, element.name.position()));
    add_path(element.name, host, 0, all_.hosts[host].threads, std::move(way));
  }
}

// ---- exchanges

void Expansion::write_passing(const Exchange& exchange, const std::string& element,
                              const Place& mover, const Place& receiver) {
  const base::Position& position = exchange.name.position();
  const Settings name = word(element, position);
  const Settings home = word(all_.host_name(receiver.host), position);
  elements.emplace_back(
      name,
      Settings::map({entry("host", home), entry("template", exchange.tuple_template)}, position));
  const Settings store = in_place("store", {entry("element", name)}, position);
  const auto add = [&](const Place& place, Way way) {
    way.push_back(store);
    add_path(name, place.host, place.thread, 1,
             instrument(exchange.instrumented, true, std::move(way)));
  };
  Way way;
  route(way, mover.host, receiver.host, exchange.name);
  add(mover, std::move(way));
  add(receiver, {});
}

void Expansion::write_exchange(const Exchange& exchange) {
  std::uint64_t threads = 0;
  for (const MultiCluster::Host& host : all_.hosts) threads += host.threads;
  if (threads > exchanging_threads_max) {
    mistakes_.add(exchange.name.position(),
                  fmt::format("exchange {}: expected at most {} threads, found {}",
                              exchange.name.text(), exchanging_threads_max, threads));
    return;
  }
  std::vector<Place> ranks;
  for (std::uint32_t host = 0; host < all_.hosts.size(); ++host)
    for (std::uint32_t thread = 0; thread < all_.hosts[host].threads; ++thread)
      ranks.push_back({host, thread});
  const std::string& name = exchange.name.text();
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (rank > 0)
      write_passing(exchange, fmt::format("{}.{}.from_previous", name, rank), ranks[rank - 1],
                    ranks[rank]);
    if (rank + 1 < ranks.size())
      write_passing(exchange, fmt::format("{}.{}.from_next", name, rank), ranks[rank + 1],
                    ranks[rank]);
  }
}

// ---- collectives

/// The hosts of a cluster as a tree: all below the root, or with a fan-out k, hosts in order, the
/// root first, the one at place i below the one at place (i - 1) / k.
Expansion::ClusterTree Expansion::cluster_tree(const Collective& collective,
                                               std::uint32_t cluster) const {
  ClusterTree tree;
  tree.hosts = all_.computing(cluster);
  tree.root = cluster == collective.root_cluster ? collective.root_host : tree.hosts.front();
  std::vector<std::uint32_t> order = tree.hosts;
  const auto root = std::find(order.begin(), order.end(), tree.root);
  std::rotate(order.begin(), root, root + 1);
  for (std::size_t place = 1; place < order.size(); ++place) {
    const std::size_t above = collective.fan_out == 0 ? 0 : (place - 1) / collective.fan_out;
    tree.parent.emplace(order[place], order[above]);
    ++tree.children[order[above]];
  }
  return tree;
}

/// Which contributor of the root host's join of hosts the root host itself is: slots are counted
/// in the order in which paths come, those of hosts below other hosts included.
std::optional<std::uint32_t> Expansion::root_slot(const Writing& writing,
                                                  const ClusterTree& tree) const {
  if (tree.root != writing.collective.root_host) return std::nullopt;
  std::set<std::uint32_t> before;
  for (std::uint32_t host : tree.hosts) {
    if (host == tree.root) break;
    while (tree.parent.at(host) != tree.root) host = tree.parent.at(host);
    before.insert(host);
  }
  return static_cast<std::uint32_t>(before.size());
}

Settings Expansion::join(const Writing& writing, std::string_view part, std::uint32_t host,
                         std::optional<std::uint32_t> slot) {
  const Collective& collective = writing.collective;
  Settings settings = collective.settings;
  if (collective.kind == "broadcast" && slot) {
    Entries entries = settings.entries();
    entries.push_back(entry("from", word(std::to_string(*slot), writing.position)));
    settings = Settings::map(std::move(entries), settings.position());
  }
  const std::string name = writing.name(part);
  share(name, collective.kind, host, settings, writing.position);
  return word(name, writing.position);
}

/// From `host` down to the root of its cluster, and on.
Way Expansion::climb(const Writing& writing, const ClusterTree& tree, std::uint32_t cluster,
                     std::uint32_t host, const Way& rest) {
  Way way;
  for (;;) {
    const bool combines = tree.children.contains(host);
    if (host == tree.root) {
      if (combines)
        way.push_back(
            join(writing, "join." + all_.cluster_name(cluster), host, root_slot(writing, tree)));
      append(way, rest);
      return way;
    }
    if (combines) way.push_back(join(writing, "fan." + all_.host_name(host), host, std::nullopt));
    const std::uint32_t parent = tree.parent.at(host);
    route(way, host, parent, writing.collective.name);
    host = parent;
  }
}

void Expansion::write_cluster(const Writing& writing, std::uint32_t cluster, const Way& rest) {
  const ClusterTree tree = cluster_tree(writing.collective, cluster);
  for (const std::uint32_t host : tree.hosts) {
    Way way;
    const std::uint32_t threads = all_.hosts[host].threads;
    const bool is_root = host == writing.collective.root_host;
    const Relaxation& relaxation = writing.collective.relaxation;
    if (relaxation.kind == Relaxation::Kind::periodic)
      way.push_back(in_place(
          "periodic", {entry("every", word(std::to_string(relaxation.rounds), writing.position))},
          writing.position));
    if (threads > 1)
      way.push_back(join(writing, "join." + all_.host_name(host), host,
                         is_root ? std::optional(0u) : std::nullopt));
    append(way, climb(writing, tree, cluster, host, rest));
    add_path(writing, host, threads, std::move(way));
  }
}

/// `keep_newest`: 0 keeps all.
void Expansion::element(const Writing& writing, const std::string& name, std::uint32_t host,
                        const pastset::Template& tuple, std::uint64_t keep_newest) {
  Entries settings = {entry("host", word(all_.host_name(host), writing.position)),
                      entry("template", word(tuple.text(), writing.position)),
                      entry("keep_newest", word(std::to_string(keep_newest), writing.position))};
  elements.push_back(entry(name, Settings::map(std::move(settings), writing.position)));
}

Settings Expansion::check(const Writing& writing, const std::string& result, const Way& combine,
                          const Way& asks) {
  const Collective& collective = writing.collective;
  const Relaxation& relaxation = collective.relaxation;
  const bool is_late = !combine.empty() && relaxation.tells_batches(true);
  Entries settings;
  const auto add = [&](const char* key, const std::string& text) {
    settings.push_back(entry(key, word(text, writing.position)));
  };
  if (is_late) {
    add("rounds", std::to_string(relaxation.rounds));
    add("every", std::to_string(relaxation.every));
  } else if (collective.all_to_all) {
    const bool may_prove = relaxation.kind == Relaxation::Kind::conditional;
    add("relaxation", may_prove ? "conditional" : "exact");
  }
  settings.insert(settings.end(), collective.settings.entries().begin(),
                  collective.settings.entries().end());
  if (!collective.written_condition.is_null())
    settings.push_back(entry("condition", collective.written_condition));
  add("result", result);
  if (!combine.empty())
    settings.push_back(entry("combine", Settings::list(combine, writing.position)));
  if (!asks.empty()) {
    settings.push_back(entry("asks", Settings::list(asks, writing.position)));
    add("ask_for", std::to_string(relaxation.count));
  }
  return in_place(is_late ? "lagged_check" : "condition_check", std::move(settings),
                  writing.position);
}

void Expansion::write_tree(const Writing& writing, const std::vector<std::uint32_t>& clusters) {
  const Collective& collective = writing.collective;
  const std::string result = writing.name("result");
  const bool checks = checks_condition(collective);
  element(writing, result, collective.root_host,
          checks ? partial_template(collective.value) : collective.value, 1);
  Way end;
  if (clusters.size() > 1) {
    const auto root = std::find(clusters.begin(), clusters.end(), collective.root_cluster);
    end.push_back(join(writing, "join", collective.root_host,
                       static_cast<std::uint32_t>(root - clusters.begin())));
  }
  if (checks) end.push_back(check(writing, result, {}, {}));
  end.push_back(
      in_place("store", {entry("element", word(result, writing.position))}, writing.position));
  for (const std::uint32_t cluster : clusters) {
    Way rest;
    const std::uint32_t from = cluster_tree(collective, cluster).root;
    if (collective.relaxation.is_late())
      rest.push_back(in_place(
          "lagged",
          {entry("rounds", word(std::to_string(collective.relaxation.rounds), writing.position))},
          writing.position));
    const auto& delay = all_.clusters[cluster].broadcast_delay;
    if (delay && cluster != collective.root_cluster)
      rest.push_back(link_stage(writing.name("broadcast_delay." + all_.cluster_name(cluster)), from,
                                Settings::map({entry("latency", *delay)}, delay->position()),
                                "up"));
    route(rest, from, collective.root_host, collective.name);
    append(rest, end);
    write_cluster(writing, cluster, rest);
  }
}

void Expansion::write_prefetch(const Writing& writing, std::uint32_t into, std::uint32_t from) {
  const std::string cache = between(writing, "cache", into, from);
  const std::string result = writing.name("result." + all_.cluster_name(from));
  const std::uint32_t here = cluster_tree(writing.collective, into).root;
  const std::uint32_t there = cluster_tree(writing.collective, from).root;
  Way way = {
      in_place("prefetch", {entry("into", word(cache, writing.position))}, writing.position)};
  route(way, here, there, writing.collective.name);
  way.push_back(
      in_place("observe", {entry("element", word(result, writing.position))}, writing.position));
  add_path(writing, here, 0, std::move(way));
}

/// The end of a path that a push begins.
Settings marked_store(const std::string& element, const base::Position& position) {
  return in_place(
      "store", {entry("element", word(element, position)), entry("marks", word("true", position))},
      position);
}

void Expansion::write_push(const Writing& writing, std::uint32_t into, std::uint32_t from) {
  const Relaxation& relaxation = writing.collective.relaxation;
  const std::uint32_t here = cluster_tree(writing.collective, into).root;
  const std::uint32_t there = cluster_tree(writing.collective, from).root;
  const std::string result = writing.name("result." + all_.cluster_name(from));
  Entries settings = {entry("from", word(result, writing.position))};
  if (relaxation.tells_batches(true))
    settings.push_back(entry("every", word("true", writing.position)));
  if (relaxation.transfer == Relaxation::Transfer::demand)
    settings.push_back(
        entry("asks", word(between(writing, "asked", from, into), writing.position)));
  Way way = {in_place("push", std::move(settings), writing.position)};
  route(way, there, here, writing.collective.name);
  way.push_back(marked_store(between(writing, "cache", into, from), writing.position));
  add_path(writing, there, 0, std::move(way));
}

/// How `into` asks `from`: an element of each, and the path between them.
void Expansion::write_asks(const Writing& writing, std::uint32_t into, std::uint32_t from) {
  const std::uint32_t here = cluster_tree(writing.collective, into).root;
  const std::uint32_t there = cluster_tree(writing.collective, from).root;
  const std::string asks = between(writing, "asks", into, from);
  const std::string asked = between(writing, "asked", from, into);
  element(writing, asks, here, ask_template(), 1);
  element(writing, asked, there, ask_template(), 1);
  Way way = {in_place("push", {entry("from", word(asks, writing.position))}, writing.position)};
  route(way, here, there, writing.collective.name);
  way.push_back(marked_store(asked, writing.position));
  add_path(writing, here, 0, std::move(way));
}

void Expansion::write_transfer(const Writing& writing, std::uint32_t into, std::uint32_t from) {
  const Relaxation& relaxation = writing.collective.relaxation;
  if (relaxation.transfer == Relaxation::Transfer::demand) write_asks(writing, into, from);
  const bool pulls = relaxation.transfer == Relaxation::Transfer::pull;
  if (pulls && !relaxation.tells_batches(true)) return write_prefetch(writing, into, from);
  write_push(writing, into, from);
}

void Expansion::write_all_to_all(const Writing& writing,
                                 const std::vector<std::uint32_t>& clusters) {
  const Collective& collective = writing.collective;
  const Relaxation& relaxation = collective.relaxation;
  const bool batches = relaxation.tells_batches(true);
  const pastset::Template tuple = batches ? batch_template() : partial_template(collective.value);
  // Nobody can be further ahead than what the others told allows; what was read is axed.
  const std::uint64_t told = batches ? 2 * relaxation.rounds / relaxation.every + 3 : 1;
  for (const std::uint32_t cluster : clusters) {
    const std::uint32_t root = cluster_tree(collective, cluster).root;
    const std::string result = writing.name("result." + all_.cluster_name(cluster));
    element(writing, result, root, tuple, told);
    Way combine, asks;
    for (const std::uint32_t other : clusters) {
      const std::string cache = between(writing, "cache", cluster, other);
      combine.push_back(word(other == cluster ? result : cache, writing.position));
      if (other == cluster) continue;
      element(writing, cache, root, tuple, batches ? 0 : 1);
      if (relaxation.transfer == Relaxation::Transfer::demand)
        asks.push_back(word(between(writing, "asks", cluster, other), writing.position));
    }
    write_cluster(
        writing, cluster,
        {check(writing, result, combine, asks),
         in_place("store", {entry("element", word(result, writing.position))}, writing.position)});
  }
  for (const std::uint32_t into : clusters)
    for (const std::uint32_t from : clusters)
      if (into != from) write_transfer(writing, into, from);
}

void Expansion::write_collective(const Collective& collective) {
  std::vector<std::uint32_t> clusters;
  for (std::uint32_t cluster = 0; cluster < all_.clusters.size(); ++cluster)
    if (!all_.computing(cluster).empty()) clusters.push_back(cluster);
  const Writing writing{collective, collective.name.position()};
  if (clusters.empty())
    mistakes_.add(writing.position, fmt::format("collective {}: expected threads in some cluster, "
                                                "found none",
                                                collective.name.text()));
  else if (collective.all_to_all && clusters.size() > 1)
    write_all_to_all(writing, clusters);
  else
    write_tree(writing, clusters);
}

}  // namespace

bool is_high_level(const Settings& settings) {
  for (const std::string_view key : {"clusters", "links", "collectives", "exchanges"})
    if (settings.find(key) != nullptr) return true;
  return false;
}

Settings expand(const Settings& settings, const Overrides& overrides, base::Mistakes& mistakes) {
  const MultiCluster all = read_multi_cluster(settings, overrides, mistakes);
  if (!mistakes.empty()) return settings;
  Expansion expansion(all, mistakes);
  expansion.write_hosts();
  for (const Collective& collective : all.collectives) expansion.write_collective(collective);
  for (const Exchange& exchange : all.exchanges) expansion.write_exchange(exchange);
  for (const MultiCluster::Element& element : all.elements) expansion.write_element(element);
  Entries low_level;
  for (const std::string_view key : {"network", "deadline"})
    for (const auto& written : settings.entries())
      if (written.first.text() == key) low_level.push_back(written);
  if (const Settings* own = settings.find("wrappers"))
    expansion.wrappers.insert(expansion.wrappers.end(), own->entries().begin(),
                              own->entries().end());
  if (const Settings* own = settings.find("paths"))
    expansion.paths.insert(expansion.paths.end(), own->items().begin(), own->items().end());
  const base::Position& position = settings.position();
  low_level.push_back(entry("hosts", Settings::map(std::move(expansion.hosts), position)));
  low_level.push_back(entry("elements", Settings::map(std::move(expansion.elements), position)));
  low_level.push_back(entry("wrappers", Settings::map(std::move(expansion.wrappers), position)));
  low_level.push_back(entry("paths", Settings::list(std::move(expansion.paths), position)));
  return Settings::map(std::move(low_level), position);
}

}  // namespace paths
