// SPDX-License-Identifier: Apache-2.0
// pastset/shared/access.hpp — whose processes may map a shared space, and how long they may hold
// it.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "base/units.hpp"

namespace pastset {

enum class SharedAccess : std::uint8_t {
  own_processes,    ///< those of the user who makes it
  others_may_read,  ///< and those of all users of the machine, who cannot write there
  others_may_write,
};

/// The same in words.
inline constexpr std::array<std::string_view, 3> shared_access_words{
    "own processes", "others may read", "others may write"};

/// A lock is held for a few instructions and X-functions.
inline constexpr base::Nanos usual_lock_patience{10'000'000'000};

}  // namespace pastset
