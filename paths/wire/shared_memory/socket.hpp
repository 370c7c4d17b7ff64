// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/socket.hpp — sockets that pass memory and report a peer's end
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

/// First message on a socket; both processes send one.
struct LinkGreeting {
  std::array<char, 8> mark = {'P', 'A', 'T', 'H', 'S', 'S', 'H', 'M'};
  std::uint32_t version = 3;
  friend bool operator==(const LinkGreeting&, const LinkGreeting&) = default;
};

/// Result of reading from the socket of a link: a message, the end of the socket, or nothing.
struct SocketWord {
  enum class Kind : std::uint8_t {
    nothing,
    bell,      ///< request to look for new frames in the rings
    greeting,  ///< greeting with descriptors, or an invalid message
    refusal,   ///< notice that the peer could not map the shared memory
    end,       ///< the peer has closed the socket or died
  };
  Kind kind = Kind::nothing;
  std::optional<LinkGreeting> greeting = {};
  std::array<Descriptor, 2> descriptors = {};
  /// Whether this process could not receive some file descriptors of the message, because it has
  /// too many open descriptors.
  bool lacks_descriptors = false;
};

/// Socket file at which a host accepts links, in a folder that no other user can change
/// (paths/wire/socket_folder.hpp). The file is removed with this object.
struct Door {
  std::unique_ptr<SocketClaim> claim = {};
  Descriptor listening = {};
};
/// Opens the door of the host that listens on `address`. Replaces a file at that place if its
/// process has no claim to it. Removes the doors of killed hosts in the same folder.
/// Throws: std::system_error with EADDRINUSE if another host keeps the door, or if a process keeps
///         the claim for 5 s; std::runtime_error if another user could change the folder.
Door open_door(const std::string& address, runtime::Runtime& runtime);
/// Connects to the door of the host that listens on `address`. Returns an empty descriptor if no
/// process listens at the door. Throws std::runtime_error if another user could change the folder.
Descriptor connect_link(const std::string& address);
/// Accepts a waiting connection. Returns an empty descriptor if there is none.
Descriptor accept_link(const Descriptor& listening);
/// Returns whether the process at the other end of the socket belongs to this user. Must be called
/// at both ends before a descriptor or a byte is sent.
bool is_this_users(const Descriptor& socket);

/// Sends a greeting with one or two descriptors. Returns false if the peer is gone.
bool send_greeting(const Descriptor& socket, int first, int second = -1);
void send_refusal(const Descriptor& socket);
void ring_bell(const Descriptor& socket);
/// Reads the next message; never blocks.
SocketWord next_word(const Descriptor& socket);

}  // namespace paths
