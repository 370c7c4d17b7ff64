// SPDX-License-Identifier: Apache-2.0
// paths/connections/meeting.cpp — waiting for missing peers, with warnings and a time limit
#include "paths/connections/meeting.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "runtime/continuation.hpp"

namespace paths {
namespace {

constexpr base::Nanos first_word_after = std::chrono::seconds(5);

}  // namespace

Meeting::Meeting(ConnectionTable& table, PeerTable& peers, bool needs_all, GiveUp give_up,
                 Tell tell)
    : table_(table),
      peers_(peers),
      give_up_(std::move(give_up)),
      tell_(std::move(tell)),
      is_wired_(!needs_all) {}

/// Returns the peers that have not made all expected connections, or have not accepted all
/// connections of this host.
/// Requires: the mutex is held.
std::set<std::uint32_t> Meeting::absent() const {
  std::set<std::uint32_t> absent = peers_.not_come();
  for (const auto& [id, connection] : table_.all())
    if (connection->is_ours && !connection->is_welcome && connection->lost.empty())
      absent.insert(connection->peer);
  return absent;
}

void Meeting::await_peers(runtime::Deadline limit) {
  const base::Nanos begun = table_.runtime().now();
  base::Nanos pause = first_word_after;
  base::Nanos next_word = begun + pause;
  const base::Nanos deadline = table_.peers().deadline;
  const base::Nanos tell_at = begun + deadline / 2;
  const std::string limit_text = base::format_time(deadline);
  runtime::Lock lock(table_.mutex());
  while (failed_.empty()) {
    if (tell_of_absence(tell_at, lock)) continue;
    if (absent().empty()) break;
    if (give_up_lost(lock)) continue;
    // No warning is printed on the virtual clock, because waits take no real time there.
    const base::Nanos next = told_of_ ? next_word : std::min(next_word, tell_at);
    const runtime::Deadline until =
        runtime::sooner(table_.runtime(), limit, runtime::Deadline::default_at(next));
    const bool is_last = until.at == limit.at;
    const runtime::Reason reason{"the peers of host", table_.name()};
    if (waiting_.wait(lock, until, reason) == runtime::Woken::notified ||
        (!is_last && next != next_word))
      continue;
    for (const std::uint32_t peer : absent()) {
      const std::string place = peers_.place_of(peer);
      lock.unlock();
      if (is_last) {
        give_up_(peer, fmt::format("it did not connect within {} ({})", limit_text, place));
      } else {
        spdlog::warn(
            "host {} has waited {} for host {} to connect, and stops waiting after {} ({})",
            table_.name(), base::format_time(next_word - begun), table_.name_of(peer), limit_text,
            place);
      }
      lock.lock();
    }
    pause *= 2;
    next_word += pause;
  }
}

/// Stops waiting for one missing peer whose loss another host has reported. Returns false if there
/// is no such peer.
/// Requires: `lock` holds the mutex. The function unlocks it while it calls give_up_.
bool Meeting::give_up_lost(runtime::Lock& lock) {
  for (const std::uint32_t peer : absent()) {
    const auto lost = lost_.extract(peer);
    if (lost.empty()) continue;
    lock.unlock();
    give_up_(peer, lost.mapped());
    lock.lock();
    return true;
  }
  return false;
}

/// Informs the peers about one missing peer from the time `due` on, and later about its arrival.
/// Returns false if there is nothing to tell. Requires: `lock` holds the mutex. The function
/// unlocks it while it calls tell_.
bool Meeting::tell_of_absence(base::Nanos due, runtime::Lock& lock) {
  const std::set<std::uint32_t> missing = absent();
  const bool is_due = !told_of_ && !missing.empty() && table_.runtime().now() >= due;
  const bool has_arrived =
      told_of_ && !missing.contains(*told_of_) && !peers_[*told_of_].has_departed;
  if (!is_due && !has_arrived) return false;
  const std::uint32_t peer = is_due ? *missing.begin() : *told_of_;
  told_of_ = is_due ? std::optional(peer) : std::nullopt;
  const std::string state = is_due ? fmt::format("it has not connected to {} for {}", table_.name(),
                                                 base::format_time(table_.peers().deadline / 2))
                                   : "";
  lock.unlock();
  tell_(peer, state);
  lock.lock();
  return true;
}

void Meeting::note_loss(std::uint32_t host, const std::string& why, runtime::DeferredWakes& wakes) {
  lost_.try_emplace(host, why);
  note_change(wakes);
}

std::string Meeting::deploy(runtime::Deadline limit) {
  await_peers(limit);
  const runtime::Lock lock(table_.mutex());
  is_wired_ = failed_.empty();
  return failed_;
}

void Meeting::fail(const std::string& why) {
  runtime::DeferredWakes wakes;
  const runtime::Lock lock(table_.mutex());
  fail(why, wakes);
}

void Meeting::fail(const std::string& why, runtime::DeferredWakes& wakes) {
  if (is_wired_ || !failed_.empty()) return;
  failed_ = why;
  waiting_.wake_all(wakes);
}

void Meeting::note_later_call(const std::string& host, const DeploymentId& theirs) {
  runtime::DeferredWakes wakes;
  const runtime::Lock lock(table_.mutex());
  if (const auto peer = table_.peers().named(host); peer && peers_[*peer].incarnation) return;
  fail(fmt::format("host {} makes number {} of deployment '{}' already, not number {}", host,
                   theirs.number, theirs.label, table_.call().number),
       wakes);
}

void Meeting::note_abandoned(const std::string& why) {
  if (failed_.empty()) failed_ = why;
}

void Meeting::receive_number(const DeploymentId& theirs) {
  if (theirs.label == table_.call().label)
    received_number_ = std::max(received_number_, theirs.number);
}

std::uint64_t Meeting::received_number() const {
  const runtime::Lock lock(table_.mutex());
  return received_number_;
}

}  // namespace paths
