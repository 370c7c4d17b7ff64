// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/socket.hpp — sockets of links, which pass memory and show a peer's end
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "paths/wire/shared_memory/area.hpp"
#include "paths/wire/socket_folder.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// First message that each of the two processes sends on a socket.
struct LinkGreeting {
  std::array<char, 8> mark = {'P', 'A', 'T', 'H', 'S', 'S', 'H', 'M'};
  std::uint32_t version = 3;
  friend bool operator==(const LinkGreeting&, const LinkGreeting&) = default;
};

/// Result of reading from the socket of a link.
struct SocketWord {
  enum class Kind : std::uint8_t {
    nothing,
    bell,      ///< request of the peer to look for new frames in the rings
    greeting,  ///< greeting with descriptors, or an invalid message
    refusal,   ///< message that the peer could not map the shared memory
    end,       ///< end of the socket: the peer has closed it or died
  };
  Kind kind = Kind::nothing;
  std::optional<LinkGreeting> greeting = {};
  std::array<Descriptor, 2> descriptors = {};
  /// Whether file descriptors of the message are lost, because this process has too many open
  /// descriptors.
  bool lacks_descriptors = false;
};

/// Socket file at which a host accepts links, in a folder that no other user can change
/// (paths/wire/socket_folder.hpp). The destructor of `claim` removes the file.
struct Door {
  std::unique_ptr<SocketClaim> claim = {};
  Descriptor listening = {};
};
/// Opens the door of the host that listens on `address`. If the socket file exists already,
/// replaces it, unless another process has the claim to the file. Removes the doors of killed hosts
/// in the same folder.
/// Throws: std::system_error with EADDRINUSE if another host listens at the door, or if a process
///         keeps the claim for 5 s. Throws std::runtime_error if another user could change the
///         folder.
Door open_door(const std::string& address, runtime::Runtime& runtime);
/// Connects to the door of the host that listens on `address`. Returns an empty descriptor if no
/// process listens at the door.
/// Throws: std::runtime_error if another user could change the folder.
Descriptor connect_link(const std::string& address);
/// Accepts a waiting connection. Returns an empty descriptor if no connection waits.
Descriptor accept_link(const Descriptor& listening);
/// Returns whether the process at the other end of the socket belongs to this user. Both processes
/// must call this function before they send a byte or a descriptor.
bool is_this_users(const Descriptor& socket);

/// Sends a greeting with one or two descriptors. Returns false if the peer is gone.
bool send_greeting(const Descriptor& socket, int first, int second = -1);
void send_refusal(const Descriptor& socket);
void ring_bell(const Descriptor& socket);
/// Reads the next message. Never blocks.
SocketWord next_word(const Descriptor& socket);

}  // namespace paths
