// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/schedules.cpp — search space of the schedules of a collective.
#include "collectives/tuner/schedules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "collectives/algorithms/all.hpp"
#include "collectives/cost/outline.hpp"

namespace tuner {
namespace {

using base::Nanos;
using collectives::CollectiveSpec;
using collectives::Count;
using pricing::Bytes;
using pricing::Candidate;

/// A prediction is aborted when it exceeds the least predicted time by this factor. A race with
/// delta 1 begins with configurations of up to twice the least time. The race then adds neighbours
/// with up to 1.6 times the time of a configuration, and once more neighbours of these neighbours.
/// The slowest configuration of the race thus takes up to 2 * 1.6 * 1.6 = 5.12 times the least
/// time, which is below 6.
constexpr std::int64_t prediction_limit = 6;

/// Returns the name of a candidate's family: the algorithm with all parameters that matter, except
/// the length of messages.
std::string family_name(const Candidate& candidate, collectives::Collective collective) {
  collectives::Parameters named;
  for (const collectives::Parameter& one : candidate.algorithm->parameters)
    if (!one.is_piece && candidate.algorithm->matters(one, collective, candidate.parameters))
      named.set(one.name, candidate.parameters.word(one.name));
  const std::string text = named.text();
  return text.empty() ? candidate.algorithm->name : candidate.algorithm->name + ":" + text;
}

/// Returns the maximum size of a candidate's messages in bytes; 0 = no segmentation.
Bytes length_of(const Candidate& candidate, Bytes element_bytes) {
  for (const collectives::Parameter& one : candidate.algorithm->parameters)
    if (one.is_piece) return candidate.parameters.number(one.name) * element_bytes;
  return 0;
}

/// Returns the number of portions in which the candidate's steps are generated, at least 1.
Count portions_of(const Candidate& candidate, const CollectiveSpec& task) {
  return std::max<Count>(candidate.algorithm->program(task, candidate.parameters, 0).portions(), 1);
}

/// Selects the families and lengths to search. Two families are equal if they make the same
/// schedule with messages of a quarter of the vector. The number of messages in that schedule also
/// serves to estimate the numbers of messages for other lengths.
class Selection {
 public:
  Selection(const CollectiveSpec& task, Bytes element_bytes, const pricing::Network& network,
            std::size_t messages_most)
      : task_(task),
        element_bytes_(element_bytes),
        network_(network),
        messages_most_(messages_most) {}

  /// Returns the members of the family that the search examines. Returns none if the family equals
  /// an earlier family.
  pricing::Family select(const pricing::Family& family) {
    constexpr std::size_t quarter = 2;
    const Candidate& sample = family[std::min(quarter, family.size() - 1)];
    const pricing::Outline outline =
        outline_of(pricing::programs_of(*sample.algorithm, task_, sample.parameters),
                   element_bytes_, network_);
    if (!seen_.emplace(outline.steps.high, outline.steps.low, family.size()).second) return {};
    const std::size_t per_portion = outline.messages / portions_of(sample, task_);
    pricing::Family selected;
    for (const Candidate& one : family)
      if (selected.empty() || per_portion <= messages_most_ / portions_of(one, task_))
        selected.push_back(one);
    return selected;
  }

 private:
  const CollectiveSpec& task_;
  Bytes element_bytes_;
  const pricing::Network& network_;
  std::size_t messages_most_;
  std::set<std::tuple<std::uint64_t, std::uint64_t, std::size_t>> seen_;
};

/// Returns the number of bytes that an element has in a message. It is 0 for a barrier, whose
/// messages have no bytes.
Bytes message_bytes(const CollectiveSpec& task, Bytes element_bytes) {
  return task.collective == collectives::Collective::barrier ? 0 : element_bytes;
}

}  // namespace

std::vector<pricing::Family> families_of_paper(const CollectiveSpec& task,
                                               collectives::Order worst) {
  std::vector<pricing::Family> families;
  const collectives::Algorithm& tree = collectives::algorithm_named("tree");
  if (!tree.does(task.collective)) return families;
  const Count whole = task.vector().count;
  for (const char* shape : {"shape=flat", "shape=chain", "shape=kary,arity=2", "shape=binomial"}) {
    pricing::Family family;
    for (Count length = std::bit_ceil(std::max<Count>(whole, 1)); length > 0; length /= 2) {
      Candidate one{&tree, tree.read(shape)};
      one.parameters.set("segment", fmt::format("{}", length >= whole ? 0 : length));
      const bool is_bad =
          collectives::is_reduction(task.collective) && tree.order(task, one.parameters) > worst;
      if (!is_bad && tree.why_not(task, one.parameters).empty()) family.push_back(std::move(one));
    }
    if (!family.empty()) families.push_back(std::move(family));
  }
  return families;
}

Schedules schedules_of(const std::vector<pricing::Family>& families, const CollectiveSpec& task,
                       Bytes element_bytes, const pricing::Network& network, const Predict& predict,
                       std::size_t messages_most) {
  Selection selection(task, message_bytes(task, element_bytes), network, messages_most);
  Schedules schedules;
  Nanos limit = Nanos::max();
  for (const pricing::Family& all : families) {
    pricing::Family selected = selection.select(all);
    if (selected.empty()) continue;
    Family family{family_name(selected.front(), task.collective), {}};
    for (const Candidate& one : selected) {
      const auto time = predict(one, limit);
      if (time && *time < limit / prediction_limit) limit = *time * prediction_limit;
      family.members.push_back({length_of(one, element_bytes), time});
    }
    schedules.space.families.push_back(std::move(family));
    schedules.families.push_back(std::move(selected));
  }
  if (schedules.families.empty())
    throw std::invalid_argument(
        fmt::format("no algorithm can do that {}", name_of(task.collective)));
  return schedules;
}

Predict predict_on(const CollectiveSpec& task, Bytes element_bytes,
                   const pricing::Network& network) {
  return [&task, &network, bytes = message_bytes(task, element_bytes)](
             const Candidate& one, Nanos limit) -> std::optional<Nanos> {
    const auto price = pricing::evaluate(pricing::programs_of(*one.algorithm, task, one.parameters),
                                         bytes, network, {}, limit);
    if (!price) return std::nullopt;
    return price->time;
  };
}

}  // namespace tuner
