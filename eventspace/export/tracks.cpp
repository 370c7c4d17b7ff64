// SPDX-License-Identifier: Apache-2.0
// eventspace/export/tracks.cpp — tracks of a structure, and the labels of their intervals.
#include "eventspace/export/tracks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "eventspace/transfer_record.hpp"

namespace eventspace {
namespace {

constexpr std::uint32_t first_probe_depth = Tracks::operation_depth + 1;
constexpr std::uint32_t fixed_labels = 4;
// Numbers that stand for a stage in the keys of tracks without a stage.
constexpr std::uint32_t link_stage = no_stage - 1;
constexpr std::uint32_t clock_stage = no_stage - 2;
constexpr std::uint32_t group_stage = no_stage - 3;
constexpr std::uint32_t transfer_stage = no_stage - 4;
constexpr std::uint32_t group_actions = 4;

}  // namespace

Tracks::Tracks(const Structure& structure) : shape_(structure) {
  add_labels();
  add_probes();
  add_crossings();
}

std::string Tracks::wrapper_name(std::uint32_t stage) const {
  const Structure& plan = structure();
  const Structure::Wrapper& wrapper = plan.wrapper_of(stage);
  if (!wrapper.name.empty()) return wrapper.name;
  const auto host_name = [&](std::uint32_t at) { return plan.hosts[plan.host_of(at)].name; };
  std::uint32_t below = plan.stages[stage].below;
  if (wrapper.job == Job::crossing && below != no_stage)
    return fmt::format("{} to {}", wrapper.kind, host_name(below));
  if (wrapper.job != Job::prefetch || below == no_stage) return wrapper.kind;
  while (plan.stages[below].below != no_stage) below = plan.stages[below].below;
  return fmt::format("{} from {}", wrapper.kind, host_name(below));
}

/// Adds one label for all wrappers that have the same kind, name and position.
void Tracks::add_labels() {
  labels_ = {{"computation", "computation", ""},
             {"thread", "thread", ""},
             {"unknown", "unknown", ""},
             {"clock", "clock", ""}};
  for (const std::string& graph : shape_.graphs) labels_.push_back({graph, "collective", ""});
  std::map<std::tuple<std::string, std::string, std::string>, std::uint32_t> numbers;
  for (std::uint32_t stage = 0; stage < structure().stages.size(); ++stage) {
    const Structure::Wrapper& wrapper = structure().wrapper_of(stage);
    const Label label{wrapper_name(stage), wrapper.kind, wrapper.position};
    const auto [found, is_new] = numbers.emplace(std::tuple(label.name, label.kind, label.position),
                                                 static_cast<std::uint32_t>(labels_.size()));
    if (is_new) labels_.push_back(label);
    label_of_stage_.push_back(found->second);
  }
}

/// Assigns each Probe (contributor at a collector) to the track of the Probe above it. If the Probe
/// above is on another host, or if a join is between the two Probes, the lower Probe gets a new
/// track.
void Tracks::add_probes() {
  const auto& probes = shape_.probes;
  const auto host_of = [&](std::uint32_t probe) {
    return structure().host_of(probes[probe].stage);
  };
  places_.assign(probes.size(), {none, 0});
  for (std::uint32_t head = 0; head < probes.size(); ++head) {
    const std::uint32_t above = probes[head].above;
    if (probes[head].leaf == none && above != none && host_of(above) == host_of(head)) continue;
    Place place{head_track(head), first_probe_depth};
    std::uint32_t probe = head;
    while (true) {
      places_[probe] = place;
      const std::uint32_t below = probes[probe].below;
      if (below == none || probes[below].above != probe || host_of(below) != host_of(probe)) break;
      if (probes[below].leaf != none) break;
      probe = below;
      ++place.depth;
    }
  }
}

std::uint32_t Tracks::head_track(std::uint32_t probe) {
  const Probe& head = shape_.probes[probe];
  const std::uint32_t host = structure().host_of(head.stage);
  const auto entry = [&] {
    return track_at({host, head.stage, head.slot}, [&] { return head_name(probe); });
  };
  if (head.leaf == none) return entry();
  const Leaf& leaf = shape_.leaves[head.leaf];
  const std::uint32_t begin = structure().paths[leaf.path].stage;
  if (leaf.thread == none) return track_at({host, begin, 0}, [&] { return wrapper_name(begin); });
  // If the first collector of a path is on another host than the thread, the collector's records
  // are on a track of the collector's host.
  if (structure().host_of_thread(leaf.thread) != host) return entry();
  const std::uint32_t track =
      track_at({host, no_stage, leaf.thread}, [&] { return structure().thread_name(leaf.thread); });
  tracks_[track].thread = leaf.thread;
  return track;
}

std::string Tracks::head_name(std::uint32_t probe) const {
  const Probe& head = shape_.probes[probe];
  const std::uint32_t below = structure().stages[head.stage].below;
  std::string name = wrapper_name(below == no_stage ? head.stage : below);
  if (head.join_above != none) {
    const Structure::Wrapper& join = structure().wrappers[shape_.joins[head.join_above].wrapper];
    name = join.name.empty() ? join.kind : join.name;
  } else if (head.above != none) {
    const auto& from = structure().hosts[structure().host_of(shape_.probes[head.above].stage)];
    name = fmt::format("from {}: {}", from.name, name);
  }
  const bool is_one_of_many = structure().wrapper_of(head.stage).slots > 1;
  return is_one_of_many ? fmt::format("{}/{}", name, head.slot) : name;
}

std::uint32_t Tracks::track_at(const Key& key, const std::function<std::string()>& name) {
  const auto [found, is_new] = numbers_.emplace(key, static_cast<std::uint32_t>(tracks_.size()));
  if (is_new) tracks_.push_back({std::get<0>(key), none, name()});
  return found->second;
}

void Tracks::add_crossings() {
  crossing_out_.assign(shape_.probes.size(), none);
  crossing_in_.assign(shape_.probes.size(), none);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> between;
  for (std::uint32_t probe = 0; probe < shape_.probes.size(); ++probe) {
    const std::uint32_t below = shape_.probes[probe].below;
    // A join sends one operation to the other host, so its contributors have no crossing.
    if (below == none || shape_.probes[probe].join != none) continue;
    const std::uint32_t from = structure().host_of(shape_.probes[probe].stage);
    const std::uint32_t to = structure().host_of(shape_.probes[below].stage);
    if (from == to) continue;
    crossing_out_[probe] = crossing_in_[below] = static_cast<std::uint32_t>(crossings_.size());
    crossings_.push_back({from, to, between[std::minmax(from, to)]++});
  }
}

std::uint32_t Tracks::probe_of(const EventRecord& record) const {
  return is_operation(record) ? shape_.probe_of(record.place, record.slot) : none;
}

std::uint32_t Tracks::leaf_of(const EventRecord& record) const {
  const std::uint32_t probe = probe_of(record);
  if (probe == none) return none;
  const std::uint32_t leaf = shape_.probes[probe].leaf;
  return leaf == none || shape_.leaves[leaf].thread == none ? none : leaf;
}

Tracks::Place Tracks::place_of(std::uint32_t host, const EventRecord& record) {
  const Structure& plan = structure();
  const std::uint32_t probe = probe_of(record);
  const auto track = [&](std::uint32_t stage, std::uint32_t slot, const auto& name) {
    return Place{track_at({host, stage, slot}, name), whole_depth};
  };
  if (probe != none && places_[probe].track != none && tracks_[places_[probe].track].host == host)
    return places_[probe];
  if (is(record, EventKind::thread) && record.place < plan.thread_count() &&
      plan.host_of_thread(record.place) == host) {
    const Place place =
        track(no_stage, record.place, [&] { return plan.thread_name(record.place); });
    tracks_[place.track].thread = record.place;
    return place;
  }
  const bool is_staged = record.place < plan.stages.size() && plan.host_of(record.place) == host;
  if (is_staged && is(record, EventKind::prefetch))
    return track(record.place, 0, [&] { return wrapper_name(record.place); });
  // A link may be on many paths, so its track belongs to the wrapper, not to a stage.
  if (is_staged && is(record, EventKind::link))
    return track(link_stage, plan.stages[record.place].wrapper,
                 [&] { return wrapper_name(record.place); });
  if (is_staged && is(record, EventKind::cache_read)) {
    const auto& combines = plan.wrapper_of(record.place).combines;
    if (record.slot < combines.size())
      return track(record.place, record.slot, [&] {
        return fmt::format("{} reads {}", wrapper_name(record.place),
                           plan.clusters[combines[record.slot]]);
      });
  }
  if (is(record, EventKind::clock) && record.place < plan.hosts.size())
    return track(clock_stage, record.place,
                 [&] { return fmt::format("clock of {}", plan.hosts[record.place].name); });
  if (is_of_group(record)) return place_in_group(host, record);
  if (is_call(record) && record.place < plan.thread_count() &&
      plan.host_of_thread(record.place) == host) {
    const std::uint32_t found =
        track(no_stage, record.place, [&] { return plan.thread_name(record.place); }).track;
    tracks_[found].thread = record.place;
    return {found, operation_depth};
  }
  if (is_transfer(record) && transfer_of(record).to_host < plan.hosts.size()) {
    const std::uint32_t cluster = plan.hosts[transfer_of(record).to_host].cluster;
    return track(transfer_stage, cluster,
                 [&] { return fmt::format("transfers to {}", plan.clusters[cluster]); });
  }
  return track(no_stage, none, [] { return std::string("unknown"); });
}

/// Returns the track of a group record. A thread's operations are on the track of the thread. The
/// work of the host for these operations is on other tracks.
Tracks::Place Tracks::place_in_group(std::uint32_t host, const EventRecord& record) {
  const Structure& plan = structure();
  const auto place = [&](std::uint32_t stage, std::uint32_t slot, const auto& name) {
    return Place{track_at({host, stage, slot}, name), operation_depth};
  };
  if (is(record, GroupEvent::member) && record.place < plan.thread_count() &&
      plan.host_of_thread(record.place) == host) {
    const Place found =
        place(no_stage, record.place, [&] { return plan.thread_name(record.place); });
    tracks_[found.track].thread = record.place;
    return found;
  }
  if (!is(record, GroupEvent::step))
    return place(group_stage, group_actions, [] { return std::string("groups"); });
  const GroupAction action = step_of(record).action;
  return place(group_stage, static_cast<std::uint32_t>(action),
               [&] { return fmt::format("groups {}", name_of(action)); });
}

void Tracks::learn(const EventRecord& record) {
  if (is_transfer(record) && transfer_label_ == 0) {
    transfer_label_ = static_cast<std::uint32_t>(labels_.size());
    labels_.push_back({"transfer", "transfer", ""});
  }
  if (is_call(record) && first_call_label_ == 0) {
    first_call_label_ = static_cast<std::uint32_t>(labels_.size());
    for (const char* const call : {"start", "wait", "iteration"})
      labels_.push_back({call, "call", ""});
  }
  if (!is_of_group(record)) return;
  if (first_group_label_ == 0) {
    first_group_label_ = static_cast<std::uint32_t>(labels_.size());
    for (std::uint32_t action = 0; action < group_actions; ++action)
      labels_.push_back({std::string(name_of(static_cast<GroupAction>(action))), "group", ""});
    labels_.push_back({"operation of a group", "group", ""});
  }
  if (!is(record, GroupEvent::text) || group_labels_.contains(record.place)) return;
  texts_.add(record);
  const std::string* const text = texts_.find(record.place);
  if (text == nullptr) return;
  group_labels_[record.place] = static_cast<std::uint32_t>(labels_.size());
  labels_.push_back({words_of(group_operation_of(*text)), "group", ""});
}

std::uint32_t Tracks::label_in_group(const EventRecord& record) const {
  if (is(record, GroupEvent::step))
    return first_group_label_ + static_cast<std::uint32_t>(step_of(record).action);
  const bool is_share = !is(record, GroupEvent::member);
  const auto found = group_labels_.find(is_share ? record.place : record.slot);
  return found == group_labels_.end() ? first_group_label_ + group_actions : found->second;
}

std::uint32_t Tracks::label_of(const EventRecord& record) const {
  if (is(record, EventKind::thread)) return thread_label;
  if (is(record, EventKind::clock)) return clock_label;
  if (is_of_group(record)) return label_in_group(record);
  if (is_transfer(record)) return transfer_label_;
  if (is_call(record))
    return first_call_label_ + static_cast<std::uint32_t>(record.kind) -
           static_cast<std::uint32_t>(EventKind::start);
  const Structure& plan = structure();
  if (record.place >= plan.stages.size() ||
      record.kind > static_cast<std::uint64_t>(EventKind::link))
    return unknown_label;
  const std::uint32_t below = plan.stages[record.place].below;
  return label_of_stage_[is_operation(record) && below != no_stage ? below : record.place];
}

std::uint32_t Tracks::label_of_operation(std::uint32_t leaf) const {
  const std::uint32_t tree = shape_.probes[shape_.leaves[leaf].probe].tree;
  return fixed_labels + shape_.trees[tree].graph;
}

}  // namespace eventspace
