// SPDX-License-Identifier: Apache-2.0
// groups/host_groups.hpp — the groups that have members on one host.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "groups/execution/tracing.hpp"
#include "paths/host/deployment.hpp"
#include "paths/host/host.hpp"
#include "paths/travel_error.hpp"
#include "runtime/wait.hpp"

namespace groups {

class HostGroup;

/// The parent of a group that was made by a split. `group` is the MessageGroup::id() of the parent.
/// `operation` is the number of the parent's operation that made the split. Both are 0 if there is
/// no parent, or if the parent is on one host.
struct Origin {
  std::uint64_t group = 0;
  std::uint64_t operation = 0;
};

/// The groups that have members on one host, which join() finds by their names.
///
/// Thread-safe: yes.
class HostGroups final : public paths::ThreadWatcher {
 public:
  /// The last failure that a thread received.
  struct Noted {
    std::string reason;
    paths::FailureCause cause = paths::FailureCause::other;
  };
  /// Returns the groups of a host. Creates the object at the first call; the host owns it.
  static HostGroups& of(paths::Host& host);
  TraceNumbers& trace_numbers() { return trace_numbers_; }
  /// Adds the thread of that rank to a group. `threads` is nullptr for all threads.
  /// Blocks: if the thread was a member of an earlier group of this name, until all members of that
  ///         group have left.
  std::shared_ptr<HostGroup> join(paths::Deployment& deployment, const std::string& name,
                                  const std::vector<std::uint32_t>* threads, std::uint32_t rank,
                                  const Origin& origin);
  /// Removes a group from this list after all its members have left.
  void forget(const HostGroup& group);
  /// Returns a token that expires with the host. Objects that can outlive the host check the token
  /// before they use the host.
  std::weak_ptr<const void> is_there() const { return is_there_; }
  /// Returns a number for a split that is higher than the numbers of all splits in which this
  /// thread took part, and at least `least`.
  std::int64_t next_split(std::uint32_t thread, std::int64_t least = 0);
  /// Records the latest failure that a thread received. If the thread then fails itself, this
  /// failure is reported as the cause.
  void note(std::uint32_t thread, const paths::TravelError& failure);
  /// Returns the failure recorded by note(); an empty reason if there is none.
  Noted noted(std::uint32_t thread) const;
  /// Handles the end of a thread. Fails the operations of each group that has the thread as a
  /// member, if the thread has never joined that group.
  void thread_ended(paths::Deployment& deployment, std::uint32_t thread) override;

 private:
  std::shared_ptr<HostGroup> find(paths::Deployment& deployment, const std::string& name,
                                  const std::vector<std::uint32_t>* threads, const Origin& origin);
  const std::shared_ptr<const void> is_there_ = std::make_shared<bool>(true);
  mutable runtime::Mutex mutex_;
  TraceNumbers trace_numbers_;  // outlives the groups, whose traces refer to it
  std::map<std::string, std::shared_ptr<HostGroup>> groups_;
  std::map<std::uint32_t, std::int64_t> next_splits_;  // keyed by thread
  std::map<std::uint32_t, Noted> noted_;               // keyed by thread
};

}  // namespace groups
