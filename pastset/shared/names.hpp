// SPDX-License-Identifier: Apache-2.0
// pastset/shared/names.hpp — which shared spaces this machine has, and whose.
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace pastset::shared {

/// The kernel is asked, and no list kept: nothing has to be cleaned up after anybody.

/// What names a space's memory in `/proc/PID/fd`.
inline constexpr const char* memory_prefix = "paths-space-";

/// A space of this user's that a process which lives maps, and by which path it is found.
struct Found {
  ino_t memory = 0;
  std::string name, path;
};
std::vector<Found> find_spaces();
/// None when it is another file by now.
base::Descriptor open_found(const Found& found, int how);
/// Whether all that is in it from the beginning is there.
bool is_open(const Found& found);
/// Whether another one may have its name: its owner has died, perhaps before anybody was told, or
/// has left nothing in it.
bool is_orphan(const Found& found);
/// Those that are open and have the name, or, if there is none, whose names go on with a dot.
std::vector<Found> find_named(const std::string& name);

/// "alice/solver", of another user who lets one map it.
struct OthersName {
  std::string user, name;
  uid_t number = 0;
};
/// None of a name without a user. Throws SharedSpaceError when there is no such user.
std::optional<OthersName> parse_others_name(const std::string& text);
/// Its memory, as far as others may use it; none when there is none, or it is told apart by nothing
/// from another one.
base::Descriptor ask_for(const OthersName& name);
/// "alice/solver", of all others.
std::vector<std::string> others_names();

}  // namespace pastset::shared
