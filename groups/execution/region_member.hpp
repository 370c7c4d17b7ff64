// SPDX-License-Identifier: Apache-2.0
// groups/execution/region_member.hpp — turns, waits and failures of a host in a shared region
#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "groups/execution/patience.hpp"
#include "groups/execution/region_execution.hpp"
#include "paths/machine/member.hpp"
#include "paths/messages/group.hpp"
#include "runtime/completion.hpp"
#include "runtime/wait.hpp"

namespace groups {

/// A host's use of one shared region (paths::Member). Operations use the region one after the
/// other, in the order of their turns. A member sleeps during a long wait, and other members wake
/// it by messages. Messages also notify it if the operation has failed or a host is lost.
///
/// Thread-safe: in_turn() and end_turn() of different operations may overlap.
/// Failure:     After a turn that has failed, all later turns fail. The other hosts learn of the
///              failure through the messages of the group, and fail, too.
class RegionMember final : public paths::Alarm {
 public:
  /// Objects that a RegionMember uses. All must outlive it.
  struct Parts {
    const runtime::Runtime& runtime;
    paths::MessageGroup& lanes;
    const std::vector<std::uint32_t>& hosts;  ///< host number in the run of each member
    std::uint32_t me = 0;                     ///< index of this host in `hosts`
    std::uint64_t alarm_channel = 0;          ///< channel that only this region uses
  };
  explicit RegionMember(const Parts& parts) : parts_(parts) {}

  /// Runs `work` when all earlier turns have ended, and then ends the turn. Turns are numbered 1,
  /// 2, ... An operation has the same turn on all hosts.
  /// Blocks: until earlier turns and `work` have ended.
  /// Throws: TravelError if an earlier turn has failed, and what `work` throws.
  template <class Work>
  void in_turn(const RegionOperation& operation, const Work& work) {
    begin_turn(operation);
    work();
    forget_failures();
    end_turn(operation.turn, false);
  }
  /// Ends a turn as failed, unless it has ended already. Must be called for each turn, even for a
  /// turn that in_turn() never began.
  void end_turn(std::uint64_t turn);
  /// Sets the region. Requires: this is the first call, and it is inside a turn.
  void use(paths::SharedRegion region);
  /// Carries out an operation in the region. Must be called inside the operation's turn.
  /// `participants` contains, for each host of the region, its number as a participant of the
  /// group. Returns what RegionExecution::run() returns.
  ///
  /// Throws: TravelError, OwnBadValue, WrongContribution, base::BadValue.
  bool run(const RegionOperation& operation, const std::vector<std::uint32_t>& participants);

  // Functions of paths::Alarm:
  void sleep(const std::function<std::vector<std::uint32_t>()>& late, bool is_again) override;
  void check() override;
  void wake(std::uint32_t member) override;

 private:
  void await_turn(const RegionOperation& operation);
  void begin_turn(const RegionOperation& operation);
  void end_turn(std::uint64_t turn, bool has_failed);
  void listen(std::uint32_t member);
  void expect_failures();
  void forget_failures();
  std::optional<std::size_t> wait_for_entry();
  void throw_if_lost(const std::vector<std::uint32_t>& late) const;

  const Parts parts_;
  runtime::Mutex mutex_;  // guards the data members from here to member_
  runtime::WaitList turn_ended_;
  std::set<std::uint64_t> ended_;  // turns after now_ that have ended already
  std::uint64_t now_ = 1;          // first turn that has not ended
  static constexpr std::uint64_t no_turn = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t first_failed_ = no_turn;  // first turn whose operation failed
  // Null until use(). Guarded by mutex_, except that the operation whose turn it is may read the
  // pointer without the mutex.
  std::unique_ptr<paths::Member> member_;
  // The members below are used only by the operation whose turn it is.
  const RegionOperation* operation_ = nullptr;
  /// Receives under way, indexed by member of the region. A receive in `alarms_` waits for the
  /// member's next wake-up. A receive in `failures_` fails if the operation fails or the member is
  /// lost.
  std::vector<runtime::Handle<paths::Received>> alarms_, failures_;
  struct Entry {
    std::uint32_t member = 0;
    bool is_alarm = false;
  };
  std::unique_ptr<runtime::WaitSet> waits_;
  // Maps each number in waits_ to the receive that it stands for.
  std::map<std::size_t, Entry> entries_;
  bool are_alarms_lost_ = false;
  base::Nanos asks_at_{0};  // time of the next inquiry to other hosts; used if wake-ups are lost
  base::Nanos slept_since_{0};  // time at which the present wait began to sleep
  // Failure of each host that was lost during the operation, keyed by member of the region.
  std::map<std::uint32_t, std::exception_ptr> lost_;
};

}  // namespace groups
