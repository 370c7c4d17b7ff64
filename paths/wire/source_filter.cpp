// SPDX-License-Identifier: Apache-2.0
// paths/wire/source_filter.cpp — comparison of peers' addresses with those of the config's hosts
#include "paths/wire/source_filter.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/address.hpp"
#include "base/descriptor.hpp"
#include "paths/one_machine.hpp"
#include "paths/wire/address.hpp"

namespace paths {
namespace {

constexpr IpAddress mapped_zero = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0};
constexpr std::size_t mapped_prefix_bytes = 12;

bool is_ipv4(const IpAddress& address) {
  return std::equal(address.begin(), address.begin() + mapped_prefix_bytes, mapped_zero.begin());
}

bool is_loopback(const IpAddress& address) {
  constexpr IpAddress loopback = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  return address == loopback || (is_ipv4(address) && address[mapped_prefix_bytes] == 127);
}

/// Returns whether this machine has the address, also if no interface has it. A machine may have
/// all addresses of a network, by a local route.
bool is_of_this_machine(const IpAddress& address) {
  const bool has_four_bytes = is_ipv4(address);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  std::memcpy(&place.sin_addr, &address[mapped_prefix_bytes], sizeof place.sin_addr);
  sockaddr_in6 longer{};
  longer.sin6_family = AF_INET6;
  std::memcpy(&longer.sin6_addr, address.data(), sizeof longer.sin6_addr);
  const base::Descriptor socket(
      ::socket(has_four_bytes ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto* const at = has_four_bytes ? reinterpret_cast<const sockaddr*>(&place)
                                        : reinterpret_cast<const sockaddr*>(&longer);
  return bind(socket.get(), at, has_four_bytes ? sizeof place : sizeof longer) == 0;
}

}  // namespace

std::optional<IpAddress> parse_ip_address(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  const std::string digits(text.substr(0, text.find('%')));
  IpAddress address = mapped_zero;
  if (inet_pton(AF_INET, digits.c_str(), &address[mapped_prefix_bytes]) == 1) return address;
  if (inet_pton(AF_INET6, digits.c_str(), address.data()) == 1) return address;
  return std::nullopt;
}

bool have_fixed_sources(const Peers& peers) {
  std::optional<bool> are_ipv4;
  for (const Peers::Peer& peer : peers.hosts) {
    if (peer.address.empty()) continue;  // a switch that is not emulated
    const auto address = parse_ip_address(base::interface_of(peer.address));
    if (!address || is_loopback(*address)) return false;
    if (are_ipv4.value_or(is_ipv4(*address)) != is_ipv4(*address)) return false;
    are_ipv4 = is_ipv4(*address);
  }
  return are_ipv4.has_value();
}

SourceFilter::SourceFilter(const Peers& peers, std::uint32_t host)
    : accepts_all_(!peers.has_fixed_sources) {
  if (accepts_all_) return;
  for (const std::string& text : addresses_of_this_machine())
    if (const auto address = parse_ip_address(text)) of_machine_.insert(*address);
  for (std::uint32_t other = 0; other < peers.hosts.size(); ++other) {
    const std::string& text = peers.hosts[other].address;
    const auto address = parse_ip_address(base::interface_of(text));
    if (!address || other == host) continue;
    of_hosts_.insert(*address);
    accepts_machine_ =
        accepts_machine_ || of_machine_.contains(*address) || is_of_this_machine(*address);
  }
}

bool SourceFilter::accepts(const std::string& source) const {
  if (accepts_all_ || source.empty()) return true;  // a Unix socket has no address
  const auto address = parse_ip_address(source);
  return address &&
         (of_hosts_.contains(*address) || (accepts_machine_ && of_machine_.contains(*address)));
}

std::string SourceFilter::source_for(const std::string& own, const std::string& other) const {
  if (accepts_all_) return {};
  const std::string interface = base::interface_of(own);
  const auto from = parse_ip_address(interface), to = parse_ip_address(base::interface_of(other));
  // For a link-local address, which has a zone, the system chooses the only address that works.
  const bool is_here =
      from && of_machine_.contains(*from) && interface.find('%') == std::string::npos;
  return is_here && to && !of_machine_.contains(*to) ? interface : std::string();
}

bool shut_down_from(int descriptor, const std::string& source) {
  const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return false;
  const bool is_same = address_of_peer(copy) == source;
  if (is_same) shutdown(copy, SHUT_RDWR);
  close(copy);
  return is_same;
}

}  // namespace paths
