// SPDX-License-Identifier: Apache-2.0
// commands/draw_schedule.cpp — text drawing of a schedule: tree or steps, traffic, longest chain.
#include "commands/draw_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "collectives/schedule/longest_way.hpp"

namespace commands {
namespace {

using collectives::Action;
using collectives::Count;
using collectives::Rank;
using collectives::Schedule;
using collectives::Step;

constexpr std::size_t hosts_shown = 16, steps_shown = 16;

struct Flow {
  Count messages = 0, elements = 0;
  void add(const Flow& more) {
    messages += more.messages;
    elements += more.elements;
  }
};

/// Messages and elements between pairs of hosts or clusters, keyed by sender and receiver.
using Flows = std::map<std::pair<std::size_t, std::size_t>, Flow>;

class ScheduleDrawer {
 public:
  explicit ScheduleDrawer(const ScheduleRequest& request)
      : request_(request),
        schedule_(schedule_of(*request.algorithm, request.task, request.parameters)),
        peers_(schedule_.size()) {
    for (Rank rank = 0; rank < schedule_.size(); ++rank)
      for (std::size_t step = 0; step < schedule_[rank].size(); ++step)
        if (schedule_[rank][step].is_message()) add_message(rank, schedule_[rank][step]);
  }

  std::string draw() {
    text_ = fmt::format("{}, {}\n\n", request_.task_text(), request_.schedule_text());
    if (is_tree())
      draw_node(request_.task.root, request_.task.root, "", "");
    else
      draw_steps();
    draw_flows();
    draw_longest_way();
    return std::move(text_);
  }

 private:
  void add_message(Rank me, const Step& step) {
    auto& peers = peers_[me];
    if (std::find(peers.begin(), peers.end(), step.peer) == peers.end()) peers.push_back(step.peer);
    if (step.action != Action::send) return;
    Flow& flow = flows_[{me, step.peer}];
    ++flow.messages;
    flow.elements += step.elements();
  }

  /// Returns whether the pairs of hosts that exchange messages form a tree: from the root to each
  /// host there is one way, and no other.
  bool is_tree() const {
    std::size_t ends = 0;
    for (const auto& peers : peers_) ends += peers.size();
    if (ends != 2 * (peers_.size() - 1)) return false;
    std::vector<bool> seen(peers_.size());
    std::vector<Rank> open{request_.task.root};
    seen[request_.task.root] = true;
    std::size_t reached = 1;
    while (!open.empty()) {
      const Rank at = open.back();
      open.pop_back();
      for (const Rank peer : peers_[at]) {
        if (seen[peer]) continue;
        seen[peer] = true;
        open.push_back(peer);
        ++reached;
      }
    }
    return reached == peers_.size();
  }

  std::string amount(const Flow& flow) const {
    const std::string bytes = base::format_bytes(request_.bytes_of(flow.elements));
    return flow.messages == 1 ? bytes : fmt::format("{} in {} messages", bytes, flow.messages);
  }

  /// Draws a subtree. Children are in the order in which they first communicate with their parent.
  void draw_node(Rank rank, Rank parent, const std::string& first, const std::string& rest) {
    text_ += first + request_.participants.hosts[rank];
    if (rank != parent) {
      const auto down = flows_.find({parent, rank}), up = flows_.find({rank, parent});
      if (down != flows_.end()) text_ += fmt::format("  {} down", amount(down->second));
      if (up != flows_.end())
        text_ += fmt::format("{} {} up", down == flows_.end() ? " " : ",", amount(up->second));
      if (cluster(rank) != cluster(parent))
        text_ += fmt::format(", {} to {}", name(cluster(parent)), name(cluster(rank)));
    }
    text_ += '\n';
    std::vector<Rank> children = peers_[rank];
    std::erase(children, rank == parent ? rank : parent);
    for (std::size_t place = 0; place < children.size(); ++place) {
      const bool last = place + 1 == children.size();
      draw_node(children[place], rank, rest + (last ? "└─ " : "├─ "),
                rest + (last ? "   " : "│  "));
    }
  }

  void draw_steps() {
    for (Rank rank = 0; rank < std::min(schedule_.size(), hosts_shown); ++rank) {
      const collectives::Steps& steps = schedule_[rank];
      text_ += fmt::format("{}\n", request_.participants.hosts[rank]);
      for (std::size_t step = 0; step < std::min(steps.size(), steps_shown); ++step)
        text_ += fmt::format("  {}\n", collectives::text(steps[step]));
      if (steps.size() > steps_shown)
        text_ += fmt::format("  and {} more, which `paths schedule print` shows\n",
                             steps.size() - steps_shown);
    }
    if (schedule_.size() > hosts_shown)
      text_ += fmt::format("and {} more hosts\n", schedule_.size() - hosts_shown);
  }

  void draw_flows() {
    Flows links;
    Flow all;
    for (const auto& [ends, flow] : flows_) {
      links[{cluster(static_cast<Rank>(ends.first)), cluster(static_cast<Rank>(ends.second))}].add(
          flow);
      all.add(flow);
    }
    std::size_t width = 4;
    for (const std::string& name : request_.participants.clusters)
      width = std::max(width, name.size());
    const auto row = [&](const std::string& from, const std::string& to, const auto& messages,
                         const std::string& bytes) {
      text_ +=
          fmt::format("{:<{}}  {:<{}}  {:>8}  {:>10}\n", from, width, to, width, messages, bytes);
    };
    text_ += '\n';
    row("from", "to", "messages", "bytes");
    for (const auto& [ends, flow] : links)
      row(name(ends.first), name(ends.second), flow.messages,
          base::format_bytes(request_.bytes_of(flow.elements)));
    row("all", "", all.messages, base::format_bytes(request_.bytes_of(all.elements)));
  }

  void draw_longest_way() {
    const pricing::Network& network = *request_.participants.network;
    const collectives::Way way =
        longest_way(schedule_, [&](Rank from, Rank to) { return network.latency(from, to); });
    if (way.hosts.empty()) return;
    std::size_t crossings = 0;
    std::string hosts = request_.participants.hosts[way.hosts.front()];
    for (std::size_t hop = 0; hop < way.hops(); ++hop) {
      crossings += network.crosses(way.hosts[hop], way.hosts[hop + 1]) ? 1 : 0;
      hosts += " > " + request_.participants.hosts[way.hosts[hop + 1]];
    }
    text_ += fmt::format(
        "\nThe longest way of data: {}\n{} between clusters and {} inside, {} of latency\n", hosts,
        crossings, way.hops() - crossings, base::format_time(way.time));
  }

  std::size_t cluster(Rank rank) const { return request_.task.group().cluster_of(rank); }
  const std::string& name(std::size_t cluster) const {
    return request_.participants.clusters[cluster];
  }

  const ScheduleRequest& request_;
  Schedule schedule_;
  std::vector<std::vector<Rank>> peers_;  // peers of each host, in order of first use
  Flows flows_;
  std::string text_;
};

}  // namespace

std::string draw_schedule(const ScheduleRequest& request) { return ScheduleDrawer(request).draw(); }

}  // namespace commands
