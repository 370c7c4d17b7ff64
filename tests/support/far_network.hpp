// SPDX-License-Identifier: Apache-2.0
// tests/support/far_network.hpp — a network namespace that stands for another machine.
#pragma once
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "tests/support/shell.hpp"

namespace test_support {

/// Network namespace with a link of its own to this one. Needs root.
class FarNetwork {
 public:
  /// Addresses of the two ends of the link. Test processes that run in parallel use different
  /// addresses.
  static std::string near() { return address(1); }
  static std::string far() { return address(2); }
  /// Second address of the far end. It exists after connect_from_second().
  static std::string second() { return address(3); }
  /// IPv6 addresses of the two ends, without brackets. They exist after add_ipv6().
  static std::string near_ipv6() { return ipv6(1); }
  static std::string far_ipv6() { return ipv6(2); }

  FarNetwork() {
    run(
        fmt::format("ip netns add {0} && ip link add {1} type veth peer name far netns {0} && "
                    "ip addr add {2}/29 dev {1} && ip link set {1} up && "
                    "ip -n {0} addr add {3}/29 dev far && ip -n {0} link set far up && "
                    "ip -n {0} link set lo up",
                    name_, link_, near(), far()));
  }
  ~FarNetwork() { run_shell(fmt::format("ip netns del {0}; ip link del {1}", name_, link_)); }
  FarNetwork(const FarNetwork&) = delete;
  FarNetwork& operator=(const FarNetwork&) = delete;

  /// Returns whether this process may make such a network.
  static bool is_available() {
    if (geteuid() != 0) return false;
    try {
      const FarNetwork network;
      return true;
    } catch (const std::runtime_error&) {
      return false;
    }
  }
  std::string command() const { return "ip netns exec " + name_ + " "; }
  void cut() const { run(fmt::format("ip -n {} link set far down", name_)); }
  /// Returns whether this machine has IPv6.
  static bool has_ipv6() { return access("/proc/net/if_inet6", F_OK) == 0; }
  /// Gives the far end the address second(). The system there connects from it by default.
  void connect_from_second() const {
    run(
        fmt::format("ip -n {0} addr add {1}/29 dev far && "
                    "ip -n {0} route replace {2}/29 dev far src {1}",
                    name_, second(), address(0)));
  }
  /// Gives both ends their IPv6 addresses. The far end also gets a second IPv6 address, from which
  /// the system there connects by default.
  void add_ipv6() const {
    run(fmt::format(
        "ip addr add {2}/64 dev {1} nodad && ip -n {0} addr add {3}/64 dev far nodad && "
        "ip -n {0} addr add {4}/64 dev far nodad && "
        "ip -n {0} route replace {5}/64 dev far src {4}",
        name_, link_, near_ipv6(), far_ipv6(), ipv6(3), ipv6(0)));
  }
  /// Moves the calling process, which must have no other thread, to the far end.
  void enter() const {
    const int file = open(("/run/netns/" + name_).c_str(), O_RDONLY | O_CLOEXEC);
    const bool is_there = file >= 0 && setns(file, CLONE_NEWNET) == 0;
    if (file >= 0) close(file);
    if (!is_there) throw std::runtime_error("cannot enter the network namespace " + name_);
  }

 private:
  static std::string address(int number) {
    return fmt::format("10.213.{}.{}", process_ % 250, number);
  }
  static std::string ipv6(int number) {
    return fmt::format("fd00:213:{}::{}", process_ % 250, number);
  }
  static void run(const std::string& command) {
    const Said said = run_shell(command);
    if (said.exit_code != 0) throw std::runtime_error(said.text);
  }
  static inline const pid_t process_ = getpid();  // also in child processes
  const std::string name_ = fmt::format("paths-far-{}", process_);
  const std::string link_ = fmt::format("pf{}", process_);
};

}  // namespace test_support
