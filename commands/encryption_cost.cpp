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

bool encrypts(const paths::Plan& plan) {
  using Security = paths::Plan::Security;
  return plan.transport->is_network &&
         (plan.security == Security::run || plan.security == Security::keys);
}

}  // namespace

bool has_encrypted_connection(const paths::Plan& plan, const std::vector<std::string>& clusters) {
  if (!encrypts(plan)) return false;
  std::set<std::string> machines;
  std::size_t hosts = 0;
  for (const paths::Plan::PlanHost& host : plan.hosts) {
    const bool is_one =
        clusters.empty() ||
        std::find(clusters.begin(), clusters.end(), plan.clusters[host.cluster]) != clusters.end();
    if (!is_one) continue;
    machines.insert(paths::machine_of(host.address));
    ++hosts;
  }
  return hosts > 1 && (machines.size() > 1 || !plan.shared_memory);
}

std::string encryption_text(const paths::Plan& plan) {
  if (!has_encrypted_connection(plan, {})) return "";
  return fmt::format(
      "about {} s of processor time per GB ({} s without encryption), at most about {:.1f} Gbit "
      "for each connection",
      encrypted_seconds_per_gb, plain_seconds_per_gb, encrypted_bits_per_second / 1e9);
}

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
          !has_encrypted_connection(plan, {clusters[from], clusters[to]}))
        continue;
      fastest = rate;
      text = fmt::format("{} to {} ({})", clusters[from], clusters[to],
                         base::format_bits_per_second(rate));
    }
  return text;
}

}  // namespace commands
