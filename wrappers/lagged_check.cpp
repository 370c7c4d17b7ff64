// SPDX-License-Identifier: Apache-2.0
// wrappers/lagged_check.cpp — exact results of earlier rounds.
#include "wrappers/lagged_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/errors.hpp"
#include "paths/joins/awaited_values.hpp"
#include "paths/plan/plan.hpp"

namespace wrappers {

using paths::Deployment;
using paths::Operation;
using paths::OperationKind;
using paths::Origin;
using paths::Result;
using paths::StageId;

LaggedCheck::LaggedCheck(Deployment& deployment, std::uint32_t wrapper,
                         LaggedCheckSettings settings)
    : deployment_(deployment),
      settings_(std::move(settings)),
      result_(deployment.element(settings_.elements.own)),
      rounds_(deployment, *this, wrapper, result_, true) {
  std::vector<pastset::Element*> others;
  for (const std::string& name : settings_.elements.all) {
    clusters_.emplace_back().element = deployment.element(name);
    if (name == settings_.elements.own) {
      own_ = clusters_.size() - 1;
    } else {
      others.push_back(clusters_.back().element.get());
    }
  }
  changes_ = std::make_unique<pastset::AnyChange>(std::move(others));
}

Result LaggedCheck::operate(Operation operation, paths::Next next) {
  return rounds_.operate(
      std::move(operation), next,
      [this](Operation move, const paths::Next& rest) { return decide(std::move(move), rest); });
}

Result LaggedCheck::decide(Operation operation, const paths::Next& next) {
  rounds_.check(operation, settings_.decision.reduction);
  const std::uint64_t sequence = operation.sequence;
  if (sequence != next_sequence_++)
    rounds_.fail(operation,
                 fmt::format("round {} arrived, expected round {}", sequence, next_sequence_ - 1),
                 paths::FailureCause::other);
  tell(operation, next);
  if (sequence >= settings_.rounds)
    return result_of(sequence - settings_.rounds, operation, next.stage().id);
  return paths::unchecked_result(operation, std::move(operation.payload));
}

/// Stores the value of the own cluster immediately. The other clusters receive the value when the
/// batch is full.
void LaggedCheck::tell(const Operation& operation, const paths::Next& next) {
  clusters_[own_].values[operation.sequence] = {operation.contributions, operation.payload,
                                                deployment_.runtime().now()};
  batch_.push_back(operation.payload);
  if (batch_.size() < settings_.every) return;
  const std::size_t size = operation.payload.size();
  const auto values = base::Payload::filled(size * batch_.size(), [&](std::span<std::byte> bytes) {
    for (std::size_t i = 0; i < batch_.size(); ++i)
      std::copy_n(batch_[i].bytes().begin(), size, bytes.begin() + std::ptrdiff_t(i * size));
  });
  Operation store = operation;
  store.payload =
      paths::batch_tuple({operation.sequence + 1 - batch_.size(), operation.contributions, values});
  batch_.clear();
  next(std::move(store));
}

Result LaggedCheck::result_of(std::uint64_t sequence, const Operation& operation, StageId stage) {
  const base::Nanos began = deployment_.runtime().now();
  const bool has_waited = wait_for(sequence, operation, stage);
  const base::Nanos now = deployment_.runtime().now();
  Origin origin;
  origin.kind = has_waited ? Origin::Kind::waited : Origin::Kind::cached;
  origin.sequence = sequence;
  std::vector<paths::ClusterValue> values;
  std::uint64_t contributions = 0;
  base::Nanos came{-1};
  for (std::size_t place = 0; place < clusters_.size(); ++place) {
    Value known = clusters_[place].values.extract(sequence).mapped();
    contributions += known.contributions;
    values.push_back({clusters_[place].element->name(), std::move(known.value)});
    if (place == own_ || known.came < came) continue;
    came = known.came;
    origin.cluster = static_cast<std::uint32_t>(place);
  }
  origin.nanos = (now - (has_waited ? began : came)).count();
  try {
    Result result =
        settings_.decision.complete(settings_.decision.combine(values), contributions, sequence);
    result.origin = origin;
    return result;
  } catch (const base::BadValue& bad) {
    rounds_.fail(operation, fmt::format("round {}: {}", sequence, bad.what()),
                 paths::FailureCause::refused_value);
  }
}

/// Blocks until the values of all clusters for the round are known. Returns whether the call had to
/// wait.
bool LaggedCheck::wait_for(std::uint64_t sequence, const Operation& operation, StageId stage) {
  const runtime::Deadline deadline = runtime::Deadline::written_at(
      deployment_.round_end(operation.until, deployment_.plan().stages[stage].wrapper));
  paths::AwaitedValues reads(deployment_, stage, sequence, clusters_.size(), own_);
  for (bool has_waited = false;; has_waited = true) {
    const std::uint64_t changes = changes_->count();
    std::vector<std::optional<std::uint64_t>> known;
    std::string missing;
    std::optional<paths::TravelError> lost;
    for (Cluster& cluster : clusters_) {
      // Reads the mark first. A marked element gets no more tuples, so the tuples read afterwards
      // are complete.
      const auto mark = cluster.element->error_mark();
      take_batches(cluster);
      const bool is_known = cluster.values.contains(sequence);
      known.push_back(is_known ? std::optional(sequence) : std::nullopt);
      if (is_known) continue;
      missing += (missing.empty() ? "" : ", ") + cluster.element->name();
      if (mark && !lost) lost = paths::error_of_mark(*mark);
    }
    reads.look(known);
    if (missing.empty()) return has_waited;
    if (lost) throw paths::TravelError(*lost);
    if (changes_->wait(changes, deadline)) continue;
    rounds_.fail(operation,
                 fmt::format("round {}: undecided at the deadline, nothing of this round in {}",
                             sequence, missing),
                 paths::FailureCause::deadline);
  }
}

void LaggedCheck::take_batches(Cluster& cluster) {
  if (cluster.element == result_) return;
  while (const auto tuple = cluster.element->try_observe()) {
    take_batch(cluster, tuple->payload);
    cluster.element->axe(tuple->number);
  }
}

void LaggedCheck::take_batch(Cluster& cluster, const base::Payload& tuple) {
  const paths::Batch batch = paths::read_batch(tuple);
  const std::size_t size = settings_.decision.reduction.shape.bytes();
  for (std::size_t i = 0; (i + 1) * size <= batch.values.size(); ++i) {
    cluster.values[batch.first + i] = {
        batch.contributions, base::Payload::copy_of(batch.values.bytes().subspan(i * size, size)),
        deployment_.runtime().now()};
  }
}

paths::WrapperKind lagged_check_kind() {
  paths::WrapperKind kind;
  kind.name = "lagged_check";
  kind.help = "At the root of a cluster: decides each round exactly, a number of rounds late.";
  kind.job = paths::Job::check;
  kind.may_answer_partial_values = true;
  kind.settings = paths::reduction_settings();
  kind.settings.insert(
      kind.settings.end(),
      {{"rounds", "integer from 1 to 1000000", "required",
        "Number of rounds by which a result is late."},
       {"every", "integer from 1 to 1000000", "1",
        "Rounds whose values are sent together; at most `rounds`."},
       {"condition", "condition", "none", "The test, such as {less: 0.01} or is_true."},
       {"result", "element", "required", "Element of this host with the batches of this cluster."},
       {"combine", "list of elements", "required",
        "Elements with the batches of each cluster, in the order of clusters: `result`, and for "
        "the others the elements where their batches arrive."}});
  kind.template_below = [](const base::Settings&, const pastset::Template&) {
    return paths::batch_template();
  };
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace& place) -> paths::MakeWrapper {
    LaggedCheckSettings settings;
    if (!reader.has("rounds")) reader.mistake("rounds", "missing, expected a number of rounds");
    const std::int64_t rounds = reader.integer("rounds", 1, 1, 1'000'000);
    settings.rounds = static_cast<std::uint64_t>(rounds);
    settings.every = static_cast<std::uint64_t>(reader.integer("every", 1, 1, rounds));
    settings.decision.reduction = paths::read_reduction(reader);
    settings.decision.condition =
        paths::read_decided_condition(reader, settings.decision.reduction, false);
    settings.elements = paths::read_cluster_elements(reader, place, paths::batch_template());
    if (settings.elements.all.empty())
      reader.mistake("combine", "missing, expected the batches of all clusters");
    return [settings, wrapper = place.wrapper()](Deployment& deployment) {
      return std::make_unique<LaggedCheck>(deployment, wrapper, settings);
    };
  };
  return kind;
}

}  // namespace wrappers
