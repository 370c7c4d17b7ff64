// SPDX-License-Identifier: Apache-2.0
// pastset/shared/access.hpp — access rights of shared spaces, and the time limit of their locks
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "base/units.hpp"

namespace pastset {

enum class SharedAccess : std::uint8_t {
  own_processes,    ///< only processes of the user who makes the space may map it
  others_may_read,  ///< processes of all other users of the machine may read it
  others_may_write,
};

/// Text of each value of SharedAccess in configs, in the order of the values.
inline constexpr std::array<std::string_view, 3> shared_access_words{
    "own processes", "others may read", "others may write"};

/// Default of the longest time to wait for a lock of a shared space. Normally a process holds a
/// lock only for a few instructions, and while it calls X-functions.
inline constexpr base::Nanos usual_lock_patience{10'000'000'000};

}  // namespace pastset
