// SPDX-License-Identifier: Apache-2.0
// groups/region_member.hpp — turns, waits and failures of a host in one shared region of a group
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

#include "groups/patience.hpp"
#include "groups/region_execution.hpp"
#include "paths/machine/member.hpp"
#include "paths/messages/group.hpp"
#include "runtime/completion.hpp"
#include "runtime/wait.hpp"

namespace groups {

/// A host's use of one shared region (paths::Member). Operations use the region one after the
/// other, in the order of their turns. A member that waits long sleeps, and others wake it by
/// messages. By messages it also notices that the operation has failed or that a host is lost.
///
/// Thread-safe: in_turn() and end_turn() of different operations may overlap.
/// Failure:     After a turn that has failed, all later turns fail. The messages of the group fail
///              the group on the other hosts.
class RegionMember final : public paths::Alarm {
 public:
  /// Objects that a RegionMember uses. All must outlive it.
  struct Parts {
    const runtime::Runtime& runtime;
    paths::MessageGroup& lanes;
    const std::vector<std::uint32_t>& hosts;  ///< number in the run of each member's host
    std::uint32_t me = 0;                     ///< index in `hosts`
    std::uint64_t alarm_channel = 0;          ///< channel that only this region uses
  };
  explicit RegionMember(const Parts& parts) : parts_(parts) {}

  /// Runs `work` when all earlier turns have ended, and ends the turn. The turn of an operation is
  /// 1, 2, ... on all hosts alike.
  /// Blocks: until earlier turns have ended, and as long as `work`.
  /// Throws: TravelError if an earlier turn has failed, and what `work` throws.
  template <class Work>
  void in_turn(const RegionOperation& operation, const Work& work) {
    begin_turn(operation);
    work();
    forget_failures();
    end_turn(operation.turn, false);
  }
  /// Ends a turn as failed, unless it has ended. Must be called for each turn, even
  /// for one that in_turn() never began.
  void end_turn(std::uint64_t turn);
  /// Sets the region. May be called once, inside a turn.
  void use(paths::SharedRegion region);
  /// Carries out an operation in the region, inside its turn. `participants` are the members'
  /// numbers in the group.
  ///
  /// Throws: TravelError, OwnBadValue, base::BadValue.
  void run(const RegionOperation& operation, const std::vector<std::uint32_t>& participants);

  // Alarm:
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
  runtime::Mutex mutex_;  // guards the data members up to member_
  runtime::WaitList turn_ended_;
  std::set<std::uint64_t> ended_;  // turns that have ended before earlier ones
  std::uint64_t now_ = 1;          // first turn that has not ended
  static constexpr std::uint64_t no_turn = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t first_failed_ = no_turn;  // first turn whose operation failed
  // Null until use(). Guarded by mutex_, except that the operation whose turn it is reads it.
  std::unique_ptr<paths::Member> member_;
  // The members below are used only by the operation whose turn it is.
  const RegionOperation* operation_ = nullptr;
  /// For each member of the region: the receive of its next wake-up, and the receive of its message
  /// that the operation has failed.
  std::vector<runtime::Handle<paths::Received>> alarms_, failures_;
  struct Entry {
    std::uint32_t member = 0;
    bool is_alarm = false;
  };
  std::unique_ptr<runtime::WaitSet> waits_;
  // Maps each number in waits_ to the receive that it stands for.
  std::map<std::size_t, Entry> entries_;
  bool are_alarms_lost_ = false;
  base::Nanos asks_at_{0};      // next time to ask the other hosts, if wake-ups are lost
  base::Nanos slept_since_{0};  // begin of the first sleep of the wait
  // The failures of hosts that were lost during the operation, by member.
  std::map<std::uint32_t, std::exception_ptr> lost_;
};

}  // namespace groups
