// SPDX-License-Identifier: Apache-2.0
// bench/collective/call_arrays.cpp — contributions of all members, and the results computed from
// them
#include "bench/collective/call_arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/reduce.hpp"
#include "groups/calls/memory.hpp"

namespace bench {
namespace {

std::int64_t element(std::uint64_t salt, std::uint32_t rank, std::uint64_t index) {
  return static_cast<std::int64_t>((salt + rank * 31 + index * 7) % 1000);
}

std::size_t in_blocks(collectives::Collective collective, std::uint32_t members, bool is_root) {
  switch (collective) {
    case collectives::Collective::barrier:
    case collectives::Collective::broadcast: return 0;
    case collectives::Collective::scatter: return is_root ? members : 0;
    case collectives::Collective::reduce_scatter:
    case collectives::Collective::alltoall: return members;
    default: return 1;
  }
}

std::size_t out_blocks(collectives::Collective collective, std::uint32_t members, bool is_root) {
  switch (collective) {
    case collectives::Collective::barrier: return 0;
    case collectives::Collective::reduce: return is_root ? 1 : 0;
    case collectives::Collective::gather: return is_root ? members : 0;
    case collectives::Collective::allgather:
    case collectives::Collective::alltoall: return members;
    default: return 1;
  }
}

std::span<std::int64_t> shared_array(std::size_t count) {
  const auto bytes = groups::memory_of_nothing(count * sizeof(std::int64_t));
  return {reinterpret_cast<std::int64_t*>(bytes.data()), count};
}

}  // namespace

pricing::Ports ports_of(const CollectiveOptions& options) { return {.receiving = options.ports}; }

CallArrays::CallArrays(const CollectiveOptions& options, collectives::Collective collective,
                       std::uint64_t bytes, groups::Group& group, std::uint32_t root)
    : count_(bytes / 8), members_(group.size()), me_(group.rank()), is_root_(group.rank() == root) {
  const std::size_t in = count_ * in_blocks(collective, members_, is_root_);
  const std::size_t out = count_ * out_blocks(collective, members_, is_root_);
  if (options.shares_arrays) {
    call = groups::call_of(collective, shared_array(in), shared_array(out));
  } else {
    if (options.maps_arrays) {
      // Mapped arrays have the same size on all members.
      mapped_in_ = group.mapped_array<std::int64_t>(count_ * in_blocks(collective, members_, true));
      mapped_out_ =
          group.mapped_array<std::int64_t>(count_ * out_blocks(collective, members_, true));
      in_ = std::span(mapped_in_).first(in);
      out_ = std::span(mapped_out_).first(out);
    } else {
      ordinary_in_.resize(in);
      ordinary_out_.resize(out);
      in_ = ordinary_in_;
      out_ = ordinary_out_;
    }
    call = groups::call_of(collective, in_, out_);
  }
  call.has_values = !options.shares_arrays;
  call.root = root;
  if (is_reduction(collective)) call.operation = options.operation;
  call.counts = {collective == collectives::Collective::barrier ? 0 : count_};
  call.algorithm = options.schedule;
  call.window = options.window;
  call.ports = ports_of(options);
}

void CallArrays::fill(std::uint64_t salt) {
  salt_ = salt;
  std::fill(out_.begin(), out_.end(), -1);
  const bool gives_out = call.collective == collectives::Collective::broadcast && is_root_;
  const std::span<std::int64_t> values = gives_out ? out_ : in_;
  for (std::uint64_t i = 0; i < values.size(); ++i) values[i] = given(me_, i);
}

void CallArrays::check() const {
  const bool gets_nothing = call.collective == collectives::Collective::exscan && me_ == 0;
  for (std::uint64_t i = 0; i < out_.size() && !gets_nothing; ++i)
    if (const std::int64_t right = expected(i); out_[i] != right)
      throw std::runtime_error(fmt::format("{} of {} bytes: element {} is {}, expected {}",
                                           name_of(call.collective), 8 * count_, i, out_[i],
                                           right));
}

std::int64_t CallArrays::expected(std::uint64_t index) const {
  const auto source = static_cast<std::uint32_t>(index / std::max<std::uint64_t>(count_, 1));
  switch (call.collective) {
    case collectives::Collective::broadcast: return element(salt_, call.root, index);
    case collectives::Collective::scatter: return element(salt_, call.root, me_ * count_ + index);
    case collectives::Collective::gather:
    case collectives::Collective::allgather: return element(salt_, source, index % count_);
    case collectives::Collective::alltoall:
      return element(salt_, source, me_ * count_ + index % count_);
    case collectives::Collective::reduce_scatter: return folded(members_, me_ * count_ + index);
    case collectives::Collective::scan: return folded(me_ + 1, index);
    case collectives::Collective::exscan: return folded(me_, index);
    default: return folded(members_, index);
  }
}

/// Returns a value of a member's contribution. For products, the value is 1 or -1, so that the
/// result stays small.
std::int64_t CallArrays::given(std::uint32_t rank, std::uint64_t index) const {
  const std::int64_t value = element(salt_, rank, index);
  return call.operation == "product" ? 1 - 2 * (value & 1) : value;
}

std::int64_t CallArrays::folded(std::uint32_t last, std::uint64_t index) const {
  const base::ReduceOperation& operation = *base::reduce_operation(call.operation);
  const base::ReduceShape one{base::Scalar::i64, 1, false};
  std::int64_t all = given(0, index);
  if (operation.normalize) operation.normalize(one, std::as_writable_bytes(std::span(&all, 1)));
  for (std::uint32_t rank = 1; rank < last; ++rank) {
    const std::int64_t next = given(rank, index);
    operation.combine(one, std::as_writable_bytes(std::span(&all, 1)),
                      std::as_bytes(std::span(&next, 1)));
  }
  return all;
}

}  // namespace bench
