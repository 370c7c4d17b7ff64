// SPDX-License-Identifier: Apache-2.0
// groups/execution/repeated_calls.cpp — comparison of a call with the calls before it
#include "groups/execution/repeated_calls.hpp"

#include <utility>

#include "groups/execution/region_execution.hpp"

namespace groups {
namespace {

using collectives::Collective;

/// Largest total size of the arrays of a kept call.
constexpr std::size_t bytes_max = 32 << 10;

bool differs_only_in_memory(const RepeatedCall& known, const Call& call) {
  const Call& given = known.given;
  return given.collective == call.collective && known.in_bytes == call.in.size() &&
         known.out_bytes == call.out.size() && given.scalar == call.scalar &&
         given.values == call.values && given.root == call.root &&
         given.is_canonical == call.is_canonical && given.operation == call.operation &&
         given.algorithm == call.algorithm && given.counts == call.counts;
}

}  // namespace

bool RepeatedCalls::can_keep(const Call& call) {
  // A scan normalizes its results, and an operation that reorders blocks needs a copy of its input.
  const bool is_scan = call.collective == Collective::scan || call.collective == Collective::exscan;
  const bool is_in_place = !call.in.empty() && call.in.data() == call.out.data();
  return !is_scan && (!is_in_place || RegionExecution::can_work_in_place(call.collective)) &&
         call.in.size() + call.out.size() <= bytes_max && call.has_values &&
         call.counts.size() <= 1 && call.from == nullptr && call.into == nullptr &&
         call.window == 0 && call.ports.receiving == 0;
}

RepeatedCall RepeatedCalls::of(const Call& call) {
  RepeatedCall made;
  made.given.collective = call.collective;
  made.given.scalar = call.scalar;
  made.given.operation = call.operation;
  made.given.values = call.values;
  made.given.root = call.root;
  made.given.counts = call.counts;
  made.given.algorithm = call.algorithm;
  made.given.is_canonical = call.is_canonical;
  made.in_bytes = call.in.size();
  made.out_bytes = call.out.size();
  return made;
}

RepeatedCall* RepeatedCalls::find(const Call& call) {
  for (RepeatedCall& known : known_)
    if (known.prepared != nullptr && differs_only_in_memory(known, call))
      return can_keep(call) ? &known : nullptr;
  return nullptr;
}

void RepeatedCalls::keep(RepeatedCall given, const Call& call, std::uint32_t rank,
                         std::shared_ptr<const PreparedCall> prepared) {
  const base::ReduceOperation* const operation = operation_of(call);
  if (operation != nullptr) given.fold = Fold(*operation, call.scalar, call.values);
  if (!given.fold.is_built_in() || prepared->question.collective != call.collective) return;
  given.is_fold = operation != nullptr;
  if (reads(call, rank)) given.read_bytes = call.in.size();
  if (writes(call, rank)) given.written_bytes = call.out.size();
  given.prepared = std::move(prepared);
  known_[oldest_++ % known_.size()] = std::move(given);
}

}  // namespace groups
