// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/moment_reader.cpp — moments of paths, from a structure and
// records.
#include "eventspace/analysis/attribution/moment_reader.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "base/units.hpp"

namespace eventspace {
namespace {

/// Returns the nanoseconds that a link needs for each byte, or 0 if its bandwidth is unlimited or
/// unknown.
double nanos_per_byte_of(const Structure::Wrapper& link) {
  const auto rate = base::parse_bits_per_second(setting_of(link, "bandwidth"));
  const double nanos = rate ? 8e9 / *rate : 0;
  return std::isfinite(nanos) ? nanos : 0;
}

/// Returns the declared latency of a link in nanoseconds, or 0 if it is not known.
double latency_nanos_of(const Structure::Wrapper& link) {
  const auto latency = base::parse_time(setting_of(link, "latency"));
  return latency ? static_cast<double>(latency->count()) : 0;
}

/// Returns the number of rounds by which a wrapper returns results late; 0 for most wrappers.
std::uint64_t rounds_late(const Structure::Wrapper& wrapper) {
  if (wrapper.kind != "lagged" && wrapper.kind != "lagged_check") return 0;
  return base::parse_natural(setting_of(wrapper, "rounds")).value_or(0);
}

/// Returns the ends of the threads of each host. The list of a host is empty if the trace does not
/// show the ends of all its threads.
std::vector<std::vector<Moment>> ends_on_hosts(const Moments& all) {
  const Structure& structure = all.structure();
  std::vector<std::vector<Moment>> ends(structure.hosts.size());
  std::vector<bool> is_known(structure.hosts.size(), !all.is_cut());
  for (std::uint32_t rank = 0; rank < all.threads(); ++rank) {
    const std::uint32_t host = structure.host_of_thread(rank);
    ends[host].push_back({Moment::Kind::thread_end, rank});
    if (!all.life_of(rank).has_ended) is_known[host] = false;
  }
  for (std::size_t host = 0; host < ends.size(); ++host)
    if (!is_known[host]) ends[host].clear();
  return ends;
}

}  // namespace

MomentReader::MomentReader(Moments& all, std::size_t operations_max)
    : all_(all), operations_max_(std::min<std::size_t>(operations_max, std::size_t{1} << 30)) {
  make_hop_labels();
  find_elements();
  find_drivers();
}

// ---- structure -------------------------------------------------------------------------------

std::uint32_t MomentReader::label_between(std::uint32_t from_host, std::uint32_t to_host,
                                          const Structure::Wrapper* link) {
  const auto& hosts = all_.shape_.structure.hosts;
  const std::uint32_t from = hosts[from_host].cluster;
  const std::uint32_t to = hosts[to_host].cluster;
  TimeLabel label{TimeCause::network, from_host, to_host};
  if (from != to) label = {TimeCause::link_latency, from, to};
  if (link != nullptr) {
    label.nanos_per_byte = nanos_per_byte_of(*link);
    label.latency_nanos = latency_nanos_of(*link);
  }
  return all_.labels_.number_of(label);
}

MomentReader::HopLabels MomentReader::labels_of(const Hop& hop) {
  const Structure& structure = all_.shape_.structure;
  HopLabels labels;
  labels.runtime = all_.labels_.runtime_of(structure.host_of(hop.stage));
  labels.down = labels.up = labels.runtime;
  switch (hop.kind) {
    case HopKind::crossing:
      labels.down = label_between(hop.from_host, hop.to_host);
      labels.up = label_between(hop.to_host, hop.from_host);
      break;
    case HopKind::link: {
      const Structure::Wrapper& link = structure.wrappers[hop.wrapper];
      const std::uint32_t label = hop.is_hold
                                      ? all_.labels_.number_of({TimeCause::hold, hop.wrapper, none})
                                      : label_between(hop.from_host, hop.to_host, &link);
      (hop.role == 1 ? labels.up : labels.down) = label;
      for (std::uint32_t stage = structure.stages[hop.stage].below; stage != no_stage;
           stage = structure.stages[stage].below) {
        if (structure.stages[stage].wrapper != hop.wrapper) continue;
        (hop.role == 1 ? labels.link_up : labels.link_down) = stage;
        break;
      }
      break;
    }
    case HopKind::join:
      labels.down = all_.labels_.number_of({TimeCause::folding, hop.wrapper, none});
      break;
    case HopKind::check:
      labels.check = hop.wrapper;
      labels.lag = rounds_late(structure.wrappers[hop.wrapper]);
      break;
    case HopKind::internal:
      labels.is_schedule = structure.wrappers[hop.wrapper].kind == "schedule";
      labels.lag = rounds_late(structure.wrappers[hop.wrapper]);
      break;
    case HopKind::end: break;
  }
  return labels;
}

void MomentReader::make_hop_labels() {
  all_.hop_labels_.reserve(all_.shape_.hops.size());
  for (const Hop& hop : all_.shape_.hops) all_.hop_labels_.push_back(labels_of(hop));
}

std::uint32_t MomentReader::element_named(std::string_view name) {
  if (name.empty()) return none;
  const auto found = all_.element_numbers_.find(name);
  if (found != all_.element_numbers_.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(all_.element_numbers_.size());
  all_.element_numbers_.emplace(name, number);
  all_.stores_.emplace_back();
  all_.rooms_.emplace_back();
  return number;
}

/// Finds for each contributor at a collector (Probe) the element at the end of its path. If the hop
/// of the Probe contains a check, also finds the elements into which the check writes requests.
void MomentReader::find_elements() {
  const Structure& structure = all_.shape_.structure;
  all_.element_of_probe_.assign(all_.shape_.probes.size(), none);
  all_.asked_at_probe_.resize(all_.shape_.probes.size());
  for (std::uint32_t number = 0; number < all_.shape_.probes.size(); ++number) {
    const Probe& probe = all_.shape_.probes[number];
    if (probe.below != none) continue;
    for (std::uint32_t stage = structure.stages[probe.stage].below; stage != no_stage;
         stage = structure.stages[stage].below) {
      const Structure::Wrapper& wrapper = structure.wrapper_of(stage);
      if (wrapper.job == Job::store)
        all_.element_of_probe_[number] = element_named(setting_of(wrapper, "element"));
    }
  }
  for (std::uint32_t number = 0; number < all_.shape_.probes.size(); ++number) {
    const HopLabels& labels = all_.hop_labels_[all_.shape_.probes[number].hop];
    if (labels.check == none) continue;
    const Structure::Wrapper& check = structure.wrappers[labels.check];
    auto& caches = all_.caches_[labels.check];
    if (caches.empty())
      for (const std::string_view name : settings_of(check, "combine"))
        caches.push_back(element_named(name));
    for (const std::string_view name : settings_of(check, "asks"))
      all_.asked_at_probe_[number].push_back(element_named(name));
  }
}

void MomentReader::find_drivers() {
  const Structure& structure = all_.shape_.structure;
  for (std::uint32_t leaf = 0; leaf < all_.shape_.leaves.size(); ++leaf) {
    if (all_.shape_.leaves[leaf].thread != none) continue;
    const Structure::Path& path = structure.paths[all_.shape_.leaves[leaf].path];
    const Structure::Wrapper& wrapper = structure.wrapper_of(path.stage);
    Driver& driver = all_.drivers_[leaf];
    driver.fills = element_named(setting_of(wrapper, "into"));
    driver.sends = element_named(setting_of(wrapper, "from"));
    driver.asks = element_named(setting_of(wrapper, "asks"));
  }
}

std::uint32_t MomentReader::number_of(const OperationName& name) {
  const auto [found, is_new] =
      all_.number_of_name_.try_emplace(name, static_cast<std::uint32_t>(all_.names_.size()));
  if (is_new) all_.names_.push_back(name);
  return found->second;
}

std::uint32_t MomentReader::name_of_leaf(std::uint32_t leaf, std::uint64_t kind) {
  const auto [found, is_new] = all_.name_of_leaf_kind_.try_emplace({leaf, kind}, none);
  if (!is_new) return found->second;
  const Tree& tree = all_.shape_.trees[all_.shape_.probes[all_.shape_.leaves[leaf].probe].tree];
  OperationName name;
  name.object = all_.shape_.structure.paths[all_.shape_.leaves[leaf].path].graph;
  name.kind = operation_name_of(kind);
  name.is_collective = tree.has_joins();
  if (tree.has_joins())
    name.kind = all_.shape_.structure.wrappers[all_.shape_.joins[tree.joins.front()].wrapper].kind;
  for (const std::uint32_t probe : tree.probes) {
    if (name.is_collective || all_.hop_labels_[all_.shape_.probes[probe].hop].check == none)
      continue;
    name.is_collective = true;
    name.kind = "allreduce";
  }
  found->second = number_of(name);
  // Paths without a thread carry a collective's messages between clusters. Their operations do not
  // name the collective.
  if (all_.shape_.leaves[leaf].thread != none)
    all_.name_of_graph_.try_emplace(tree.graph, found->second);
  return found->second;
}

// ---- records ---------------------------------------------------------------------------------

void MomentReader::add(const Round& round) {
  if (round.here == 0) return;
  const Tree& tree = all_.shape_.trees[round.tree];
  if (!has_room_for(tree.probes.size())) return;
  KeptRound kept;
  kept.tree = round.tree;
  kept.first_pass = static_cast<std::uint32_t>(all_.passes_.size());
  kept.sequence = round.sequence;
  kept.kind = round.kind;
  all_.rounds_.push_back(kept);
  for (const Pass& pass : round.passes) {
    KeptPass& one = all_.passes_.emplace_back();
    one.down_nanos = pass.down_nanos;
    one.up_nanos = pass.up_nanos;
    one.round = static_cast<std::uint32_t>(all_.rounds_.size() - 1);
    one.bytes = pass.bytes & event_bytes_max;
    one.flags = pass.flags;
    one.is_here = pass.is_here;
  }
  for (const std::uint32_t number : tree.probes) {
    const Probe& probe = all_.shape_.probes[number];
    const HopLabels& labels = all_.hop_labels_[probe.hop];
    if (labels.lag > 0 && labels.check == none && round.kind == move_operation)
      all_.lagged_rounds_[{kept.tree, +kept.sequence}] =
          static_cast<std::uint32_t>(all_.rounds_.size() - 1);
    const std::uint32_t pass = kept.first_pass + probe.place;
    if (!all_.passes_[pass].is_here) continue;
    keep_ends(kept, pass, probe);
    if (probe.leaf != none)
      keep_leaf(kept, pass, all_.shape_.leaves[probe.leaf], round.passes[probe.place].arrival);
  }
  if (tree.bottom_join != none) keep_all_arrived(kept);
}

bool MomentReader::has_room_for(std::size_t records) {
  kept_ += records;
  all_.is_cut_ = all_.is_cut_ || kept_ > operations_max_;
  return !all_.is_cut_;
}

/// Adds a node for the moment at which the last contributor arrived at the lowest join of a tree.
void MomentReader::keep_all_arrived(const KeptRound& round) {
  const Join& join = all_.shape_.joins[all_.shape_.trees[round.tree].bottom_join];
  const auto number = static_cast<std::uint32_t>(all_.nodes_.size());
  Node node;
  for (const std::uint32_t probe : join.contributors) {
    const KeptPass* pass = all_.pass_at(round, probe);
    if (pass == nullptr) continue;
    if (node.host == none || pass->down_nanos > node.time_nanos) node.time_nanos = pass->down_nanos;
    node.host = all_.shape_.structure.host_of(all_.shape_.probes[probe].stage);
    all_.befores_.push_back({number,
                             {Moment::Kind::down, all_.pass_number(round, probe)},
                             all_.hop_labels_[all_.shape_.probes[probe].hop].down});
  }
  if (node.host == none) return;
  all_.nodes_.push_back(node);
  all_.all_arrived_[static_cast<std::uint32_t>(all_.rounds_.size() - 1)] = number;
}

/// Keeps the end of an operation if other operations may wait for that end. Such an end stores a
/// tuple, makes room in an element, or returns to a wrapper that begins a path.
void MomentReader::keep_ends(const KeptRound& round, std::uint32_t pass, const Probe& probe) {
  const std::uint32_t number = all_.shape_.trees[round.tree].probes[probe.place];
  const KeptPass& kept = all_.passes_[pass];
  const std::uint32_t element = all_.element_of_probe_[number];
  if (element != none && round.kind == move_operation)
    all_.stores_[element].push_back({{kept.down_nanos, {Moment::Kind::down, pass}}});
  if (element != none && makes_room(round.kind))
    all_.rooms_[element].push_back({kept.up_nanos, {Moment::Kind::up, pass}});
  for (const std::uint32_t asked : all_.asked_at_probe_[number]) {
    // A check stores its request after it has passed its own cluster's value down.
    const bool has_below = probe.below != none && all_.pass_at(round, probe.below) != nullptr;
    const std::uint32_t from = has_below ? all_.pass_number(round, probe.below) : pass;
    all_.stores_[asked].push_back({{has_below ? all_.passes_[from].up_nanos : kept.down_nanos,
                                    {has_below ? Moment::Kind::up : Moment::Kind::down, from}}});
  }
}

void MomentReader::keep_leaf(const KeptRound& round, std::uint32_t pass, const Leaf& leaf,
                             std::uint32_t arrival) {
  KeptPass& kept = all_.passes_[pass];
  const std::uint32_t number = static_cast<std::uint32_t>(&leaf - all_.shape_.leaves.data());
  if (leaf.thread == none) {
    Driver& driver = all_.drivers_[number];
    const TimedMoment end{kept.up_nanos, {Moment::Kind::up, pass}};
    driver.ends.push_back(end);
    if (driver.fills != none) all_.stores_[driver.fills].push_back({end});
    return;
  }
  ThreadState& thread = all_.threads_[leaf.thread];
  thread.operations.push_back({kept.down_nanos,
                               kept.up_nanos,
                               name_of_leaf(number, round.kind),
                               number,
                               round.kind,
                               {Moment::Kind::up, pass},
                               0,
                               arrival,
                               round.sequence});
  thread.begins.push_back({Moment::Kind::down, pass});
}

void MomentReader::add_cache_read(const EventRecord& record) {
  if ((record.flags & event_undecided) != 0 || !has_room_for(1)) return;
  const std::uint32_t wrapper = all_.shape_.structure.stages[record.place].wrapper;
  all_.cache_reads_[{wrapper, record.sequence}].push_back({record.slot, record.up_nanos});
}

void MomentReader::add_link(const EventRecord& record) {
  if (record.slot == 0 || !has_room_for(1)) return;
  all_.passages_[record.place].push_back({record.up_nanos, record.down_nanos, record.slot});
}

void MomentReader::add_thread(const EventRecord& life) {
  ThreadLife& one = all_.threads_[life.place].life;
  if (!one.has_begun) one.begin_nanos = one.end_nanos = life.down_nanos;
  one.has_begun = true;
  if (life.up_nanos == life.down_nanos && !one.has_ended) {
    one.end_nanos = std::max<std::int64_t>(one.end_nanos, life.up_nanos);
    return;
  }
  one.end_nanos = life.up_nanos;
  one.has_ended = true;
}

void MomentReader::prepare() {
  const auto by_time = [](const TimedMoment& a, const TimedMoment& b) {
    return a.time_nanos < b.time_nanos;
  };
  for (auto& stores : all_.stores_) std::stable_sort(stores.begin(), stores.end(), by_time);
  for (auto& rooms : all_.rooms_) std::stable_sort(rooms.begin(), rooms.end(), by_time);
  for (auto& [leaf, driver] : all_.drivers_)
    std::stable_sort(driver.ends.begin(), driver.ends.end(), by_time);
  for (auto& [host, ends] : all_.share_ends_) std::stable_sort(ends.begin(), ends.end(), by_time);
  for (auto& [stage, passages] : all_.passages_)
    std::stable_sort(passages.begin(), passages.end(),
                     [](const auto& a, const auto& b) { return a.up_nanos < b.up_nanos; });
  find_rounds_of_copies();
  connect_calls();
  std::stable_sort(all_.befores_.begin(), all_.befores_.end(),
                   [](const Before& a, const Before& b) { return a.node < b.node; });
  for (std::uint32_t place = 0; place < all_.befores_.size(); ++place) {
    Node& node = all_.nodes_[all_.befores_[place].node];
    if (node.befores++ == 0) node.first_before = place;
  }
  for (std::uint32_t rank = 0; rank < all_.threads_.size(); ++rank) {
    ThreadState& thread = all_.threads_[rank];
    order_thread(thread);
    label_times_before(rank, thread);
    if (!all_.is_cut_) continue;
    const bool has_moments = !thread.moments.empty();
    thread.life.end_nanos =
        has_moments ? thread.moments.back().time_nanos : thread.life.begin_nanos;
  }
  for (const auto& [pass, node] : all_.starts_) all_.passes_[pass].order = all_.nodes_[node].order;
  const auto ends = ends_on_hosts(all_);
  for (auto& [leaf, driver] : all_.drivers_) {
    const Structure::Path& path = all_.structure().paths[all_.shape_.leaves[leaf].path];
    if (driver.sends != none) driver.stops = ends[all_.structure().host_of(path.stage)];
  }
}

/// Sets StoredTuple::round of each tuple that a prefetch copied into a cache.
void MomentReader::find_rounds_of_copies() {
  for (auto& [leaf, driver] : all_.drivers_) {
    if (driver.fills == none) continue;
    for (StoredTuple& copy : all_.stores_[driver.fills]) {
      if (copy.moment.kind != Moment::Kind::up) continue;
      const KeptPass& read = all_.passes_[copy.moment.number];
      const KeptRound& round = all_.rounds_[read.round];
      const std::uint32_t bottom = all_.shape_.trees[round.tree].bottom_probe;
      if ((read.flags & event_numbered) == 0 || bottom == none) continue;
      const std::uint32_t element = all_.element_of_probe_[bottom];
      if (element == none || round.sequence >= all_.stores_[element].size()) continue;
      const Moment stored = all_.stores_[element][round.sequence].moment;
      copy.round = all_.rounds_[all_.passes_[stored.number].round].sequence;
    }
  }
}

std::string MomentReader::object_of(const ThreadOperation& operation) const {
  return operation.leaf == none
             ? all_.names_[operation.name].object
             : all_.shape_.structure.paths[all_.shape_.leaves[operation.leaf].path].graph;
}

/// Sets the label of the time before each operation of a thread. The label is computing at the
/// operation's place of the program. If records of moves between the previous operation and this
/// operation are missing, the label is unknown.
void MomentReader::label_times_before(std::uint32_t rank, ThreadState& thread) {
  std::map<std::uint32_t, std::uint64_t> next_moves;  // sequence of the next move, keyed by leaf
  const std::uint32_t host = all_.shape_.structure.host_of_thread(rank);
  std::string after;
  for (ThreadOperation& one : thread.operations) {
    const std::string before = object_of(one);
    const auto [place, is_new] = numbers_of_places_.try_emplace(
        PlaceInProgram{after, before}, static_cast<std::uint32_t>(all_.places_.size()));
    if (is_new) all_.places_.push_back(place->first);
    one.label_before = all_.labels_.number_of({TimeCause::computing, rank, place->second});
    after = before;
    const bool is_move = one.kind == move_operation || one.kind == number_of_kind(EventKind::start);
    if (one.leaf == none || !is_move) continue;
    std::uint64_t& next = next_moves[one.leaf];
    if (one.number > next)
      one.label_before = all_.labels_.unknown_of(host, UnknownReason::missing_records);
    next = std::max(next, one.number + 1);
  }
}

/// Sorts the operations of a thread by their begins. Puts their begins and ends into a list in the
/// order of time. Operations may be nested, and nested operations may have equal begins or ends.
void MomentReader::order_thread(ThreadState& thread) {
  const auto count = static_cast<std::uint32_t>(thread.operations.size());
  if (count == 0) return;
  std::vector<std::uint32_t> order(count);
  for (std::uint32_t place = 0; place < count; ++place) order[place] = place;
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const ThreadOperation& one = thread.operations[a];
    const ThreadOperation& other = thread.operations[b];
    return std::tuple(one.down_nanos, -one.up_nanos, one.arrival) <
           std::tuple(other.down_nanos, -other.up_nanos, other.arrival);
  });
  std::vector<ThreadOperation> operations;
  std::vector<Moment> begins;
  for (const std::uint32_t place : order) {
    operations.push_back(thread.operations[place]);
    begins.push_back(thread.begins[place]);
  }
  thread.operations = std::move(operations);
  thread.begins = std::move(begins);
  thread.place_of_begin.resize(count);
  thread.place_of_end.resize(count);
  thread.moments.reserve(2 * std::size_t{count});
  // Operations that have begun but not ended, sorted by their ends. If several operations end at
  // the same time, the operation that began last comes first.
  std::set<std::pair<std::int64_t, std::int64_t>> open;
  const auto end_first = [&] {
    const auto place = static_cast<std::uint32_t>(-open.begin()->second);
    thread.place_of_end[place] = static_cast<std::uint32_t>(thread.moments.size());
    thread.moments.push_back({open.begin()->first, thread.operations[place].end});
    open.erase(open.begin());
  };
  for (std::uint32_t place = 0; place < count; ++place) {
    const ThreadOperation& operation = thread.operations[place];
    while (!open.empty() && open.begin()->first <= operation.down_nanos) end_first();
    const Moment begin = thread.begins[place];
    for (const Moment moment : {begin, operation.end}) {
      if (moment.kind == Moment::Kind::node)
        all_.nodes_[moment.number].order = place;
      else
        all_.passes_[moment.number].order = place;
    }
    thread.place_of_begin[place] = static_cast<std::uint32_t>(thread.moments.size());
    thread.moments.push_back({operation.down_nanos, begin});
    open.emplace(operation.up_nanos, -std::int64_t{place});
  }
  while (!open.empty()) end_first();
  ThreadLife& life = thread.life;
  if (!life.has_begun) life.begin_nanos = life.end_nanos = thread.moments.front().time_nanos;
  if (!life.has_ended) life.end_nanos = std::max(life.end_nanos, thread.moments.back().time_nanos);
}

}  // namespace eventspace
