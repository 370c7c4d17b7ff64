// SPDX-License-Identifier: Apache-2.0
// commands/used_sizes.cpp — collectives and sizes that a traced run used.
#include "commands/used_sizes.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "eventspace/analysis/input/group_operations.hpp"
#include "eventspace/group_record.hpp"
#include "eventspace/trace/merged.hpp"
#include "eventspace/trace/reader.hpp"

namespace commands {
namespace {

using collectives::Collective;

/// Maximum memory, in bytes, for operations that still lack some of their records.
constexpr std::size_t open_bytes_max = std::size_t{256} << 20;

std::optional<Collective> collective_named(const std::string& name) {
  for (const Collective one : collectives::all_collectives)
    if (name_of(one) == name) return one;
  return std::nullopt;
}

}  // namespace

tuner::Bytes size_of_operation(Collective collective, std::uint64_t bytes, std::uint64_t hosts,
                               std::uint64_t members) {
  switch (collective) {
    case Collective::barrier: return 0;
    // The largest array has a part for each host. The size of the operation is the mean size of a
    // part.
    case Collective::scatter:
    case Collective::gather:
    case Collective::allgather: return bytes / hosts;
    // The largest array has a block of bytes / members bytes for each member. Each host has members
    // / hosts members. Each of these sends a block to each member of another host. From one host to
    // another these are (members / hosts)² blocks: bytes * members / hosts / hosts bytes in total.
    case Collective::alltoall: return bytes * members / hosts / hosts;
    default: return bytes;
  }
}

UsedSizes read_used_sizes(const std::string& trace) {
  const eventspace::TraceDirectory directory(trace);
  UsedSizes used;
  for (const auto& host : directory.structure.hosts) used.hosts += host.threads > 0 ? 1 : 0;
  std::map<std::pair<Collective, tuner::Bytes>, UsedSize> sizes;
  eventspace::GroupOperations* all = nullptr;
  const auto add = [&](const eventspace::WholeOperation& operation) {
    const std::string* const text = all->texts().find(operation.text);
    if (operation.has_failed || !operation.is_complete() || text == nullptr) {
      ++used.incomplete;
      return;
    }
    const auto collective = collective_named(eventspace::group_operation_of(*text).collective);
    if (!collective || operation.hosts != used.hosts) {
      ++used.of_parts;
      return;
    }
    std::uint64_t members = 0;
    for (const eventspace::HostShare& share : operation.shares) members += share.members.size();
    const tuner::Bytes size =
        size_of_operation(*collective, operation.bytes_max(), operation.hosts, members);
    UsedSize& one = sizes[{*collective, size}];
    one.collective = *collective;
    one.bytes = size;
    ++one.operations;
    one.time += base::Nanos(operation.longest_nanos());
  };
  eventspace::GroupOperations operations(
      open_bytes_max, [](const eventspace::HostShare&) {}, add);
  all = &operations;
  eventspace::MergedTrace records(directory);
  std::uint32_t host = 0;
  std::span<const eventspace::EventRecord> some;
  while (records.next(host, some))
    for (const eventspace::EventRecord& record : some)
      if (is_of_group(record)) operations.add(host, record);
  operations.finish();
  for (const auto& [key, one] : sizes) used.sizes.push_back(one);
  std::stable_sort(used.sizes.begin(), used.sizes.end(),
                   [](const UsedSize& a, const UsedSize& b) { return a.time > b.time; });
  return used;
}

}  // namespace commands
