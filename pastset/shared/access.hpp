// SPDX-License-Identifier: Apache-2.0
// pastset/shared/access.hpp — access rights and lock timeout of shared spaces
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "base/units.hpp"

namespace pastset {

enum class SharedAccess : std::uint8_t {
  own_processes,    ///< processes of the user who makes the space
  others_may_read,  ///< also processes of all other users of the machine, read-only
  others_may_write,
};

/// Text of each SharedAccess value in configs, in the order of the values.
inline constexpr std::array<std::string_view, 3> shared_access_words{
    "own processes", "others may read", "others may write"};

/// Default time limit for waiting for a lock. Normally a lock is held only for a few instructions
/// and for X-functions.
inline constexpr base::Nanos usual_lock_patience{10'000'000'000};

}  // namespace pastset
