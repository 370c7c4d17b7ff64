// SPDX-License-Identifier: Apache-2.0
// groups/calls/member_arrays.hpp — arrays of one member that all members of its group map
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace paths {
class MappedArrays;
}

namespace groups {

/// Place of a member's array in memory that all members of the group map.
struct MappedPlace {
  /// Memory that contains the array; nullptr = only this member maps the array.
  std::shared_ptr<const paths::MappedArrays> arrays = {};
  std::uint64_t number = 0;  ///< number of `arrays` among those of the group, from 1; 0 = none
  std::uint64_t offset_bytes = 0;  ///< offset in this member's part of `arrays`
};
struct MappedPlaces {
  MappedPlace in, out;
};

/// The arrays that a member got from Group::mapped_array(). An array exists until the member has
/// destroyed it and the operations that use it have ended.
///
/// Thread-safe: no; used by its member's thread.
class MemberArrays {
 public:
  /// Adds arrays that all members of the group have mapped. All members add the same arrays in the
  /// same order. Returns the array of this member, which is the member `me` of `arrays`.
  std::shared_ptr<std::byte> add(paths::MappedArrays arrays, std::uint32_t me);
  /// Returns the places of the arrays of a call; nullopt if add() was never called.
  std::optional<MappedPlaces> places_of(std::span<const std::byte> in,
                                        std::span<const std::byte> out) const;

 private:
  struct Known {
    std::weak_ptr<const paths::MappedArrays> arrays;
    std::span<const std::byte> mine;
    std::uint64_t number;
  };
  MappedPlace place_of(std::span<const std::byte> bytes) const;
  std::vector<Known> known_;  // without most of the arrays that were destroyed
  std::uint64_t added_ = 0;
};

}  // namespace groups
