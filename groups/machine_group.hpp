// SPDX-License-Identifier: Apache-2.0
// groups/machine_group.hpp — operations of a group whose hosts are on one machine
#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "collectives/schedule/topology.hpp"
#include "groups/patience.hpp"
#include "groups/region_execution.hpp"
#include "paths/machine/member.hpp"
#include "paths/messages/group.hpp"
#include "paths/plan/plan.hpp"
#include "runtime/completion.hpp"
#include "runtime/wait.hpp"

namespace groups {

/// Operations of a group in shared memory (the region), for hosts on one machine. Large values pass
/// through the region in chunks. A MachineGroup is the part of one host. In the first operation,
/// the hosts agree by messages whether all of them have mapped the region. If a host could not map
/// it, the group uses messages for all operations. The results are the same.
///
/// Thread-safe: run() and end() of different operations may overlap. Operations take effect in the
///              order of their turns. The caller's mutex guards new_turn().
/// Failure:     After an exception of run(), all later operations fail. The messages of the group
///              fail the group on the other hosts.
class MachineGroup final : public paths::Alarm {
 public:
  /// Objects that a MachineGroup uses. All must outlive it.
  struct Parts {
    const runtime::Runtime& runtime;
    paths::MessageGroup& lanes;
    const std::vector<std::uint32_t>& hosts;  ///< number of each participant's host in the run
    std::uint32_t me;
  };
  explicit MachineGroup(const Parts& parts) : parts_(parts) {}

  /// Returns whether hosts can share a region, if they are processes and the plan allows shared
  /// memory. `topology` is that of these hosts. All hosts get the same result.
  static bool is_possible(const paths::Plan& plan, const std::vector<std::uint32_t>& hosts,
                          const collectives::Topology& topology);
  /// Returns the turn of the next operation: 1, 2, ... The turn is the operation's position in the
  /// order of all operations of the group.
  std::uint64_t new_turn() { return ++turns_; }

  /// Carries out the operation in the region. Returns false if the group has no region.
  /// Blocks: until earlier turns have ended, and then until the other hosts have arrived.
  /// Throws: TravelError, base::BadValue.
  bool run(const RegionOperation& operation);
  /// Ends a turn, so that later operations can run. Must be called once for each turn, also if the
  /// operation failed before run(). All later operations then fail, too.
  void end(std::uint64_t turn);

  // Alarm:
  void sleep(const std::function<std::vector<std::uint32_t>()>& late, bool is_again) override;
  void check() override;
  void wake(std::uint32_t member) override;

 private:
  enum class State : std::uint8_t { unknown, mapped, refused };
  void await_turn(const RegionOperation& operation);
  bool meet();
  std::optional<paths::SharedRegion> make_and_agree();
  std::optional<paths::SharedRegion> map_and_agree();
  void send(std::uint32_t member, std::uint64_t name, const std::string& text);
  std::string receive(std::uint32_t member, std::uint64_t name);
  void listen(std::uint32_t member);
  void expect_failures();
  void forget_failures();
  std::optional<std::size_t> wait_for_entry();
  void throw_if_lost(const std::vector<std::uint32_t>& late) const;

  const Parts parts_;
  std::uint64_t turns_ = 0;
  runtime::Mutex mutex_;  // guards the data members up to first_failed_
  runtime::WaitList turn_ended_;
  std::set<std::uint64_t> ended_;  // turns that have ended before earlier ones
  std::uint64_t now_ = 1;          // first turn that has not ended
  std::uint64_t succeeded_ = 0;    // last turn in which run() has returned
  // The first turn whose operation failed; the maximum if none has failed.
  std::uint64_t first_failed_ = std::numeric_limits<std::uint64_t>::max();
  // The members below are used only by the operation whose turn it is.
  const RegionOperation* operation_ = nullptr;
  State state_ = State::unknown;
  std::unique_ptr<paths::Member> member_;
  /// For each member of the group: the receive of its next wake-up, and the receive of its message
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
