// SPDX-License-Identifier: Apache-2.0
// groups/execution/mapped_execution.cpp — folds and copies from the arrays of other members
#include "groups/execution/mapped_execution.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>

#include "base/buffer.hpp"
#include "paths/machine/mapped_arrays.hpp"
#include "runtime/runtime.hpp"

namespace groups {

using collectives::Collective;
using collectives::Count;
using collectives::Range;

namespace {

/// Sizes of the blocks in which a member folds and copies. Between two blocks it checks whether its
/// own arrays are still valid.
constexpr std::size_t folded_block_bytes = std::size_t{64} << 10,
                      copied_block_bytes = std::size_t{1} << 20;

/// Calls `use(block)` for each block of at most `most` elements of a range.
template <class Use>
void each_block(Range range, Count most, const Use& use) {
  for (Count begin = 0; begin < range.count; begin += most)
    use(Range{range.offset + begin, std::min(most, range.count - begin)});
}

}  // namespace

Range share_of(Count count, std::uint32_t member, std::uint32_t members) {
  const Count begin = count * member / members;
  return {begin, count * (member + 1) / members - begin};
}

bool MappedExecution::supports(Collective collective, std::uint64_t bytes) {
  return bytes > paths::SharedRegion::slot_bytes &&
         (collective == Collective::allreduce || collective == Collective::broadcast);
}

/// An allreduce: each member folds its share of the vector from the arrays of all members into its
/// own `out`. Then it copies the other shares from the other members. A broadcast: all members copy
/// from the root.
///
/// A member whose operation has failed may change its arrays while another member still reads them.
/// The other member must not return such values as a result. It does not, because it looks for the
/// failure (Member::fail) when it arrives at the last gate.
bool MappedExecution::run() {
  if (!are_arrays_mapped()) return false;
  const collectives::CollectiveSpec& task = operation_.task;
  const Range all = task.vector();
  if (task.collective == Collective::allreduce) {
    fold_share();
    pass_gate_();
    for (std::uint32_t next = 1; next < member_.members(); ++next) {
      const std::uint32_t member = (me_ + next) % member_.members();
      copy(member, share_of(all.count, member, member_.members()));
    }
  } else if (me_ != task.root) {
    copy(task.root, all);
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);  // read the arrays before the failure
  pass_gate_();
  return true;
}

/// Tells the other members which parts of mapped arrays this member passes. Returns whether every
/// member passes the same parts.
bool MappedExecution::are_arrays_mapped() {
  const auto& [in, out] = *operation_.places;
  const std::array mine{in.number, in.offset_bytes, out.number, out.offset_bytes};
  const std::span<const std::byte> bytes = std::as_bytes(std::span(mine));
  std::ranges::copy(bytes, member_.next_value(bytes.size()).begin());
  pass_gate_();
  bool are_mapped = (in.number > 0 || operation_.in.empty()) && out.number > 0;
  for (std::uint32_t member = 0; member < member_.members(); ++member)
    are_mapped &= std::ranges::equal(member_.given(member, bytes.size()), bytes);
  return are_mapped;
}

void MappedExecution::fold_share() {
  const Range share = share_of(operation_.task.vector().count, me_, member_.members());
  const Count most = operation_.fold.whole_elements(folded_block_bytes) / operation_.element_bytes;
  base::Buffer own_copy;
  if (operation_.in.data() == operation_.out.data())
    own_copy = base::Buffer(std::min(share.count, most) * operation_.element_bytes);
  each_block(share, most, [&](Range block) {
    throw_if_abandoned(operation_);
    fold_block(block, own_copy.bytes());
  });
}

/// Folds a block of the vector into `out`. If `in` and `out` are the same array, first copies this
/// member's values to `own_copy`; otherwise `own_copy` is empty.
void MappedExecution::fold_block(Range block, std::span<std::byte> own_copy) {
  std::array<std::span<const std::byte>, paths::SharedRegion::members_max> values;
  for (std::uint32_t member = 0; member < member_.members(); ++member)
    values[member] = part(array(operation_.places->in, member), block);
  if (!own_copy.empty()) {
    std::memcpy(own_copy.data(), values[me_].data(), values[me_].size());
    values[me_] = std::span(own_copy).first(values[me_].size());
  }
  const auto all = std::span(values).first(member_.members());
  try {
    operation_.fold.fold_all(part(operation_.out, block), all);
  } catch (const base::BadValue& bad) {
    name_contributor(all, block.offset);
    if (!bad.index()) throw;
    throw base::BadValue(std::string(bad.wrong()), block.offset + *bad.index());
  }
}

/// Throws: WrongContribution if one of the values is wrong even before it is folded. `first` is the
///         index of the first element of the values.
void MappedExecution::name_contributor(std::span<const std::span<const std::byte>> values,
                                       Count first) const {
  for (std::uint32_t member = 0; member < values.size(); ++member) {
    try {
      operation_.fold.check(values[member]);
    } catch (const base::BadValue& bad) {
      // Each host with mapped arrays has one member, so the participant is the member's place.
      throw WrongContribution(
          participants_[member],
          base::BadValue(std::string(bad.wrong()), first + bad.index().value_or(0)));
    }
  }
}

/// Copies a range of a member's `out` to this member's `out`.
void MappedExecution::copy(std::uint32_t member, Range range) {
  const std::span<std::byte> from = array(operation_.places->out, member);
  each_block(range, copied_block_bytes / operation_.element_bytes, [&](Range block) {
    throw_if_abandoned(operation_);
    runtime::yield_to_services();
    const std::span<std::byte> values = part(from, block);
    std::memcpy(part(operation_.out, block).data(), values.data(), values.size());
  });
}

/// Returns the bytes of a range of elements in an array.
std::span<std::byte> MappedExecution::part(std::span<std::byte> array, Range range) const {
  return array.subspan(range.offset * operation_.element_bytes,
                       range.count * operation_.element_bytes);
}

/// Returns a member's `in` or `out`, and all bytes after it in the same mapped array.
std::span<std::byte> MappedExecution::array(const MappedPlace& place, std::uint32_t member) const {
  return place.arrays->array(member).subspan(place.offset_bytes);
}

}  // namespace groups
