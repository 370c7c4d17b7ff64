// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/socket.hpp — sockets that pass memory and report a peer's end
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "paths/wire/shared_memory/area.hpp"

namespace paths {

/// First message on a socket; both processes send one.
struct LinkGreeting {
  std::array<char, 8> mark = {'P', 'A', 'T', 'H', 'S', 'S', 'H', 'M'};
  std::uint32_t version = 3;
  friend bool operator==(const LinkGreeting&, const LinkGreeting&) = default;
};

/// Message that was read from the socket of a link, or the end of the socket.
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
  /// too many open ones.
  bool lacks_descriptors = false;
};

/// Listens for processes of this user on this machine. The socket's name is made from the host's
/// address. It is not in the file system and ends with the process. Throws std::system_error.
Descriptor listen_for_links(const std::string& address);
/// Connects to the process that listens for links at the address. Returns an empty descriptor if no
/// process listens there.
Descriptor connect_link(const std::string& address);
/// Accepts a waiting connection. Returns an empty descriptor if there is none.
Descriptor accept_link(const Descriptor& listening);
bool is_this_users(const Descriptor& socket);

/// Sends a greeting with one or two descriptors. Returns false if the peer is gone.
bool send_greeting(const Descriptor& socket, int first, int second = -1);
void send_refusal(const Descriptor& socket);
void ring_bell(const Descriptor& socket);
/// Reads the next message; never blocks.
SocketWord next_word(const Descriptor& socket);

}  // namespace paths
