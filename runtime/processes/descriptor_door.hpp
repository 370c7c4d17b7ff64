// SPDX-License-Identifier: Apache-2.0
// runtime/processes/descriptor_door.hpp — a name under which a process hands a descriptor to
// whoever asks.
#pragma once
#include <sys/types.h>

#include <compare>
#include <cstddef>
#include <memory>
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
  static constexpr std::size_t name_bytes_max = 85;
  DescriptorDoor(const std::string& name, base::Descriptor handed_out);
  ~DescriptorDoor();
  /// In the child of a fork: it stays the parent's.
  void leave_to_parent();
  DescriptorDoor(const DescriptorDoor&) = delete;
  DescriptorDoor& operator=(const DescriptorDoor&) = delete;

  /// What is handed out at the user's door of that name; none when he has none, or it is another's
  /// who calls himself so, or nothing comes for a second.
  static base::Descriptor knock(uid_t user, const std::string& name);
  struct Named {
    uid_t user = 0;
    std::string name;
    friend auto operator<=>(const Named&, const Named&) = default;
  };
  /// Those that users say that they have.
  static std::vector<Named> all();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace runtime
