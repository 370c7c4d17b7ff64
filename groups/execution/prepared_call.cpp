// SPDX-License-Identifier: Apache-2.0
// groups/execution/prepared_call.cpp — counts, signature and selection key of a call.
#include "groups/execution/prepared_call.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.hpp"
#include "groups/calls/chunks.hpp"
#include "groups/calls/local.hpp"
#include "groups/execution/machine_group.hpp"

namespace groups {
namespace {

Call without_memory(Call call) {
  call.in = {};
  call.out = {};
  call.places = {};
  call.from = nullptr;
  call.tuple = {};
  call.into = nullptr;
  call.made = nullptr;
  return call;
}

std::string signature_of(const Call& call, const CallCounts& counts) {
  return fmt::format(
      "{}{}{} {}{}{}, {} by {}{}", name_of(call.collective), call.operation.empty() ? "" : " ",
      call.operation, base::scalar_name(call.scalar),
      call.values == base::Values::ieee ? " as they are" : "",
      has_root(call.collective) ? fmt::format(" from {}", call.root) : "", counts.text(),
      call.algorithm, call.selector ? call.selector->taken().text() : "");
}

/// Returns whether a group that has shared regions uses them for the call. The group does not use
/// the regions if some blocks are large and most blocks are small: chunks with a piece of every
/// block would then be almost empty.
bool can_use_shared_memory(const Call& call, const SelectionKey& question,
                           const Machines& machines) {
  if (!call.has_values || !is_selected(call.algorithm)) return false;
  if (call.selector != nullptr && (call.selector->taken().links != nullptr || !machines.is_one()))
    return false;
  constexpr std::uint64_t even_ratio_max = 8, large_bytes = std::uint64_t{1} << 20;
  const std::uint64_t largest = question.counts.largest();
  if (!machines.is_one())
    return MachineGroup::can_lead(question.collective, largest * question.element_bytes);
  if (!Chunks::has_own_blocks(question.collective)) return true;
  return largest <= large_bytes / std::max<std::uint64_t>(1, question.element_bytes) ||
         largest / even_ratio_max <= question.counts.total() / question.counts.blocks();
}

SelectionKey question_of(const Call& call, const CallCounts& counts, const Layout& layout) {
  const collectives::Collective between = Local::between_hosts(call, layout);
  return key_of(
      call,
      {.collective = between,
       .topology = nullptr,
       .counts = counts.between_hosts(layout, between),
       .root = has_root(call.collective) ? layout.participant_at(layout.place(call.root)) : 0},
      element_bytes_of(call));
}

}  // namespace

bool reads(const Call& call, std::uint32_t rank) {
  switch (call.collective) {
    case collectives::Collective::barrier:
    case collectives::Collective::broadcast: return false;
    case collectives::Collective::scatter: return rank == call.root;
    default: return true;
  }
}

bool writes(const Call& call, std::uint32_t rank) {
  switch (call.collective) {
    case collectives::Collective::barrier: return false;
    case collectives::Collective::reduce:
    case collectives::Collective::gather: return rank == call.root;
    default: return true;
  }
}

const base::ReduceOperation* operation_of(const Call& call) {
  return call.collective == collectives::Collective::barrier || !is_reduction(call.collective)
             ? nullptr
             : base::reduce_operation(call.operation);
}

std::size_t element_bytes_of(const Call& call) {
  const base::ReduceOperation* const operation = operation_of(call);
  const bool is_located = operation != nullptr && operation->located;
  return base::ReduceShape{call.scalar, 1, is_located}.bytes();
}

PreparedCall::PreparedCall(const Call& its_call, const Layout& layout, const Machines* machines)
    : call(without_memory(its_call)),
      counts(call, layout),
      signature(signature_of(call, counts)),
      digest(base::digest_of(signature).low),
      question(question_of(call, counts, layout)),
      can_share_memory(machines != nullptr && can_use_shared_memory(call, question, *machines)) {
  // If the call can use shared regions, its schedule must fold in the same order as an operation
  // there. The reason is that hosts use the schedule if they cannot map the regions, or if the
  // config forbids the regions.
  if (can_share_memory && question.worst == collectives::Order::in_order)
    question.worst = collectives::Order::canonical;
}

bool PreparedCall::is_of(const Call& other) const {
  return call.collective == other.collective && call.scalar == other.scalar &&
         call.values == other.values && call.root == other.root &&
         call.has_values == other.has_values && call.is_canonical == other.is_canonical &&
         call.selector == other.selector && call.operation == other.operation &&
         call.algorithm == other.algorithm && call.counts == other.counts;
}

std::shared_ptr<const PreparedCall> PreparedCallCache::of(const Call& call, const Layout& layout,
                                                          const Machines* machines) {
  for (const auto& one : known_)
    if (one->is_of(call)) return one;
  auto made = std::make_shared<const PreparedCall>(call, layout, machines);
  if (known_.size() < most) return known_.emplace_back(std::move(made));
  auto& place = known_[oldest_++ % most];
  return place = std::move(made);
}

}  // namespace groups
