// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/moments.cpp — access to the moments of a run by their numbers.
#include "eventspace/analysis/attribution/moments.hpp"

#include <algorithm>
#include <set>

namespace eventspace {

Moments::Moments(const Shape& shape, bool has_common_clock)
    : shape_(shape),
      has_common_clock_(has_common_clock),
      labels_(static_cast<std::uint32_t>(shape.structure.hosts.size()),
              shape.structure.thread_count()),
      threads_(shape.structure.thread_count()) {}

const Probe& Moments::probe_of(std::uint32_t pass) const {
  const KeptRound& round = rounds_[passes_[pass].round];
  return shape_.probes[shape_.trees[round.tree].probes[pass - round.first_pass]];
}

const Moments::KeptPass* Moments::pass_at(const KeptRound& round, std::uint32_t probe) const {
  if (probe == none || shape_.probes[probe].tree != round.tree) return nullptr;
  const KeptPass& pass = passes_[pass_number(round, probe)];
  return pass.is_here ? &pass : nullptr;
}

std::int64_t Moments::time_of(Moment moment) const {
  switch (moment.kind) {
    case Moment::Kind::down: return passes_[moment.number].down_nanos;
    case Moment::Kind::up: return passes_[moment.number].up_nanos;
    case Moment::Kind::node: return nodes_[moment.number].time_nanos;
    case Moment::Kind::thread_begin: return threads_[moment.number].life.begin_nanos;
    case Moment::Kind::thread_end: {
      const ThreadLife& life = threads_[moment.number].life;
      return std::max(life.begin_nanos, life.end_nanos);
    }
    case Moment::Kind::nothing: break;
  }
  return 0;
}

std::uint32_t Moments::host_of(Moment moment) const {
  switch (moment.kind) {
    case Moment::Kind::down:
    case Moment::Kind::up: return shape_.structure.host_of(probe_of(moment.number).stage);
    case Moment::Kind::node: return nodes_[moment.number].host;
    case Moment::Kind::thread_begin:
    case Moment::Kind::thread_end: return shape_.structure.host_of_thread(moment.number);
    case Moment::Kind::nothing: break;
  }
  return none;
}

std::uint32_t Moments::thread_of(Moment moment) const {
  switch (moment.kind) {
    case Moment::Kind::down:
    case Moment::Kind::up: {
      const Probe& probe = probe_of(moment.number);
      const bool has_thread = probe.leaf != none && !passes_[moment.number].is_started;
      return has_thread ? shape_.leaves[probe.leaf].thread : none;
    }
    case Moment::Kind::node: return nodes_[moment.number].thread;
    case Moment::Kind::thread_begin:
    case Moment::Kind::thread_end: return moment.number;
    case Moment::Kind::nothing: break;
  }
  return none;
}

std::uint32_t Moments::name_at(Moment moment) const {
  if (moment.kind == Moment::Kind::node) return nodes_[moment.number].name;
  if (moment.kind != Moment::Kind::down && moment.kind != Moment::Kind::up) return none;
  const KeptRound& round = rounds_[passes_[moment.number].round];
  for (const std::uint32_t leaf : shape_.trees[round.tree].leaves) {
    const auto found = name_of_leaf_kind_.find({leaf, round.kind});
    if (found != name_of_leaf_kind_.end()) return found->second;
  }
  const auto found = name_of_graph_.find(shape_.trees[round.tree].graph);
  return found == name_of_graph_.end() ? none : found->second;
}

std::uint32_t Moments::count() const {
  return static_cast<std::uint32_t>(2 * passes_.size() + nodes_.size() + 2 * threads_.size());
}

std::uint32_t Moments::index_of(Moment moment) const {
  const auto passes = static_cast<std::uint32_t>(2 * passes_.size());
  const auto nodes = static_cast<std::uint32_t>(nodes_.size());
  const auto threads = static_cast<std::uint32_t>(threads_.size());
  switch (moment.kind) {
    case Moment::Kind::down: return 2 * moment.number;
    case Moment::Kind::up: return 2 * moment.number + 1;
    case Moment::Kind::node: return passes + moment.number;
    case Moment::Kind::thread_begin: return passes + nodes + moment.number;
    case Moment::Kind::thread_end: return passes + nodes + threads + moment.number;
    case Moment::Kind::nothing: break;
  }
  return none;
}

Moment Moments::at(std::uint32_t index) const {
  const auto passes = static_cast<std::uint32_t>(2 * passes_.size());
  const auto nodes = static_cast<std::uint32_t>(nodes_.size());
  const auto threads = static_cast<std::uint32_t>(threads_.size());
  if (index < passes) {
    if (!passes_[index / 2].is_here) return {};
    return {index % 2 == 0 ? Moment::Kind::down : Moment::Kind::up, index / 2};
  }
  index -= passes;
  if (index < nodes) return {Moment::Kind::node, index};
  index -= nodes;
  const std::uint32_t thread = index % std::max(1u, threads);
  const ThreadState& state = threads_[thread];
  if (!state.life.has_begun && state.operations.empty()) return {};
  return {index < threads ? Moment::Kind::thread_begin : Moment::Kind::thread_end, thread};
}

std::uint32_t Moments::order_of(Moment moment) const {
  return moment.kind == Moment::Kind::node ? nodes_[moment.number].order
                                           : passes_[moment.number].order;
}

std::vector<std::string> Moments::not_recorded() const {
  const auto& paths = shape_.structure.paths;
  std::vector<bool> has_leaf(paths.size(), false);
  for (const Leaf& leaf : shape_.leaves) has_leaf[leaf.path] = true;
  std::set<std::string> names;
  for (std::size_t path = 0; path < paths.size(); ++path)
    if (paths[path].threads > 0 && !has_leaf[path]) names.insert(paths[path].graph);
  return {names.begin(), names.end()};
}

}  // namespace eventspace
