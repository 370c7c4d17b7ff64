// SPDX-License-Identifier: Apache-2.0
// groups/operation_table.cpp — arrival of members, and failures of operations
#include "groups/operation_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/usage_error.hpp"
#include "groups/host_groups.hpp"
#include "groups/overlap.hpp"
#include "paths/host/ended_threads.hpp"

namespace groups {

OperationTable::OperationTable(const GroupView& view, Failing failing, GroupTrace* trace,
                               Owner owner)
    : view_(view),
      failing_(failing),
      trace_(trace),
      owner_(std::move(owner)),
      members_digest_(view.layout().digest()),
      signature_digest_(members_digest_) {}

// ---- operations ------------------------------------------------------------------------------

std::shared_ptr<Running> OperationTable::find_or_add(std::uint64_t number) {
  std::shared_ptr<Running>& running = running_[number];
  if (running == nullptr) {
    running = std::make_shared<Running>();
    running->name = {number, 0, view_.name()};
    running->calls.resize(view_.member_count());
    if (trace_ != nullptr) running->trace = trace_->share(number);
  }
  return running;
}

/// Returns the reason for which an operation cannot succeed; nullptr if there is none. The reason
/// is that this operation or an earlier operation has failed, or that a member has left before this
/// operation.
paths::Failure OperationTable::known_failure(std::uint64_t number) const {
  const auto behind = failures_.upper_bound(number);
  if (behind != failures_.begin()) return std::prev(behind)->second;
  for (const auto& [place, left] : left_)
    if (number >= left.from)
      return view_.failure_of(fmt::format("{} {}", view_.thread_text(place), left.why), left.cause);
  return nullptr;
}

void OperationTable::check(std::uint64_t number) const {
  const runtime::Lock lock(mutex_);
  if (const paths::Failure failure = known_failure(number)) throw paths::TravelError(*failure);
}

OperationTable::Entered OperationTable::enter(std::uint32_t place, std::uint64_t number,
                                              const std::shared_ptr<const Call>& call,
                                              const std::shared_ptr<const PreparedCall>& prepared,
                                              bool waits) {
  runtime::Lock lock(mutex_);
  if (const paths::Failure failure = known_failure(number)) {
    fail(lock, number, failure, failing_);
    lock.unlock();  // throw_to() locks the mutex of HostGroups, never while mutex_ is held
    throw_to(place, *failure);
  }
  std::shared_ptr<Running> running = find_or_add(number);
  if (running->come == 0) {
    running->prepared = prepared;
    running->name.collective = call->collective;
  } else if (running->prepared != prepared && running->prepared->signature != prepared->signature) {
    refuse(lock, number, difference_text(*running, place, *prepared));
  }
  const std::size_t member = place - view_.place(0);
  running->calls[member] = call;
  if (running->trace) running->trace->came(member, waits);
  if (++running->come < running->calls.size()) return {running, false};
  if (const std::string why = overlap_text(view_, running->calls); !why.empty())
    refuse(lock, number, fmt::format("{}: {}", running->name.text(), why));
  begin(*running);
  return {running, true};
}

void OperationTable::begin(Running& running) {
  note_begin(running.name.number, running.prepared);
  running.name.signature_digest = signature_digest_;
  running.turn = owner_.turn_of(*running.prepared);
  running.has_begun = true;
}

void OperationTable::note_begin(std::uint64_t number,
                                const std::shared_ptr<const PreparedCall>& prepared) {
  signature_digest_ = combined_digest(
      failing_ == Failing::alone ? members_digest_ : signature_digest_, prepared->digest);
  begun_ = number + 1;
  if (last_ != prepared) last_ = prepared;
}

std::optional<OperationTable::AtOnce> OperationTable::begin_at_once(
    std::uint64_t number, const std::shared_ptr<const PreparedCall>& prepared) {
  const runtime::Lock lock(mutex_);
  if (!failures_.empty() || !left_.empty()) return std::nullopt;
  note_begin(number, prepared);
  return AtOnce{signature_digest_, owner_.turn_of(*prepared)};
}

/// Fails an operation because the calls of its members are wrong. Throws: UsageError.
void OperationTable::refuse(runtime::Lock& lock, std::uint64_t number, const std::string& why) {
  fail(lock, number, view_.failure_of(why, paths::FailureCause::application), failing_);
  throw base::UsageError(why);
}

/// Returns the error text for a member whose call differs from the call of a member that arrived
/// earlier.
std::string OperationTable::difference_text(const Running& running, std::uint32_t place,
                                            const PreparedCall& prepared) const {
  const auto other = std::find_if(running.calls.begin(), running.calls.end(),
                                  [](const auto& one) { return one != nullptr; });
  const auto member = static_cast<std::size_t>(other - running.calls.begin());
  return fmt::format("operation {} of group {}: {} calls '{}', but {} calls '{}'",
                     running.name.number, view_.name(), view_.thread_text(place),
                     prepared.signature, view_.thread_text(view_.place(member)),
                     running.prepared->signature);
}

void OperationTable::end(Running& running, const paths::Failure& failure,
                         runtime::DeferredWakes& wakes) {
  {
    runtime::Lock lock(mutex_);
    running_.erase(running.name.number);
    running.calls.clear();
    if (failure) {
      fail(lock, running.name.number, failure, failing_);
      running.failure = failure;
    }
    end_if_over(lock);
  }
  running.completion.complete(wakes);
}

std::string OperationTable::call_text_of(std::uint64_t number) const {
  const runtime::Lock lock(mutex_);
  const auto running = running_.find(number);
  if (running != running_.end()) return call_text(view_, number, *running->second->prepared);
  return number + 1 == begun_ ? call_text(view_, number, *last_) : std::string();
}

// ---- failures --------------------------------------------------------------------------------

void OperationTable::fail_late(Running& running, std::optional<std::uint32_t> waiter) {
  runtime::Lock lock(mutex_);
  const auto found = running_.find(running.name.number);
  const bool has_ended = found == running_.end() || found->second.get() != &running;
  if (has_ended || (running.has_begun && (!waiter || lanes_ == nullptr))) return;
  std::vector<std::string> missing;
  for (std::size_t member = 0; member < running.calls.size(); ++member)
    if (running.calls[member] == nullptr) missing.push_back(view_.thread_text(view_.place(member)));
  const std::string what = running.has_begun
                               ? "did not end"
                               : fmt::format("{} did not arrive", fmt::join(missing, ", "));
  const std::string deadline =
      waiter ? view_.thread_text(*waiter) : base::format_time(view_.plan().deadline);
  fail(lock, running.name.number,
       view_.failure_of(
           fmt::format("{}: {} before the deadline of {}", running.name.text(), what, deadline),
           paths::FailureCause::deadline),
       failing_);
}

void OperationTable::fail(std::uint64_t number, const paths::Failure& failure, Failing failing) {
  runtime::Lock lock(mutex_);
  fail(lock, number, failure, failing);
}

/// Records the failure, and fails the affected operations that have not begun. Operations under way
/// end normally, or fail when their messages fail. Requires: `lock` is held. The function unlocks
/// it while it notifies other hosts.
void OperationTable::fail(runtime::Lock& lock, std::uint64_t number, const paths::Failure& failure,
                          Failing failing) {
  const bool is_alone = failing == Failing::alone;
  if (!is_alone) {
    const auto behind = failures_.upper_bound(number);
    if (behind == failures_.begin()) failures_.emplace(number, failure);
  }
  std::vector<std::shared_ptr<Running>> ended;
  for (auto one = running_.lower_bound(number); one != running_.end();) {
    if (is_alone && one->first != number) break;
    if (one->second->has_begun) {
      ++one;
      continue;
    }
    one->second->failure = failure;
    one->second->calls.clear();
    ended.push_back(one->second);
    one = running_.erase(one);
  }
  lock.unlock();
  for (const auto& one : ended) one->completion.complete();
  if (lanes_ != nullptr)
    lanes_->fail({number, is_alone ? number : paths::Channels().last}, failure->reason(),
                 failure->cause());
  lock.lock();
}

void OperationTable::throw_to(std::uint32_t place, const paths::TravelError& failure) const {
  HostGroups::of(view_.deployment().host()).note(view_.layout().thread_at(place), failure);
  throw paths::TravelError(failure);
}

// ---- members ---------------------------------------------------------------------------------

bool OperationTable::join(std::uint32_t place) {
  const runtime::Lock lock(mutex_);
  if (left_.contains(place)) return false;
  if (!joined_.insert(place).second)
    throw base::UsageError(
        fmt::format("group {}: {} is in it already", view_.name(), view_.thread_text(place)));
  return true;
}

void OperationTable::leave(std::uint32_t place, std::uint64_t number, bool is_failing) {
  std::string why = is_failing ? "has failed" : "has left the group";
  paths::FailureCause cause = paths::FailureCause::released;
  if (is_failing) {
    const auto noted =
        HostGroups::of(view_.deployment().host()).noted(view_.layout().thread_at(place));
    cause = noted.reason.empty() ? paths::FailureCause::application : noted.cause;
    if (!noted.reason.empty()) why += "; it received the error: " + noted.reason;
  }
  runtime::Lock lock(mutex_);
  left_[place] = {number, why, cause};
  const bool is_missed = std::any_of(running_.begin(), running_.end(), [&](const auto& one) {
    return one.first >= number && !one.second->has_begun;
  });
  if (is_missed || is_failing)
    fail(lock, number, view_.failure_of(fmt::format("{} {}", view_.thread_text(place), why), cause),
         failing_);
  end_if_over(lock);
}

void OperationTable::look_for_ended() {
  const paths::EndedThreads& ended = view_.deployment().ended_threads();
  if (ended.empty()) return;
  const std::uint32_t first = view_.plan().hosts[view_.deployment().index()].first_thread;
  for (std::size_t member = 0; member < view_.member_count(); ++member)
    if (const std::uint32_t thread = view_.layout().thread_at(view_.place(member)) - first;
        ended.has(thread))
      see_ended(thread);
}

void OperationTable::see_ended(std::uint32_t thread) {
  const std::uint32_t number = view_.plan().hosts[view_.deployment().index()].first_thread + thread;
  runtime::Lock lock(mutex_);
  for (std::size_t member = 0; member < view_.member_count(); ++member) {
    const std::uint32_t place = view_.place(member);
    if (view_.layout().thread_at(place) != number) continue;
    if (joined_.contains(place) || left_.contains(place)) return;
    const std::string why = "has ended without joining it";
    left_[place] = {.why = why};
    fail(lock, 0,
         view_.failure_of(fmt::format("{} {}", view_.thread_text(place), why),
                          paths::FailureCause::released),
         failing_);
    return end_if_over(lock);
  }
}

void OperationTable::wait_until_over() {
  if (over_.wait(view_.deadline(), {"members to leave", view_.name(), 0})) return;
  const runtime::Lock lock(mutex_);
  std::vector<std::string> who;
  for (std::size_t member = 0; member < view_.member_count(); ++member)
    if (!left_.contains(view_.place(member))) who.push_back(view_.thread_text(view_.place(member)));
  throw paths::TravelError(
      view_.deployment().name(), "group " + view_.name(), "",
      fmt::format(
          "one of this name was made before, and {} not left it before the deadline of {}",
          who.empty() ? "what was started has" : fmt::format("{} has", fmt::join(who, ", ")),
          base::format_time(view_.plan().deadline)),
      paths::FailureCause::deadline);
}

/// Returns the number and digest of the operations in which this host took part. Other hosts
/// compare this number and digest with their own. After a failure, returns only the reason of the
/// failure, because the failed operation may have succeeded on another host.
paths::Participation OperationTable::participation() const {
  if (failing_ == Failing::alone) return {};
  if (!failures_.empty()) return {.text = failures_.begin()->second->reason()};
  std::string text = fmt::format("after {} operation{}", begun_, begun_ == 1 ? "" : "s");
  if (last_ != nullptr) text += fmt::format(", the last '{}'", last_->signature);
  return {begun_, combined_digest(signature_digest_, begun_), std::move(text)};
}

/// Ends the group if all members have left: notifies other hosts and the owner. Requires: `lock` is
/// held. The function unlocks it while it notifies.
void OperationTable::end_if_over(runtime::Lock& lock) {
  if (left_.size() < view_.member_count() || !running_.empty() || is_over_) return;
  is_over_ = true;
  const paths::Participation part = participation();
  lock.unlock();
  if (lanes_ != nullptr) lanes_->leave_after(part);
  owner_.end();
  over_.complete();
  lock.lock();
}

}  // namespace groups
