// SPDX-License-Identifier: Apache-2.0
// paths/joins/decision.cpp — combination of the clusters' values of a round, and results of rounds.
#include "paths/joins/decision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/buffer.hpp"
#include "base/errors.hpp"
#include "paths/plan/element_setting.hpp"
#include "paths/plan/plan.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Combines the values part by part. Returns nullopt if a value must not be combined.
std::optional<base::Payload> Decision::combine_parts(std::span<const ClusterValue> values) const {
  base::Buffer sum(reduction.shape.bytes());
  for (std::size_t at = 0; at < sum.size(); at += fold_part_bytes) {
    if (at > 0) runtime::yield_to_services();
    const std::size_t size = std::min(fold_part_bytes, sum.size() - at);
    const std::span<std::byte> part = sum.bytes().subspan(at, size);
    std::copy_n(values.front().value.bytes().data() + at, size, part.data());
    for (const ClusterValue& one : values.subspan(1))
      if (!reduction.elements(part, part, one.value.bytes().subspan(at, size))) return std::nullopt;
  }
  return std::move(sum).freeze();
}

base::Payload Decision::combine(std::span<const ClusterValue> values) const {
  const bool is_large =
      reduction.elements != nullptr && !values.empty() && reduction.shape.bytes() > fold_part_bytes;
  if (is_large)
    if (auto sum = combine_parts(values)) return *std::move(sum);
  return base::Payload::filled(reduction.shape.bytes(), [&](std::span<std::byte> sum) {
    bool is_first = true;
    for (const ClusterValue& one : values) {
      const std::span<const std::byte> value = one.value.bytes();
      if (std::exchange(is_first, false)) {
        std::copy(value.begin(), value.end(), sum.begin());
        continue;
      }
      try {
        reduction.fold(sum, value);
      } catch (const base::Overflow& overflow) {
        throw base::Overflow(
            fmt::format("combining what is in {}: {}", one.element, overflow.what()));
      } catch (const base::BadValue& bad) {
        throw base::BadValue(fmt::format("combining what is in {}: {}", one.element, bad.what()));
      }
    }
  });
}

bool Decision::proves(const base::Payload& part) const {
  return paths::proves(*condition, reduction.operation->name, reduction.sign, part.bytes());
}

bool Decision::is_nearer(const base::Payload& left, const base::Payload& right) const {
  return paths::is_nearer(*condition, reduction.operation->name, reduction.sign, left.bytes(),
                          right.bytes());
}

Result Decision::proved(base::Payload part, std::uint64_t contributions,
                        std::uint64_t sequence) const {
  const auto outcome =
      provable_outcome(reduction.operation->name, reduction.sign, condition->comparison);
  ENSURE(outcome.has_value());
  Result result;
  result.condition = *outcome ? Condition::holds : Condition::fails;
  result.proved = true;
  result.sequence = sequence;
  result.contributions = contributions;
  result.payload = std::move(part);
  return result;
}

Result Decision::complete(base::Payload value, std::uint64_t contributions,
                          std::uint64_t sequence) const {
  Result result;
  if (condition)
    result.condition = holds(*condition, value.bytes()) ? Condition::holds : Condition::fails;
  result.sequence = sequence;
  result.contributions = contributions;
  result.payload = std::move(value);
  return result;
}

std::optional<ConditionSpec> read_decided_condition(base::MapReader& reader,
                                                    const Reduction& reduction, bool may_prove) {
  const bool is_declared = reader.has("condition");
  const auto condition = read_condition(reader, reduction.shape.scalar);
  if (!condition) {
    if (may_prove && !is_declared) reader.mistake("relaxation", "conditional needs a condition");
    return condition;
  }
  if (reduction.shape.count != 1)
    reader.mistake("condition", "only a scalar can be compared, not an array");
  const std::string& name = reduction.operation->name;
  const std::string why = may_prove ? why_not_provable(name, reduction.sign, condition->comparison,
                                                       reduction.shape.scalar, reduction.values)
                                    : why_no_condition(name, condition->comparison);
  if (!why.empty()) reader.mistake("condition", why);
  return condition;
}

ClusterElements read_cluster_elements(base::MapReader& reader, const WrapperPlace& place,
                                      const pastset::Template& expected) {
  ClusterElements elements{read_element(reader, "result", place), reader.words("combine")};
  for (const std::string& name : elements.all) {
    check_element(reader, "combine", name, place, expected);
    if (std::count(elements.all.begin(), elements.all.end(), name) > 1)
      reader.mistake("combine", fmt::format("'{}' is listed more than once", name));
  }
  const bool has_own =
      std::find(elements.all.begin(), elements.all.end(), elements.own) != elements.all.end();
  if (!elements.all.empty() && !has_own)
    reader.mistake("combine", fmt::format("'{}', this cluster's own, is not listed", elements.own));
  return elements;
}

std::uint64_t count_contributors(const Plan& plan, std::uint32_t wrapper) {
  const auto passes_here = [&](const Plan::PlanPath& path) {
    for (StageId stage = path.stage; stage != no_stage; stage = plan.stages[stage].below)
      if (plan.stages[stage].wrapper == wrapper) return true;
    return false;
  };
  const auto one = std::find_if(plan.paths.begin(), plan.paths.end(), passes_here);
  if (one == plan.paths.end()) return 0;
  std::uint64_t threads = 0;
  for (const auto& path : plan.paths) threads += path.graph == one->graph ? path.threads : 0;
  return threads;
}

}  // namespace paths
