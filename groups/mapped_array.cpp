// SPDX-License-Identifier: Apache-2.0
// groups/mapped_array.cpp — agreement of the members of a group on mapped arrays
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/usage_error.hpp"
#include "groups/execution/repeated_calls.hpp"
#include "groups/group.hpp"
#include "groups/host_group.hpp"
#include "paths/machine/mapped_arrays.hpp"
#include "runtime/processes/descriptor_door.hpp"

namespace groups {
namespace {

/// Name of the door from which the other members take the memory; a zero at the begin = there is no
/// memory.
using DoorName = std::array<char, runtime::DescriptorDoor::name_bytes_max + 1>;

/// Makes arrays, and the door from which other processes can take their memory. Returns nullopt if
/// the system refuses that; the members then use ordinary memory.
std::optional<paths::MappedArrays> make_arrays(std::uint32_t members, std::size_t bytes,
                                               std::optional<runtime::DescriptorDoor>& door,
                                               DoorName& door_name) {
  try {
    const std::string name = runtime::DescriptorDoor::new_name("arrays");
    auto arrays = paths::MappedArrays::make(members, bytes);
    door.emplace(name, base::Descriptor(dup(arrays.descriptor().get())));
    std::ranges::copy(name, door_name.begin());
    return arrays;
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

std::optional<paths::MappedArrays> map_arrays(std::uint32_t members, std::size_t bytes,
                                              const DoorName& door_name) {
  if (bytes == 0 || door_name.front() == '\0' || door_name.back() != '\0') return std::nullopt;
  try {
    return paths::MappedArrays::map(runtime::DescriptorDoor::knock(geteuid(), door_name.data()),
                                    members, bytes);
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

std::shared_ptr<std::byte> make_ordinary(std::size_t bytes) {
  const auto words = std::make_shared<std::vector<std::uint64_t>>((bytes + 7) / 8);
  return {words, reinterpret_cast<std::byte*>(words->data())};
}

}  // namespace

/// Returns memory for an array of this member. The first member makes the memory of all arrays, and
/// the other members map it. All members learn whether every member has mapped it.
std::shared_ptr<std::byte> Group::make_array(std::uint64_t count, std::size_t element_bytes) {
  const auto refuse = [this](const std::string& why) {
    throw base::UsageError(fmt::format("group {}: mapped_array: {}", group_->view().name(), why));
  };
  constexpr std::size_t bytes_max = paths::MappedArrays::array_bytes_max;
  if (count > bytes_max / element_bytes)
    refuse(fmt::format("expected at most {} elements, found {}", bytes_max / element_bytes, count));
  const std::size_t bytes = count * element_bytes;
  DoorName door_name{};
  std::optional<runtime::DescriptorDoor> door;
  std::optional<paths::MappedArrays> arrays;
  const auto me = group_->index_for_mapping();
  if (me && rank_ == 0 && bytes > 0) arrays = make_arrays(size(), bytes, door, door_name);
  run(broadcast(door_name, 0));
  if (me && rank_ != 0) arrays = map_arrays(size(), bytes, door_name);

  const auto signed_bytes = static_cast<std::int64_t>(bytes);
  const std::array<std::int64_t, 3> mine{arrays ? 1 : 0, signed_bytes, -signed_bytes};
  std::array<std::int64_t, 3> least{};
  run(allreduce(mine, least, "min"));
  if (least[1] != -least[2])
    refuse(
        fmt::format("expected the same size on all members, found {} bytes here, and {} to {} "
                    "bytes in the group",
                    bytes, least[1], -least[2]));
  if (least[0] == 0) return make_ordinary(bytes);
  arrays->close_descriptor();
  if (repeated_ != nullptr) *repeated_ = {};  // kept calls use no mapped arrays
  return arrays_.add(std::move(*arrays), *me);
}

}  // namespace groups
