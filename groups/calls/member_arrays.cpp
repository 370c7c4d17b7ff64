// SPDX-License-Identifier: Apache-2.0
// groups/calls/member_arrays.cpp — search for mapped arrays by address
#include "groups/calls/member_arrays.hpp"

#include <functional>
#include <utility>

#include "paths/machine/mapped_arrays.hpp"

namespace groups {

std::shared_ptr<std::byte> MemberArrays::add(paths::MappedArrays arrays, std::uint32_t me) {
  std::erase_if(known_, [](const Known& one) { return one.arrays.expired(); });
  const auto shared = std::make_shared<const paths::MappedArrays>(std::move(arrays));
  const std::span<std::byte> mine = shared->array(me);
  known_.push_back({shared, mine, ++added_});
  return {shared, mine.data()};
}

std::optional<MappedPlaces> MemberArrays::places_of(std::span<const std::byte> in,
                                                    std::span<const std::byte> out) const {
  if (added_ == 0) return std::nullopt;
  return MappedPlaces{place_of(in), place_of(out)};
}

MappedPlace MemberArrays::place_of(std::span<const std::byte> bytes) const {
  const std::less_equal<const std::byte*> is_up_to;
  for (const Known& one : known_) {
    const std::byte* const end = one.mine.data() + one.mine.size();
    if (!is_up_to(one.mine.data(), bytes.data()) || !is_up_to(bytes.data() + bytes.size(), end))
      continue;
    // The addresses may belong to another array if these arrays have been destroyed.
    if (auto arrays = one.arrays.lock())
      return {std::move(arrays), one.number,
              static_cast<std::uint64_t>(bytes.data() - one.mine.data())};
  }
  return {};
}

}  // namespace groups
