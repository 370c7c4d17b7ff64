// SPDX-License-Identifier: Apache-2.0
// tests/groups/reference.hpp — results of collectives, computed without any schedule.
#pragma once
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "collectives/schedule/collective_spec.hpp"
#include "groups/group.hpp"

namespace test_support {

/// One operation of a group, equal on all members.
struct Drawn {
  collectives::Collective collective = collectives::Collective::barrier;
  std::string operation = "sum";
  std::string algorithm = "best";
  std::uint32_t root = 0;
  std::vector<std::uint64_t> counts;  ///< same layout as in groups::Call
  bool is_in_place = false;
  std::uint64_t salt = 0;

  std::uint64_t count(std::size_t block) const {
    return counts.size() == 1 ? counts[0] : counts[block];
  }
};

/// Returns the value that a member contributes in one element. The value is so small that sums and
/// products of many values are exact.
inline std::int64_t value(const Drawn& drawn, std::uint32_t rank, std::uint64_t index) {
  const std::uint64_t mixed =
      (drawn.salt * 0x9e3779b97f4a7c15 + rank * 0x100000001b3 + index) * 0xff51afd7ed558ccd;
  return static_cast<std::int64_t>(mixed >> 56) - 128;
}

/// Name of a reduction whose result depends on the order of ranks. A number stands for the function
/// x -> ax + b: its lower half is a, its upper half is b. The reduction of two numbers is the
/// number of the composed function.
inline constexpr const char* composition = "composition_of_test";
inline std::int64_t composed(std::int64_t first, std::int64_t second) {
  const auto a = [](std::int64_t one) { return static_cast<std::uint32_t>(one); };
  const auto b = [](std::int64_t one) { return static_cast<std::uint32_t>(one >> 32); };
  const std::uint64_t upper = a(second) * b(first) + b(second);
  return static_cast<std::int64_t>(upper << 32 | std::uint32_t{a(second) * a(first)});
}
void add_composition();  ///< registers the operation; must be called once

class Reference {
 public:
  Reference(const Drawn& drawn, std::uint32_t members) : drawn_(drawn), members_(members) {}

  std::uint64_t in_count(std::uint32_t rank) const {
    using collectives::Collective;
    switch (drawn_.collective) {
      case Collective::barrier:
      case Collective::broadcast: return 0;
      case Collective::scatter: return rank == drawn_.root ? all_blocks() : 0;
      case Collective::gather:
      case Collective::allgather: return drawn_.count(rank);
      case Collective::reduce_scatter: return all_blocks();
      case Collective::alltoall: return row(rank, members_);
      default: return drawn_.count(0);
    }
  }
  std::vector<std::int64_t> in(std::uint32_t rank) const {
    std::vector<std::int64_t> values(in_count(rank));
    for (std::uint64_t i = 0; i < values.size(); ++i) values[i] = value(drawn_, rank, i);
    return values;
  }
  /// Returns the content of `out` before the operation. For the root of a broadcast, this content
  /// is the values to send. Otherwise it is arbitrary.
  std::vector<std::int64_t> out_before(std::uint32_t rank) const {
    std::vector<std::int64_t> values(out(rank).size(), -777);
    if (drawn_.collective == collectives::Collective::broadcast && rank == drawn_.root)
      for (std::uint64_t i = 0; i < values.size(); ++i) values[i] = value(drawn_, rank, i);
    return values;
  }
  std::vector<std::int64_t> out(std::uint32_t rank) const {
    using collectives::Collective;
    std::vector<std::int64_t> result;
    switch (drawn_.collective) {
      case Collective::barrier: return {};
      case Collective::broadcast:
        result.resize(drawn_.count(0));
        for (std::uint64_t i = 0; i < result.size(); ++i) result[i] = value(drawn_, drawn_.root, i);
        return result;
      case Collective::reduce: return rank == drawn_.root ? folded(0, members_) : result;
      case Collective::allreduce: return folded(0, members_);
      case Collective::scan: return folded(0, rank + 1);
      case Collective::exscan:
        if (rank == 0) return std::vector<std::int64_t>(drawn_.count(0), -777);
        return folded(0, rank);
      case Collective::gather:
        if (rank != drawn_.root) return result;
        [[fallthrough]];
      case Collective::allgather:
        for (std::uint32_t source = 0; source < members_; ++source)
          for (std::uint64_t i = 0; i < drawn_.count(source); ++i)
            result.push_back(value(drawn_, source, i));
        return result;
      case Collective::scatter:
        for (std::uint64_t i = 0; i < drawn_.count(rank); ++i)
          result.push_back(value(drawn_, drawn_.root, before(rank) + i));
        return result;
      case Collective::reduce_scatter: {
        const auto all = folded(0, members_);
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(before(rank));
        return {begin, begin + static_cast<std::ptrdiff_t>(drawn_.count(rank))};
      }
      case Collective::alltoall:
        for (std::uint32_t source = 0; source < members_; ++source)
          for (std::uint64_t i = 0; i < pair(source, rank); ++i)
            result.push_back(value(drawn_, source, row(source, rank) + i));
        return result;
    }
    return result;
  }

 private:
  std::uint64_t before(std::uint32_t rank) const {
    std::uint64_t count = 0;
    for (std::uint32_t other = 0; other < rank; ++other) count += drawn_.count(other);
    return count;
  }
  std::uint64_t all_blocks() const { return before(members_); }
  std::uint64_t pair(std::uint32_t source, std::uint32_t target) const {
    return drawn_.count(std::size_t{source} * members_ + target);
  }
  std::uint64_t row(std::uint32_t source, std::uint32_t target) const {
    std::uint64_t count = 0;
    for (std::uint32_t other = 0; other < target; ++other) count += pair(source, other);
    return count;
  }
  std::vector<std::int64_t> folded(std::uint32_t first, std::uint32_t last) const {
    const std::uint64_t count = drawn_.collective == collectives::Collective::reduce_scatter
                                    ? all_blocks()
                                    : drawn_.count(0);
    std::vector<std::int64_t> all(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const bool is_logical = drawn_.operation == "logical_xor";
      all[i] = value(drawn_, first, i);
      if (is_logical) all[i] = all[i] != 0 ? 1 : 0;
      for (std::uint32_t rank = first + 1; rank < last; ++rank) {
        const std::int64_t next = value(drawn_, rank, i);
        all[i] = drawn_.operation == "sum"         ? all[i] + next
                 : drawn_.operation == "max"       ? std::max(all[i], next)
                 : drawn_.operation == composition ? composed(all[i], next)
                 : is_logical                      ? all[i] ^ (next != 0 ? 1 : 0)
                                                   : (all[i] ^ next);
      }
    }
    return all;
  }
  const Drawn& drawn_;
  const std::uint32_t members_;
};

}  // namespace test_support
