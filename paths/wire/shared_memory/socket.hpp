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

/// First message on a socket, in both directions.
struct LinkGreeting {
  std::array<char, 8> mark = {'P', 'A', 'T', 'H', 'S', 'S', 'H', 'M'};
  std::uint32_t version = 3;
  friend bool operator==(const LinkGreeting&, const LinkGreeting&) = default;
};

/// Result of reading from the socket of a link.
struct SocketWord {
  enum class Kind : std::uint8_t {
    nothing,
    bell,      ///< request to look at the rings
    greeting,  ///< greeting with descriptors; also an invalid message
    refusal,   ///< the peer cannot have shared memory
    end,       ///< the peer has closed the socket or died
  };
  Kind kind = Kind::nothing;
  std::optional<LinkGreeting> greeting = {};
  std::array<Descriptor, 2> descriptors = {};
  bool lacks_descriptors = false;  ///< whether this process had no room for some descriptors
};

/// Listens for this user's processes on this machine. The name is made of the host's address, is in
/// no file system, and ends with the process. Throws std::system_error.
Descriptor listen_for_links(const std::string& address);
/// Returns an empty descriptor if no process listens for links at the address.
Descriptor connect_link(const std::string& address);
/// Returns an empty descriptor if no connection waits.
Descriptor accept_link(const Descriptor& listening);
bool is_this_users(const Descriptor& socket);

/// Returns false if the peer is gone.
bool send_greeting(const Descriptor& socket, int first, int second = -1);
void send_refusal(const Descriptor& socket);
void ring_bell(const Descriptor& socket);
/// Returns the next message; never blocks.
SocketWord next_word(const Descriptor& socket);

}  // namespace paths
