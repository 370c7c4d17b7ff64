// SPDX-License-Identifier: Apache-2.0
// paths/config/read_hosts.cpp — reader of hosts and their addresses.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <unordered_map>
#include <utility>

#include "paths/config/low_level.hpp"
#include "paths/config/read_liveness.hpp"
#include "paths/config/read_security.hpp"
#include "paths/plan/identity.hpp"

namespace paths {
namespace {

constexpr std::string_view default_interface = "127.0.0.1";
/// Maximum length in bytes of an address that is a file. The operating system limits the length of
/// the path of a socket.
constexpr std::size_t socket_address_bytes_max = 100;
constexpr std::uint64_t threads_max = std::numeric_limits<std::int32_t>::max();

/// Returns the first port for a config without the setting `port`. `paths run` sets the variable
/// PATHS_FIRST_PORT for its processes, so concurrent runs use different ports.
std::uint16_t usual_port() {
  const auto chosen = base::parse_natural(environment_variable("PATHS_FIRST_PORT"));
  return chosen && *chosen > 0 && *chosen <= base::port_max ? static_cast<std::uint16_t>(*chosen)
                                                            : 7700;
}

/// Settings from which the address of a host is made if the config does not give one.
struct Generated {
  std::string interface { default_interface };
  std::uint16_t port = usual_port();
  std::string directory;
  base::Position position;  ///< position of `port` in the config, if the config gives it
  bool says_port = false;
  bool says_interface = false;
};

/// Returns whether the interface is loopback. A text that begins with "127." must have four
/// numbers, because 127.0.0.1.example.com may be a different machine.
bool is_loopback(const std::string& interface) {
  in_addr address{};
  const bool is_numbers = inet_pton(AF_INET, interface.c_str(), &address) == 1;
  return (is_numbers && interface.starts_with("127.")) || interface == "localhost" ||
         interface == "[::1]";
}

/// Returns the file name of a config without folders and endings, such as "two-clusters".
std::string stem(std::string_view file) {
  if (const auto slash = file.rfind('/'); slash != std::string_view::npos)
    file.remove_prefix(slash + 1);
  return std::string(file.substr(0, file.find('.')));
}

/// Returns the generated address of a host. One IP address does not have enough ports for a large
/// config. The hosts of such a config therefore use several of the sixteen million loopback
/// addresses, unless the config sets a port or an interface.
std::string generated_address(const Plan& plan, const Generated& generated, std::uint32_t host) {
  base::Address address;
  address.transport = plan.transport;
  const std::uint32_t ports = 65536u - generated.port;
  if (!plan.transport->is_network) {
    address.place = fmt::format("{}/{}", generated.directory, plan.hosts[host].name);
  } else if (generated.interface != default_interface || generated.says_port || host < ports) {
    address.place = generated.interface;
    address.port = generated.port + host;
  } else {
    const std::uint32_t number = 1 + host / ports;
    address.place = fmt::format("127.{}.{}.{}", number >> 16, (number >> 8) & 255u, number & 255u);
    address.port = generated.port + host % ports;
  }
  return address.text();
}

/// Returns whether `address` was generated and has a port above the highest valid port.
bool counts_beyond(const std::string& address, const base::Settings& written) {
  const auto parts = base::parse_address(address);
  return parts && parts->port > base::port_max && written.text() != address;
}

void check_interface(const Plan& plan, const base::Address& parts, const base::Position& position,
                     base::Mistakes& mistakes) {
  const std::string address = parts.text();
  if (parts.port > base::port_max) {
    mistakes.add(position, fmt::format("address: port {} is beyond {}, found '{}'", parts.port,
                                       base::port_max, address));
  } else if (parts.place == "*" || parts.place == "0.0.0.0" || parts.place == "[::]") {
    mistakes.add(position, fmt::format("address: '{}' is no address that other hosts can connect "
                                       "to; expected the host's own",
                                       address));
  } else if (!is_loopback(parts.place) && !plan.security_written) {
    mistakes.add(position,
                 fmt::format("address: '{}' can be reached from other machines; expected "
                             "127.0.0.1, or in `network` a `security` of {} or {{keys: FILE}}",
                             address, fmt::join(Plan::security_words, ", ")));
  }
}

void check_address(const Plan& plan, const std::string& address, const base::Position& position,
                   base::Mistakes& mistakes) {
  const auto parts = base::parse_address(address);
  const base::TransportKind& kind = *plan.transport;
  const bool is_ipv6 = kind.is_network && std::count(address.begin(), address.end(), ':') > 2;
  if (!parts)
    mistakes.add(
        position,
        fmt::format("address: expected one such as {}, found '{}'{}", kind.example, address,
                    is_ipv6 ? "; an IPv6 address stands in brackets, such as [::1]" : ""));
  else if (parts->transport != &kind)
    mistakes.add(position, fmt::format("address: expected one such as {}, because the transport is "
                                       "{}, found '{}'",
                                       kind.example, kind.word, address));
  else if (kind.is_network)
    check_interface(plan, *parts, position, mistakes);
  else if (address.size() > socket_address_bytes_max)
    mistakes.add(position, fmt::format("address: '{}' is longer than the {} characters that "
                                       "sockets allow",
                                       address, socket_address_bytes_max));
}

Generated read_network(const base::Settings& section, Plan& plan, const Overrides& overrides,
                       base::Mistakes& mistakes) {
  base::MapReader reader(section, mistakes, "network");
  Generated generated;
  const std::string transport =
      reader.choice("transport", base::transport_words(), std::string(plan.transport->word));
  // reader.choice() and check_transport() have already reported a wrong word.
  if (const auto* const kind = base::find_transport_kind(overrides.transport.value_or(transport)))
    plan.transport = kind;
  if (reader.choice("connection", {"per_path", "shared"}, "per_path") == "shared")
    plan.connection = Plan::Connection::shared;
  read_security(reader, reader.take("security"), plan);
  reader.take("protected");  // read_protected_links() reads it when the clusters are known
  plan.is_behind_nat = reader.choice("behind", {"nat"}, "") == "nat";
  read_liveness(reader, plan);
  generated.interface = reader.word("address", generated.interface);
  generated.says_interface = reader.has("address");
  generated.port =
      static_cast<std::uint16_t>(reader.integer("port", generated.port, 1, base::port_max));
  generated.says_port = reader.has("port") || overrides.port;
  generated.position = reader.position_of("port");
  generated.directory = reader.word("directory", stem(section.position().file.text()));
  if (reader.has("directory") && generated.directory.empty())
    reader.mistake("directory", "expected a folder of sockets, found ''");
  reader.finish();
  if (overrides.port) generated.port = *overrides.port;
  if (overrides.port) generated.position = {"command line"};
  return generated;
}

/// Returns a host's address: the address in the config, changed by program options, or a generated
/// address.
std::string address_of(const base::Settings& written, const Plan& plan, const Generated& generated,
                       std::uint32_t host, const Overrides& overrides) {
  if (!written.is_scalar() || overrides.transport) return generated_address(plan, generated, host);
  std::string address = written.text();
  if (!plan.transport->is_network) return address;
  Generated on_it = generated;
  if (address.find(':') == std::string::npos) {
    on_it.interface = address;  // the config gives only the interface of the address
    return generated_address(plan, on_it, host);
  }
  const auto parts = base::parse_address(address);
  if (!overrides.port || !parts) return address;
  on_it.interface = parts->place;
  return generated_address(plan, on_it, host);
}

/// Reads the setting `groups` of a host, such as "lan-1/machine-1".
std::vector<std::string> read_groups(base::MapReader& reader) {
  std::vector<std::string> groups;
  const auto path = reader.word("groups");
  for (std::size_t from = 0; path && from <= path->size();) {
    const std::size_t to = std::min(path->find('/', from), path->size());
    groups.push_back(path->substr(from, to - from));
    check_name(base::Settings::scalar(groups.back(), reader.position_of("groups")), "a group",
               reader.mistakes());
    from = to + 1;
  }
  return groups;
}

/// Checks that all hosts of a cluster are in the same number of nested groups. Ignores hosts
/// without threads, because a gateway is in no group.
void check_levels(const Plan& plan, base::Mistakes& mistakes) {
  std::vector<const Plan::PlanHost*> first(plan.clusters.size());
  for (const Plan::PlanHost& host : plan.hosts) {
    if (host.threads == 0) continue;
    const Plan::PlanHost*& other = first[host.cluster];
    if (other == nullptr) other = &host;
    if (host.groups.size() == other->groups.size()) continue;
    const auto counted = [](const Plan::PlanHost& one) {
      return one.groups.empty()       ? "none"
             : one.groups.size() == 1 ? "1"
                                      : std::to_string(one.groups.size());
    };
    mistakes.add(host.position,
                 fmt::format("groups: expected as many levels as host {} of cluster {} has, {}, "
                             "found {} of host {}{}",
                             other->name, plan.clusters[host.cluster], counted(*other),
                             counted(host), host.name, also_at(other->position)));
  }
}

}  // namespace

void read_hosts(const base::Settings& hosts, const base::Settings& network, Plan& plan,
                const Overrides& overrides, base::Mistakes& mistakes) {
  const Generated generated = read_network(network, plan, overrides, mistakes);
  plan.are_addresses_usual =
      plan.transport->is_network && !generated.says_port && !generated.says_interface;
  std::uint64_t threads = 0;
  std::uint32_t last_beyond = 0;  // highest generated port above the highest valid port; 0 = none
  std::unordered_map<std::string, std::uint32_t> clusters;
  std::unordered_map<std::string, base::Position> addresses;
  for (const auto& [name, value] : hosts.entries()) {
    if (!check_name(name, "a host", mistakes)) continue;
    Plan::PlanHost host;
    host.name = name.text();
    host.position = name.position();
    base::MapReader reader(value, mistakes, "host " + host.name);
    const std::string cluster = reader.word("cluster", "all");
    host.threads = static_cast<std::uint32_t>(reader.integer("threads", 0, 0, host_threads_max));
    host.speed = reader.number("speed", 1.0, 1e-6, 1e6);
    host.first_thread = static_cast<std::uint32_t>(std::min(threads, threads_max));
    threads += host.threads;
    const base::Settings address = reader.take("address");
    if (reader.has("address") && !address.is_scalar())
      reader.mistake("address", fmt::format("expected an address, found {}", address.describe()));
    if (reader.has("address")) plan.are_addresses_usual = false;
    host.groups = read_groups(reader);
    host.shares_space = reader.choice("space", {"local", "shared"}, "local") == "shared";
    reader.finish();
    const auto [found, is_new] =
        clusters.try_emplace(cluster, static_cast<std::uint32_t>(plan.clusters.size()));
    if (is_new) plan.clusters.push_back(cluster);
    host.cluster = found->second;
    const auto index = static_cast<std::uint32_t>(plan.hosts.size());
    plan.hosts.push_back(std::move(host));
    std::string& where = plan.hosts.back().address;
    where = address_of(address, plan, generated, index, overrides);
    const base::Position& position =
        address.is_scalar() ? address.position() : plan.hosts.back().position;
    if (counts_beyond(where, address)) {
      last_beyond = generated.port + index;
      continue;
    }
    check_address(plan, where, position, mistakes);
    const auto [first, fresh] = addresses.try_emplace(where, position);
    if (!fresh)
      mistakes.add(position, fmt::format("address: '{}' is another host's as well{}", where,
                                         also_at(first->second)));
  }
  check_levels(plan, mistakes);
  if (last_beyond > 0)
    mistakes.add(
        generated.position,
        fmt::format("port: the hosts count on from {} to {}, but there are none beyond {}; "
                    "expected a lower one, or addresses of the hosts",
                    generated.port, last_beyond, base::port_max));
  if (threads > threads_max)
    mistakes.add(
        hosts.position(),
        fmt::format("hosts: expected at most {} threads in total, found {}", threads_max, threads));
}

}  // namespace paths
