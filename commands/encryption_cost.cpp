// SPDX-License-Identifier: Apache-2.0
// commands/encryption_cost.cpp — costs of encryption as text.
#include "commands/encryption_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/units.hpp"
#include "paths/one_machine.hpp"

namespace commands {
namespace {

/// Hosts of a cluster.
struct Hosts {
  std::size_t count = 0;
  std::set<std::string> machines;
};

/// Returns whether some host of `a` has a TCP connection with some host of `b`. Processes of one
/// machine have one only if they do not share memory.
bool are_connected(const Hosts& a, const Hosts& b, bool shared_memory) {
  if (a.count == 0 || b.count == 0 || (&a == &b && a.count == 1)) return false;
  return !shared_memory || a.machines.size() > 1 || a.machines != b.machines;
}

std::vector<Hosts> hosts_of_clusters(const paths::Plan& plan) {
  std::vector<Hosts> all(plan.clusters.size());
  for (const paths::Plan::PlanHost& host : plan.hosts) {
    ++all[host.cluster].count;
    all[host.cluster].machines.insert(paths::machine_of(host.address));
  }
  return all;
}

}  // namespace

bool has_encrypted_connection(const paths::Plan& plan) {
  const std::vector<Hosts> all = hosts_of_clusters(plan);
  for (std::uint32_t a = 0; a < all.size(); ++a)
    for (std::uint32_t b = a; b < all.size(); ++b)
      if (plan.encrypts_between(a, b) && are_connected(all[a], all[b], plan.shared_memory))
        return true;
  return false;
}

bool is_link_encrypted(const paths::Plan& plan, const std::string& from, const std::string& to) {
  const std::vector<Hosts> all = hosts_of_clusters(plan);
  const auto index_of = [&plan](const std::string& name) {
    const auto found = std::find(plan.clusters.begin(), plan.clusters.end(), name);
    return static_cast<std::uint32_t>(found - plan.clusters.begin());
  };
  const std::uint32_t a = index_of(from), b = index_of(to);
  return a < all.size() && b < all.size() && plan.encrypts_between(a, b) &&
         are_connected(all[a], all[b], plan.shared_memory);
}

namespace {

/// Returns a text that names the fastest link that encryption limits, such as "alpha to beta
/// (10Gbit)"; "" if encryption limits no link.
std::string limited_link_text(const paths::Plan& plan, const pricing::Network& network,
                              const std::vector<std::string>& clusters) {
  std::string text;
  double fastest = 0;
  for (std::size_t from = 0; from < clusters.size(); ++from)
    for (std::size_t to = 0; to < clusters.size(); ++to) {
      if (from == to) continue;
      const double rate =
          network.links[from * clusters.size() + to].model.at(base::Nanos(0)).bits_per_second;
      if (rate <= std::max(fastest, encrypted_bits_per_second) ||
          !is_link_encrypted(plan, clusters[from], clusters[to]))
        continue;
      fastest = rate;
      text = fmt::format("{} to {} ({})", clusters[from], clusters[to],
                         base::format_bits_per_second(rate));
    }
  return text;
}

}  // namespace

std::string encryption_text(const paths::Plan& plan) {
  if (!has_encrypted_connection(plan)) return "";
  return fmt::format(
      "about {} s of processor time per GB ({} s without encryption), at most about {:.1f} Gbit "
      "for each connection",
      encrypted_seconds_per_gb, plain_seconds_per_gb, encrypted_bits_per_second / 1e9);
}

std::string encryption_text(const paths::Plan& plan, const pricing::Network& network,
                            const std::vector<std::string>& clusters) {
  const std::string price = encryption_text(plan);
  if (price.empty()) return "";
  const std::string link = limited_link_text(plan, network, clusters);
  return link.empty() ? price : fmt::format("{}, less than the link {}", price, link);
}

}  // namespace commands
