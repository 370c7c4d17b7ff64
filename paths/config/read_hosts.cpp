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

constexpr std::uint16_t port_max = 65535;
constexpr std::string_view default_interface = "127.0.0.1";
/// Maximum length in bytes of an address of the transport `ipc`. The operating system limits the
/// length of the path of a socket.
constexpr std::size_t ipc_path_bytes_max = 100;
constexpr std::uint64_t threads_max = std::numeric_limits<std::int32_t>::max();

/// Returns the first port for a config without the setting `port`. `paths run` sets the variable
/// PATHS_FIRST_PORT for its processes, so concurrent runs use different ports.
std::uint16_t usual_port() {
  const auto chosen = base::parse_natural(environment_variable("PATHS_FIRST_PORT"));
  return chosen && *chosen > 0 && *chosen <= port_max ? static_cast<std::uint16_t>(*chosen) : 7700;
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

/// Returns whether the text has only characters of machine names, interfaces and addresses.
bool is_interface(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char letter) {
    return std::isalnum(letter) != 0 ||
           std::string_view("-._:[]%*").find(static_cast<char>(letter)) != std::string_view::npos;
  });
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
std::string generated_tcp(const Generated& generated, std::uint32_t host) {
  const std::uint32_t ports = 65536u - generated.port;
  if (generated.interface != default_interface || generated.says_port || host < ports)
    return fmt::format("tcp://{}:{}", generated.interface, generated.port + host);
  const std::uint32_t address = 1 + host / ports;
  return fmt::format("tcp://127.{}.{}.{}:{}", address >> 16, (address >> 8) & 255u, address & 255u,
                     generated.port + host % ports);
}

std::string generated_address(const Plan& plan, const Generated& generated, std::uint32_t host) {
  if (plan.transport == Plan::Transport::tcp) return generated_tcp(generated, host);
  return fmt::format("ipc://{}/{}", generated.directory, plan.hosts[host].name);
}

/// Splits "tcp://INTERFACE:PORT"; returns nothing for other text.
std::optional<std::pair<std::string, std::uint64_t>> parse_tcp(std::string_view address) {
  if (!address.starts_with("tcp://")) return std::nullopt;
  address.remove_prefix(6);
  const auto colon = address.rfind(':');
  if (colon == std::string_view::npos || !is_interface(address.substr(0, colon)))
    return std::nullopt;
  const auto port = base::parse_natural(address.substr(colon + 1));
  if (!port || *port == 0) return std::nullopt;
  return std::pair(std::string(address.substr(0, colon)), *port);
}

/// Returns whether `address` was generated and has a port above the highest valid port.
bool counts_beyond(const std::string& address, const base::Settings& written) {
  const auto parts = parse_tcp(address);
  return parts && parts->second > port_max && written.text() != address;
}

void check_tcp(const Plan& plan, const std::string& address, const base::Position& position,
               base::Mistakes& mistakes) {
  const auto parts = parse_tcp(address);
  if (!parts) {
    mistakes.add(position, fmt::format("address: expected one such as tcp://127.0.0.1:7700, "
                                       "found '{}'",
                                       address));
  } else if (parts->second > port_max) {
    mistakes.add(position, fmt::format("address: port {} is beyond {}, found '{}'", parts->second,
                                       port_max, address));
  } else if (parts->first == "*" || parts->first == "0.0.0.0" || parts->first == "[::]") {
    mistakes.add(position, fmt::format("address: '{}' is no address that other hosts can connect "
                                       "to; expected the host's own",
                                       address));
  } else if (!is_loopback(parts->first) && !plan.security_written) {
    mistakes.add(position,
                 fmt::format("address: '{}' can be reached from other machines; expected "
                             "127.0.0.1, or in `network` a `security` of {} or {{keys: FILE}}",
                             address, fmt::join(Plan::security_words, ", ")));
  }
}

void check_address(const Plan& plan, const std::string& address, const base::Position& position,
                   base::Mistakes& mistakes) {
  if (plan.transport == Plan::Transport::tcp) return check_tcp(plan, address, position, mistakes);
  if (!address.starts_with("ipc://") || address.ends_with('/'))
    mistakes.add(position, fmt::format("address: expected one such as ipc:///tmp/paths/alpha-0, "
                                       "because the transport is ipc, found '{}'",
                                       address));
  else if (address.size() > ipc_path_bytes_max)
    mistakes.add(position, fmt::format("address: '{}' is longer than the {} characters that "
                                       "sockets allow",
                                       address, ipc_path_bytes_max));
}

Generated read_network(const base::Settings& section, Plan& plan, const Overrides& overrides,
                       base::Mistakes& mistakes) {
  base::MapReader reader(section, mistakes, "network");
  Generated generated;
  const auto& words = Plan::transport_words;
  const std::string transport =
      reader.choice("transport", {words.begin(), words.end()}, std::string(words.front()));
  plan.transport = Plan::transport_named(overrides.transport.value_or(transport))
                       // A wrong word was already reported by reader.choice().
                       .value_or(Plan::Transport::tcp);
  if (reader.choice("connection", {"per_path", "shared"}, "per_path") == "shared")
    plan.connection = Plan::Connection::shared;
  read_security(reader, reader.take("security"), plan);
  read_liveness(reader, plan);
  generated.interface = reader.word("address", generated.interface);
  generated.says_interface = reader.has("address");
  generated.port = static_cast<std::uint16_t>(reader.integer("port", generated.port, 1, port_max));
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
  if (plan.transport != Plan::Transport::tcp) return address;
  Generated on_it = generated;
  if (address.find("://") == std::string::npos && address.find(':') == std::string::npos) {
    on_it.interface = address;  // the config gives only the interface of the address
    return generated_tcp(on_it, host);
  }
  const auto parts = parse_tcp(address);
  if (!overrides.port || !parts) return address;
  on_it.interface = parts->first;
  return generated_tcp(on_it, host);
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
      plan.transport == Plan::Transport::tcp && !generated.says_port && !generated.says_interface;
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
                    generated.port, last_beyond, port_max));
  if (threads > threads_max)
    mistakes.add(
        hosts.position(),
        fmt::format("hosts: expected at most {} threads in total, found {}", threads_max, threads));
}

}  // namespace paths
