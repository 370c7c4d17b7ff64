// SPDX-License-Identifier: Apache-2.0
// runtime/descriptor_door.hpp — a name under which a process hands a descriptor to whoever asks.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace runtime {

/// Of a user and this machine, in no file system; it goes with the process. Anybody may knock, of
/// any user; nobody is told anything but the descriptor, and nothing that he sends is read.
///
/// Owns:   a socket and an OS thread that sleeps until somebody knocks.
/// Throws: std::system_error, also when the user has another of that name.
class DescriptorDoor {
 public:
  static constexpr std::size_t name_bytes_max = 80;
  DescriptorDoor(const std::string& name, base::Descriptor handed_out);
  ~DescriptorDoor();
  DescriptorDoor(const DescriptorDoor&) = delete;
  DescriptorDoor& operator=(const DescriptorDoor&) = delete;

  /// What is handed out at the user's door of that name; none when he has none, or it is another's
  /// who calls himself so, or nothing comes for a second.
  static base::Descriptor knock(uid_t user, const std::string& name);
  /// Names of the doors that a user says that he has.
  static std::vector<std::string> names(uid_t user);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace runtime
