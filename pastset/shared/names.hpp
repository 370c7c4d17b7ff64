// SPDX-License-Identifier: Apache-2.0
// pastset/shared/names.hpp — discovery of shared spaces on this machine, by user and name
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace pastset::shared {

/// Spaces are found by a search in `/proc`. A registry of spaces would have to be cleaned up after
/// the death of a process.

/// Prefix of the memfd name of every space, as shown in `/proc/PID/fd`.
inline constexpr const char* memory_prefix = "paths-space-";

/// A space of this user that a live process maps, and the path under which it was found.
struct Found {
  ino_t memory = 0;
  std::string name, path;
};
std::vector<Found> find_spaces();
/// Opens the memory of the space; `how` are flags of open(2). Returns an empty descriptor if the
/// open fails, or if the path found earlier now leads to another file.
base::Descriptor open_found(const Found& found, int how);
/// Whether the space is complete: its first elements exist, so other processes may map it.
bool is_open(const Found& found);
/// Whether a new space may take the name of this space. Returns true if the owner has died, even if
/// no process has noticed its death yet. Also returns true if the owner has detached and the space
/// has no element.
bool is_orphan(const Found& found);
/// Returns the open spaces named `name`. If there are none, returns the open spaces whose names
/// begin with `name` and a dot.
std::vector<Found> find_named(const std::string& name);

/// Returns the names of this user's open spaces that live processes map.
std::vector<std::string> open_names();

/// Name of a space of another user, such as "alice/solver".
struct OthersName {
  std::string user, name;
  uid_t number = 0;
};
/// Splits a name such as "alice/solver". Returns nullopt for a name without a user. Throws
/// SharedSpaceError if there is no such user.
std::optional<OthersName> parse_others_name(const std::string& text);
/// Returns the memory of the space, with the access that its owner allows. Returns an empty
/// descriptor if there is no such space.
/// Throws: SharedSpaceError if several spaces match.
base::Descriptor ask_for(const OthersName& name);
/// Returns the other users' spaces that this user may map, as "alice/solver".
std::vector<std::string> others_names();

}  // namespace pastset::shared
