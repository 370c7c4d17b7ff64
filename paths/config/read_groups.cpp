// SPDX-License-Identifier: Apache-2.0
// paths/config/read_groups.cpp — reader of the groups of threads.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "paths/config/low_level.hpp"

namespace paths {
namespace {

using base::Settings;

/// Reader of the members of a group. A member is a cluster, a group of hosts, a host, or
/// HOST/THREAD.
class MemberReader {
 public:
  MemberReader(const Plan& plan, base::Mistakes& mistakes) : plan_(plan), mistakes_(mistakes) {
    std::uint32_t first = 0;
    for (const Plan::PlanHost& host : plan.hosts) {
      first_.push_back(first);
      first += host.threads;
    }
  }

  std::vector<std::uint32_t> read(const Settings& name, const Settings& members) {
    threads_.clear();
    if (members.is_scalar() && members.text() == "all") {
      for (std::uint32_t host = 0; host < plan_.hosts.size(); ++host) add_host(host);
    } else if (members.is_list()) {
      for (const Settings& member : members.items()) add(name, member);
    } else {
      mistakes_.add(
          members.position(),
          fmt::format("group {}: expected all, or a list of clusters, groups of hosts, hosts and "
                      "HOST/THREAD, found {}",
                      name.text(), members.describe()));
      return {};
    }
    if (threads_.empty())
      mistakes_.add(name.position(), fmt::format("group {}: it has no threads", name.text()));
    return {threads_.begin(), threads_.end()};
  }

 private:
  void add(const Settings& group, const Settings& member) {
    if (!member.is_scalar()) {
      mistakes_.add(member.position(), fmt::format("group {}: expected a name, found {}",
                                                   group.text(), member.describe()));
      return;
    }
    const std::string& text = member.text();
    bool is_named = false;
    for (std::uint32_t host = 0; host < plan_.hosts.size(); ++host)
      if (is_in(host, text)) add_host(host), is_named = true;
    if (is_named) return;
    const std::size_t slash = text.find('/');
    const auto host = plan_.host_named(text.substr(0, slash));
    if (host && slash != std::string::npos)
      return add_thread(group, member, *host, text.substr(slash + 1));
    std::vector<std::string_view> names{plan_.clusters.begin(), plan_.clusters.end()};
    for (const Plan::PlanHost& one : plan_.hosts) names.push_back(one.name);
    mistakes_.add(member.position(),
                  fmt::format("group {}: {}", group.text(),
                              not_named("a cluster, a group of hosts, a host or HOST/THREAD",
                                        member, names)));
  }
  /// Returns whether `name` is the name of the host, of its cluster, or of a group that contains
  /// the host.
  bool is_in(std::uint32_t host, const std::string& name) const {
    const auto& groups = plan_.hosts[host].groups;
    return plan_.hosts[host].name == name || plan_.cluster_of(host) == name ||
           std::find(groups.begin(), groups.end(), name) != groups.end();
  }
  void add_host(std::uint32_t host) {
    for (std::uint32_t thread = 0; thread < plan_.hosts[host].threads; ++thread)
      threads_.insert(first_[host] + thread);
  }
  void add_thread(const Settings& group, const Settings& member, std::uint32_t host,
                  const std::string& text) {
    const auto thread = base::parse_natural(text);
    if (thread && *thread < plan_.hosts[host].threads) {
      threads_.insert(first_[host] + static_cast<std::uint32_t>(*thread));
      return;
    }
    mistakes_.add(
        member.position(),
        fmt::format("group {}: expected a thread of {}, which has {}, found '{}'", group.text(),
                    plan_.hosts[host].name, plan_.hosts[host].threads, member.text()));
  }

  const Plan& plan_;
  base::Mistakes& mistakes_;
  std::vector<std::uint32_t> first_;  // rank of each host's first thread, by host index
  std::set<std::uint32_t> threads_;
};

}  // namespace

void read_groups(const Settings& section, Plan& plan, base::Mistakes& mistakes) {
  MemberReader reader(plan, mistakes);
  // A group enables lanes, as the key `lanes` does. With lanes, each host keeps forwarding messages
  // of other hosts until the threads of all hosts have ended. The members of a group need this,
  // because their messages may pass hosts that are not members.
  if (!section.entries().empty()) plan.lanes.is_written = true;
  for (const auto& [name, members] : section.entries())
    if (check_name(name, "a group", mistakes))
      plan.groups.push_back({name.text(), reader.read(name, members)});
}

}  // namespace paths
