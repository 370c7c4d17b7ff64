// SPDX-License-Identifier: Apache-2.0
// base/address.hpp — kinds of transports that a config can choose, and addresses of hosts
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace base {

/// A kind of transport between the processes of a run: a value of the config key `transport`.
struct TransportKind {
  std::string_view word;     ///< such as "tcp"; addresses of this kind begin with "tcp://"
  std::string_view example;  ///< an address of this kind, for messages to users
  /// Whether other users and other machines may reach an address. Such an address is an interface
  /// with a port. The transport must then encrypt if the hosts have keys, and the config must say
  /// how connections to other machines are protected. Otherwise an address is a file, and the
  /// rights of its folder decide who may connect.
  bool is_network;
};

/// All kinds of transports. The first is the default. paths/wire/transports.cpp makes them.
inline constexpr std::array transport_kinds = {
    TransportKind{"tcp", "tcp://127.0.0.1:7700", true},
    TransportKind{"ipc", "ipc:///tmp/paths/alpha-0", false},
};

/// Returns the kind that a config names by `word`; nullptr for an unknown word.
const TransportKind* find_transport_kind(std::string_view word);
/// Returns the words of all kinds, in their order.
std::vector<std::string_view> transport_words();

/// Highest port of an interface.
inline constexpr std::uint64_t port_max = 65535;

/// Parts of a host's address. An address in a plan is a text, such as "tcp://node-1:7700" or
/// "ipc:///tmp/paths/alpha-0".
struct Address {
  const TransportKind* transport = nullptr;
  std::string place;  ///< interface, such as "node-1", "127.0.0.1" or "[::1]"; or path of a file
  std::uint64_t port = 0;  ///< at least 1 for an interface, maybe above port_max; 0 for a file

  /// Returns the address as a text.
  std::string text() const;
};

/// Splits an address. Returns nullopt if the text is not an address of a known kind.
std::optional<Address> parse_address(std::string_view text);

/// Returns the interface of an address, such as "node-1" of "tcp://node-1:7700". Returns "" if the
/// address is a file, or if it is no address.
std::string interface_of(std::string_view address);

}  // namespace base
