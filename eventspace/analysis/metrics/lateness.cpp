// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/lateness.cpp — lateness of computations, and time that rounds lose to
// noise.
#include "eventspace/analysis/metrics/lateness.hpp"

#include <algorithm>

#include "eventspace/analysis/report/significance.hpp"

namespace eventspace {

Lateness::Lateness(const Shape& shape, const Figures& figures)
    : shape_(shape), figures_(figures), graphs_(shape.graphs.size()), leads_(shape.leaves.size()) {}

void Lateness::add(std::uint32_t leaf, std::uint64_t sequence, double late_nanos) {
  Iteration& iteration = graphs_[tree_of(leaf).graph].iterations.at(sequence);
  iteration.is_seen = true;
  const auto over =
      std::count_if(lateness_bounds_nanos.begin(), lateness_bounds_nanos.end(),
                    [&](std::int64_t bound) { return late_nanos > static_cast<double>(bound); });
  iteration.lateness = std::max(iteration.lateness, static_cast<std::uint8_t>(over));
}

bool Lateness::add_noise(std::uint32_t leaf, std::uint64_t sequence, std::int64_t noise_nanos) {
  const Tree& tree = tree_of(leaf);
  GraphState& graph = graphs_[tree.graph];
  Iteration& iteration = graph.iterations.at(sequence);
  iteration.greatest_noise = std::max(iteration.greatest_noise, static_cast<float>(noise_nanos));
  const RoundNote* note = figures_.note(shape_.probes[shape_.leaves[leaf].probe].tree, sequence);
  if (note == nullptr || note->critical_leaf == none) return false;
  add_to(graph.noise, noise_nanos);
  if (note->critical_leaf != leaf) return false;
  Lead& lead = leads_[leaf];
  if (lead.round != note->complete) lead = {note->complete, 0};
  const std::int64_t effective = std::min(noise_nanos, note->lead_nanos - lead.used);
  lead.used += effective;
  add_to(graph.effective, effective);
  graph.lost += static_cast<double>(effective) * static_cast<double>(tree.leaves.size());
  return true;
}

void Lateness::report(Report& report, const Conditional& conditional) const {
  for (std::uint32_t graph = 0; graph < graphs_.size(); ++graph) {
    const GraphState& state = graphs_[graph];
    LatenessReport lateness;
    lateness.graph = shape_.graphs[graph];
    state.iterations.for_each([&](std::uint64_t, const Iteration& iteration) {
      lateness.iterations += iteration.is_seen;
      for (std::size_t bound = 0; bound < iteration.lateness; ++bound) ++lateness.over[bound];
    });
    if (lateness.iterations == 0) continue;
    lateness.noise_nanos = state.noise;
    lateness.effective_noise_nanos = state.effective;
    lateness.absorbed_noise_nanos = state.noise - state.effective;
    const double waited = state.lost - static_cast<double>(state.effective);
    lateness.waited_for_noise_nanos = static_cast<std::int64_t>(std::min(waited, 9e18));
    if (state.noise > 0)
      lateness.noise_amplification = state.lost / static_cast<double>(state.noise);
    for (std::uint32_t tree = 0; tree < shape_.trees.size(); ++tree)
      if (shape_.trees[tree].graph == graph) add_wan(tree, conditional, lateness);
    report.lateness.push_back(lateness);
  }
}

void Lateness::add_wan(std::uint32_t tree, const Conditional& conditional,
                       LatenessReport& lateness) const {
  const GraphState& state = graphs_[shape_.trees[tree].graph];
  const auto add = [&](std::uint64_t sequence, std::int64_t nanos, std::int64_t& sum,
                       std::int64_t& hideable) {
    add_to(sum, nanos);
    const Iteration* iteration = state.iterations.find(sequence);
    const auto noise =
        iteration == nullptr ? 0 : static_cast<std::int64_t>(iteration->greatest_noise);
    add_to(hideable, std::clamp<std::int64_t>(nanos, 0, noise));
  };
  figures_.for_each_note(tree, [&](std::uint64_t sequence, const RoundNote& note) {
    if (note.critical_leaf != none)
      add(sequence, note.wan_nanos, lateness.critical_wan_two_way_nanos,
          lateness.hideable_wan_nanos);
  });
  conditional.for_each_wan_wait(tree, figures_, [&](std::uint64_t sequence, std::int64_t nanos) {
    add(sequence, nanos, lateness.check_wan_one_way_nanos, lateness.hideable_check_wan_nanos);
  });
}

}  // namespace eventspace
