// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/socket.hpp — the sockets over which processes of a machine hand each
// other memory, and hear of each other's end.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "paths/wire/shared_memory/area.hpp"

namespace paths {

/// First on a socket, in both directions.
struct LinkGreeting {
  std::array<char, 8> mark = {'P', 'A', 'T', 'H', 'S', 'S', 'H', 'M'};
  std::uint32_t version = 3;
  friend bool operator==(const LinkGreeting&, const LinkGreeting&) = default;
};

/// What a socket had to say.
struct SocketWord {
  enum class Kind : std::uint8_t {
    nothing,   ///< now
    bell,      ///< look at the rings
    greeting,  ///< with the descriptors, and what is none
    refusal,   ///< the peer can have no shared memory
    end,       ///< the peer has closed it or died
  };
  Kind kind = Kind::nothing;
  std::optional<LinkGreeting> greeting = {};
  std::array<Descriptor, 2> descriptors = {};
  bool lacks_descriptors = false;  ///< some came for which this process has no room
};

/// Listens for this user's processes of this machine, under a name made of the host's address that
/// is in no file system and goes with the process. Throws std::system_error.
Descriptor listen_for_links(const std::string& address);
/// Nothing while nobody listens for links at the address.
Descriptor connect_link(const std::string& address);
/// Nothing when nobody has connected.
Descriptor accept_link(const Descriptor& listening);
/// Whether the process at the other end is this user's.
bool is_this_users(const Descriptor& socket);

/// False when the peer is gone.
bool send_greeting(const Descriptor& socket, int first, int second = -1);
void send_refusal(const Descriptor& socket);
void ring_bell(const Descriptor& socket);
/// Never blocks.
SocketWord next_word(const Descriptor& socket);

}  // namespace paths
