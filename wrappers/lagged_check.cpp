// SPDX-License-Identifier: Apache-2.0
// wrappers/lagged_check.cpp — exact results, late.
#include "wrappers/lagged_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <span>
#include <utility>

#include "base/errors.hpp"
#include "paths/cluster_reads.hpp"
#include "paths/plan.hpp"

namespace wrappers {

using paths::Host;
using paths::Operation;
using paths::OperationKind;
using paths::Origin;
using paths::Result;
using paths::StageId;

LaggedCheck::LaggedCheck(Host& host, std::uint32_t wrapper, LaggedCheckSettings settings)
    : host_(host),
      wrapper_(wrapper),
      settings_(std::move(settings)),
      result_(host.element(settings_.elements.own)) {
  for (const std::string& name : settings_.elements.all) {
    clusters_.emplace_back().element = host.element(name);
    if (name == settings_.elements.own) own_ = clusters_.size() - 1;
  }
}

Result LaggedCheck::operate(Operation operation, paths::Next next) {
  if (operation.kind != OperationKind::move) return next(std::move(operation));
  next.taken();
  const paths::Turns::Turn turn(turns_, name(), operation.sequence, operation.failure != nullptr);
  if (const auto error = result_->error_mark()) fail(operation, *error);
  try {
    return decide(std::move(operation), next);
  } catch (const std::exception& error) {
    result_->mark_error(error.what());
    throw;
  }
}

void LaggedCheck::fail(const Operation& operation, const std::string& reason) const {
  throw paths::TravelError(*host_.failure(name(), operation.path, reason));
}

Result LaggedCheck::decide(Operation operation, const paths::Next& next) {
  if (operation.failure) throw paths::TravelError(*operation.failure);
  const std::uint64_t sequence = operation.sequence;
  if (const std::string wrong = settings_.decision.reduction.wrong(operation); !wrong.empty()) {
    fail(operation, fmt::format("round {}: {}: {}", sequence,
                                host_.plan().contributor(wrapper_, operation.slot), wrong));
  }
  if (sequence != next_sequence_++)
    fail(operation, fmt::format("round {} came, expected round {}", sequence, next_sequence_ - 1));
  tell(operation, next);
  if (sequence >= settings_.rounds)
    return result_of(sequence - settings_.rounds, operation, next.stage().id);
  Result unchecked;
  unchecked.sequence = sequence;
  unchecked.contributions = operation.contributions;
  unchecked.origin.kind = Origin::Kind::local;
  unchecked.payload = std::move(operation.payload);
  return unchecked;
}

/// Ours is the first value that is known; the others learn it when the batch is full.
void LaggedCheck::tell(const Operation& operation, const paths::Next& next) {
  clusters_[own_].values[operation.sequence] = {operation.contributions, operation.payload};
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
  const runtime::Deadline deadline = host_.deadline();
  const base::Nanos began = host_.runtime().now();
  paths::ClusterReads reads(host_, stage, sequence, clusters_.size(), own_);
  const auto look = [&] {
    std::vector<std::optional<std::uint64_t>> known;
    for (const Cluster& cluster : clusters_)
      known.push_back(cluster.values.contains(sequence) ? std::optional(sequence) : std::nullopt);
    reads.look(known);
  };
  for (Cluster& cluster : clusters_) take_batches(cluster);
  look();
  Origin origin;
  origin.kind = Origin::Kind::cached;
  for (std::size_t place = 0; place < clusters_.size(); ++place) {
    if (!wait_for(clusters_[place], sequence, operation, deadline)) continue;
    look();
    origin.kind = Origin::Kind::waited;
    origin.cluster = static_cast<std::uint32_t>(place);
  }
  std::vector<paths::ClusterValue> values;
  std::uint64_t contributions = 0;
  for (Cluster& cluster : clusters_) {
    auto known = cluster.values.extract(sequence);
    contributions += known.mapped().contributions;
    values.push_back({cluster.element->name(), std::move(known.mapped().value)});
  }
  try {
    Result result =
        settings_.decision.complete(settings_.decision.combine(values), contributions, sequence);
    result.origin = origin;
    result.origin.sequence = sequence;
    result.origin.nanos = (host_.runtime().now() - began).count();
    return result;
  } catch (const base::BadValue& bad) {
    fail(operation, fmt::format("round {}: {}", sequence, bad.what()));
  }
}

/// Whether it had to wait.
bool LaggedCheck::wait_for(Cluster& cluster, std::uint64_t sequence, const Operation& operation,
                           runtime::Deadline deadline) {
  if (cluster.values.contains(sequence)) return false;
  do {
    try {
      cluster.element->newest(cluster.next_batch, deadline);
    } catch (const pastset::DeadlinePassed&) {
      fail(operation,
           fmt::format("round {}: undecided at the deadline, nothing of this round in {}", sequence,
                       cluster.element->name()));
    } catch (const pastset::Marked& mark) {
      fail(operation, mark.what());
    }
    take_batches(cluster);
  } while (!cluster.values.contains(sequence));
  return true;
}

void LaggedCheck::take_batches(Cluster& cluster) {
  if (cluster.element == result_) return;
  while (const auto tuple = cluster.element->try_observe()) {
    cluster.next_batch = tuple->number + 1;
    take_batch(cluster, tuple->payload);
    cluster.element->axe(tuple->number);
  }
}

void LaggedCheck::take_batch(Cluster& cluster, const base::Payload& tuple) {
  const paths::Batch batch = paths::read_batch(tuple);
  const std::size_t size = settings_.decision.reduction.shape.bytes();
  for (std::size_t i = 0; (i + 1) * size <= batch.values.size(); ++i) {
    cluster.values[batch.first + i] = {
        batch.contributions, base::Payload::copy_of(batch.values.bytes().subspan(i * size, size))};
  }
}

paths::WrapperKind lagged_check_kind() {
  paths::WrapperKind kind;
  kind.name = "lagged_check";
  kind.help = "At the root of a cluster: decides each round exactly, a number of rounds late.";
  kind.settings = paths::reduction_settings();
  kind.settings.insert(
      kind.settings.end(),
      {{"rounds", "integer", "required", "How many rounds a result comes late."},
       {"every", "integer", "1", "Rounds whose values are told at once; at most rounds."},
       {"condition", "condition", "none", "The test, such as {less: 0.01} or is_true."},
       {"result", "element", "required", "This cluster's batches, of this host."},
       {"combine", "list of elements", "required",
        "The batches of all clusters, in their order: `result` and where the others' come."}});
  kind.template_below = [](const base::Settings&, const pastset::Template&) {
    return paths::batch_template();
  };
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace& place) -> paths::MakeWrapper {
    LaggedCheckSettings settings;
    if (!reader.has("rounds")) reader.mistake("rounds", "missing, expected how many rounds");
    const std::int64_t rounds = reader.integer("rounds", 1, 1, 1'000'000);
    settings.rounds = static_cast<std::uint64_t>(rounds);
    settings.every = static_cast<std::uint64_t>(reader.integer("every", 1, 1, rounds));
    settings.decision.reduction = paths::read_reduction(reader);
    settings.decision.condition =
        paths::read_decided_condition(reader, settings.decision.reduction, false);
    settings.elements = paths::read_cluster_elements(reader, place, paths::batch_template());
    if (settings.elements.all.empty())
      reader.mistake("combine", "missing, expected the batches of all clusters");
    return [settings, wrapper = place.wrapper](Host& host) {
      return std::make_unique<LaggedCheck>(host, wrapper, settings);
    };
  };
  return kind;
}

}  // namespace wrappers
