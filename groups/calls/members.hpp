// SPDX-License-Identifier: Apache-2.0
// groups/calls/members.hpp — members of a group on one host, with their arrays
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/buffer.hpp"
#include "groups/calls/call.hpp"
#include "groups/calls/layout.hpp"

namespace groups {

/// The members of a group on one host: their calls, and the memory for their values. If the calls
/// have no values, nothing is copied and no memory is allocated.
///
/// Owns: nothing.
class Members {
 public:
  /// `me` is the number of the host as a participant. `calls` contains the calls of the members,
  /// ordered by place (Layout). All arguments outlive this object.
  Members(const Layout& layout, std::uint32_t me, const Calls& calls, std::size_t element_bytes)
      : layout_(layout), me_(me), calls_(calls), element_bytes_(element_bytes) {}

  const Call& first() const { return *calls_.front(); }
  /// Returns the call of the root if the root is on this host; nullptr otherwise.
  const Call* root_here() const;
  bool has_values() const { return first().has_values; }
  std::uint32_t place(std::size_t member) const {
    return layout_.first_on(me_) + static_cast<std::uint32_t>(member);
  }
  std::uint32_t rank(std::size_t member) const { return layout_.rank(place(member)); }
  /// Returns the total size of the members' inputs.
  std::size_t in_bytes() const;
  std::size_t out_bytes() const;
  /// Returns the size of a number of elements.
  std::size_t bytes(std::uint64_t elements) const { return elements * element_bytes_; }

  /// Makes an array of `bytes` bytes in `buffer`.
  std::span<std::byte> made(base::Buffer& buffer, std::size_t bytes) const;
  /// Copies `from` to the beginning of `to`.
  void put(std::span<std::byte> to, std::span<const std::byte> from) const;

 private:
  const Layout& layout_;
  const std::uint32_t me_;
  const Calls& calls_;
  const std::size_t element_bytes_;
};

}  // namespace groups
