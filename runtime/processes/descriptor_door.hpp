// SPDX-License-Identifier: Apache-2.0
// runtime/processes/descriptor_door.hpp — a named socket that hands a descriptor to other processes
#pragma once
#include <sys/types.h>

#include <compare>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"

namespace runtime {

/// A door: a named socket that gives one descriptor to every process that connects to it. Processes
/// find it by user and name. The name is in no file system and disappears with the process.
/// Processes of any user may connect. The processes receive only the descriptor, and the door reads
/// nothing from them.
///
/// Owns: a socket, and an OS thread that sleeps until a process connects.
/// Throws: std::system_error, for example if the user already has a door of that name.
class DescriptorDoor {
 public:
  static constexpr std::size_t name_bytes_max = 85;
  /// Returns a name that no other process can guess: `prefix`, a hyphen and 32 hexadecimal digits.
  static std::string new_name(std::string_view prefix);
  DescriptorDoor(const std::string& name, base::Descriptor handed_out);
  ~DescriptorDoor();
  /// Makes the destructor do nothing. The child of a fork calls it before it destroys this object,
  /// so that the parent keeps the door.
  void leave_to_parent();
  DescriptorDoor(const DescriptorDoor&) = delete;
  DescriptorDoor& operator=(const DescriptorDoor&) = delete;

  /// Connects to the door of that name and user, and returns the descriptor that the door gives.
  /// Returns an empty descriptor if there is no such door, if the door belongs to another user, or
  /// if nothing arrives within a second.
  static base::Descriptor knock(uid_t user, const std::string& name);
  struct Named {
    uid_t user = 0;
    std::string name;
    friend auto operator<=>(const Named&, const Named&) = default;
  };
  /// Returns the user and name of all doors of the machine. The users are not verified: a process
  /// may make a door that names another user. knock() verifies the user.
  static std::vector<Named> all();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace runtime
