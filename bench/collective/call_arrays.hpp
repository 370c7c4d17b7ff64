// SPDX-License-Identifier: Apache-2.0
// bench/collective/call_arrays.hpp — arguments of one member's call, and the check of its result
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "bench/collective/collective_options.hpp"
#include "collectives/cost/evaluator.hpp"
#include "groups/group.hpp"

namespace bench {

pricing::Ports ports_of(const CollectiveOptions& options);

/// Arrays of one member for a call: its contribution and its expected result.
class CallArrays {
 public:
  CallArrays(const CollectiveOptions& options, collectives::Collective collective,
             std::uint64_t bytes, groups::Group& group, std::uint32_t root);
  /// Fills the arrays with values derived from `salt`, so that calls with consecutive salts differ.
  void fill(std::uint64_t salt);
  /// Throws std::runtime_error if the member's result differs from the expected result.
  void check() const;

  groups::Call call;

 private:
  std::int64_t expected(std::uint64_t index) const;
  std::int64_t given(std::uint32_t rank, std::uint64_t index) const;
  std::int64_t folded(std::uint32_t last, std::uint64_t index) const;

  const std::uint64_t count_;
  const std::uint32_t members_, me_;
  const bool is_root_;
  std::uint64_t salt_ = 0;
  std::vector<std::int64_t> ordinary_in_, ordinary_out_;  // empty if the arrays are mapped arrays
  groups::MappedArray<std::int64_t> mapped_in_, mapped_out_;
  std::span<std::int64_t> in_, out_;
};

}  // namespace bench
