// SPDX-License-Identifier: Apache-2.0
// paths/wire/meeting.cpp — who has come, who still lives, and how hosts part.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "paths/wire/connection.hpp"
#include "paths/wire/socket_folder.hpp"

namespace paths {

namespace {

constexpr base::Nanos first_word_after = std::chrono::seconds(5);
constexpr std::uint32_t looks_per_deadline = 4;

}  // namespace

/// Called with the mutex held.
std::set<std::uint32_t> Connections::absent() const {
  std::set<std::uint32_t> absent;
  for (const auto& [host, peer] : met_)
    if (!peer.departed && peer.greeted_on < peer.comes_on.size()) absent.insert(host);
  for (const auto& [destination, connection] : by_destination_)
    if (!connection->is_welcome && connection->lost.empty()) absent.insert(connection->peer);
  return absent;
}

/// Where a peer should be, and who was there instead.
std::string Connections::place_of(std::uint32_t peer) const {
  runtime::Lock lock(mutex_);
  const auto found = met_.find(peer);
  const bool was_refused = found != met_.end() && !found->second.refused.empty();
  return located(peers_->hosts[peer].address) +
         (was_refused ? "; refused: " + found->second.refused : "");
}

void Connections::await_peers(runtime::Deadline limit) {
  const base::Nanos begun = runtime_.now();
  base::Nanos pause = first_word_after;
  base::Nanos next_word = begun + pause;
  const std::string limit_text = base::format_time(peers_->deadline);
  runtime::Lock lock(mutex_);
  while (!absent().empty() && failed_.empty()) {
    const bool is_last = runtime_.is_virtual() || limit.at <= next_word;
    const runtime::Deadline until = is_last ? limit : runtime::Deadline::written_at(next_word);
    const runtime::Reason reason{"the peers of host", peers_->hosts[host_].name};
    if (meeting_.wait(lock, until, reason) == runtime::Woken::notified) continue;
    const auto missing = absent();
    lock.unlock();
    for (const std::uint32_t peer : missing) {
      const std::string place = place_of(peer);
      if (is_last) {
        give_up(peer, fmt::format("it did not come within {} ({})", limit_text, place));
      } else {
        spdlog::warn("host {} has waited {} for host {} to come, and gives up after {} ({})",
                     peers_->hosts[host_].name, base::format_time(next_word - begun),
                     peers_->hosts[peer].name, limit_text, place);
      }
    }
    lock.lock();
    pause *= 2;
    next_word += pause;
  }
}

std::string Connections::wire(runtime::Deadline limit) {
  await_peers(limit);
  const runtime::Lock lock(mutex_);
  is_wired_ = failed_.empty();
  return failed_;
}

void Connections::fail(const std::string& why) {
  runtime::Wakes wakes;
  const runtime::Lock lock(mutex_);
  fail(why, wakes);
}

/// Called with the mutex held. The first failure counts.
void Connections::fail(const std::string& why, runtime::Wakes& wakes) {
  if (is_wired_ || !failed_.empty()) return;
  failed_ = why;
  meeting_.wake_all(wakes);
}

void Connections::outgrown(const std::string& host, const WiringCall& theirs) {
  runtime::Wakes wakes;
  const runtime::Lock lock(mutex_);
  if (const auto peer = peers_->named(host); peer && met_[*peer].incarnation) return;
  fail(fmt::format("host {} makes number {} of wiring '{}' already, not number {}", host,
                   theirs.number, theirs.label, call_->number),
       wakes);
}

/// Nobody is to hear of peers of a call that has failed.
void Connections::tell_gone(std::uint32_t peer, const std::string& why, bool has_parted) {
  {
    const runtime::Lock lock(mutex_);
    if (!failed_.empty()) return;
  }
  gone_(peer, why, has_parted);
}

void Connections::abandon(const std::string& why) {
  {
    runtime::Wakes wakes;
    const runtime::Lock lock(mutex_);
    if (failed_.empty()) failed_ = why;
    for (auto& [id, connection] : connections_) {
      if (!connection->known || !connection->lost.empty()) continue;
      Frame refusal = frame_of(FrameKind::refuse);
      refusal.text = why;
      post(*connection, std::move(refusal));
      lose(*connection, why, wakes);
    }
  }
  send_posted();
}

std::uint64_t Connections::number_heard() const {
  const runtime::Lock lock(mutex_);
  return number_heard_;
}

std::vector<ConnectionId> Connections::open_arrivals() const {
  const runtime::Lock lock(mutex_);
  std::vector<ConnectionId> open;
  for (const auto& [id, connection] : connections_)
    if (connection->known && !connection->is_ours && !connection->has_parted &&
        connection->lost.empty())
      open.push_back(id);
  return open;
}

base::Nanos Connections::look_pause() const { return peers_->deadline / looks_per_deadline; }

void Connections::look_after_peers() {
  std::vector<std::uint32_t> silent;
  {
    runtime::Lock lock(mutex_);
    std::map<std::uint32_t, Connection*> asked;
    std::set<std::uint32_t> heard;
    for (auto& [id, connection] : connections_) {
      if (!connection->known || !connection->lost.empty()) continue;
      if (std::exchange(connection->is_heard, false)) heard.insert(connection->peer);
      if (!connection->is_ours && !connection->has_parted) asked[connection->peer] = &*connection;
    }
    for (const auto& [host, connection] : asked) {
      Peer& peer = met_[host];
      peer.silent_looks = heard.contains(host) ? 1 : peer.silent_looks + 1;
      if (peer.silent_looks < looks_per_deadline) {
        post(*connection, frame_of(FrameKind::heartbeat));
      } else {
        silent.push_back(host);
      }
    }
  }
  send_posted();
  for (const std::uint32_t peer : silent)
    give_up(peer, fmt::format("it gave no sign of life for {} ({})",
                              base::format_time(peers_->deadline), place_of(peer)));
}

/// Called with the mutex held. True when the peer was not gone before.
bool Connections::forsake(std::uint32_t peer, Which which, const std::string& why,
                          runtime::Wakes& wakes) {
  for (auto& [id, connection] : connections_)
    if (connection->known && connection->peer == peer &&
        (which == Which::all || (connection->is_ours && !connection->is_welcome)))
      lose(*connection, why, wakes);
  fail(fmt::format("host {}: {}", peers_->hosts[peer].name, why), wakes);
  meeting_.wake_all(wakes);
  return depart(peer, why);
}

void Connections::give_up(std::uint32_t peer, const std::string& why) {
  {
    runtime::Wakes wakes;
    runtime::Lock lock(mutex_);
    if (!forsake(peer, Which::all, why, wakes)) return;
    given_up_.push_back(fmt::format("host {} is gone: {}", peers_->hosts[peer].name, why));
  }
  send_posted();
  tell_gone(peer, why, false);
}

std::string Connections::given_up() const {
  runtime::Lock lock(mutex_);
  if (given_up_.empty()) return "";
  return fmt::format("host {}: {}", peers_->hosts[host_].name, fmt::join(given_up_, "; "));
}

/// Each is a connection of its own, so that a goodbye on one may overtake the hello of another.
void Connections::count_planned_connections() {
  for (const Peers::Arrival& arrival : peers_->hosts[host_].arrivals)
    met_[arrival.from_host].comes_on[key_of(arrival.stage)] = false;
}

/// True once for each peer.
bool Connections::depart(std::uint32_t host, const std::string& why) {
  Peer& peer = met_[host];
  if (std::exchange(peer.departed, true)) return false;
  peer.why = why;
  return true;
}

// ---- the end --------------------------------------------------------------------------------

Frame Connections::goodbye() const {
  Frame frame = frame_of(FrameKind::goodbye);
  frame.text = failure_;
  return frame;
}

void Connections::stop(runtime::Deadline deadline) {
  {
    runtime::Wakes wakes;
    runtime::Lock lock(mutex_);
    for (auto& [id, connection] : connections_) {
      if (!connection->is_ours || !connection->lost.empty()) continue;
      connection->is_parting = true;
      post_held(*connection, wakes);
    }
  }
  send_posted();
  await_goodbyes(deadline);
  if (!runtime_.is_virtual()) part_from_those_who_stay();
}

/// Their paths into this host are released: that it closes before they part is no loss to them.
void Connections::part_from_those_who_stay() {
  {
    const runtime::Lock lock(mutex_);
    for (auto& [id, connection] : connections_) {
      if (connection->is_ours || !connection->known || connection->has_parted ||
          !connection->lost.empty())
        continue;
      connection->has_said_goodbye = true;
      post(*connection, goodbye());
    }
  }
  send_posted();
}

/// By peer, how many of our frames it has still to make room for or to answer. Called with the
/// mutex held.
std::map<std::uint32_t, std::size_t> Connections::unfinished() const {
  std::map<std::uint32_t, std::size_t> left;
  for (const auto& [id, connection] : connections_)
    if (connection->is_ours && !connection->has_parted && connection->lost.empty())
      left[connection->peer] += 1 + connection->held.size();
  return left;
}

/// Each peer has the time that is left until `deadline` for each of its steps, whatever others do.
void Connections::await_goodbyes(runtime::Deadline deadline) {
  const base::Nanos patience = deadline.at - runtime_.now();
  std::map<std::uint32_t, std::pair<std::size_t, base::Nanos>> last_step;  // what was left, until
  bool is_late = false;
  runtime::Lock lock(mutex_);
  for (;;) {
    const auto left = unfinished();
    if (left.empty() && !sending_) return;
    deadline.at = base::Nanos::max();
    for (const auto& [peer, count] : left) {
      const auto step = std::pair(count, runtime_.now() + patience);
      auto& last = last_step.try_emplace(peer, step).first->second;
      if (count < last.first) last = step;
      if (is_late && last.second <= runtime_.now()) {
        forgo_goodbyes(peer, patience);
      } else {
        deadline.at = std::min(deadline.at, last.second);
      }
    }
    if (unfinished().empty() && !sending_) return;
    is_late = parting_.wait(lock, deadline,
                            {"answers to the goodbyes of host", peers_->hosts[host_].name}) ==
              runtime::Woken::expired;
  }
}

void Connections::forgo_goodbyes(std::uint32_t peer, base::Nanos patience) {
  for (const auto& [id, connection] : connections_)
    if (connection->is_ours && connection->peer == peer) connection->has_parted = true;
  given_up_.push_back(fmt::format("host {} gave no sign of life at the end for {}",
                                  peers_->hosts[peer].name, base::format_time(patience)));
}

/// True when the peer has parted on every connection: its releases came before its goodbyes, and
/// those that did not come never will.
bool Connections::part(Connection& connection, runtime::Wakes& wakes) {
  if (connection.is_ours) {
    connection.has_parted = true;
    parting_.wake_all(wakes);
    return false;
  }
  connection.has_parted = true;
  if (!connection.has_said_goodbye) post(connection, goodbye());
  Peer& peer = met_[connection.peer];
  return ++peer.parted_from == peer.comes_on.size() && depart(connection.peer, has_ended);
}

}  // namespace paths
