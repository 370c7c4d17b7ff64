// SPDX-License-Identifier: Apache-2.0
// groups/operation_table.hpp — operations of a group that are under way on one host.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "groups/group_view.hpp"
#include "groups/running.hpp"
#include "paths/messages/group.hpp"
#include "runtime/completion.hpp"
#include "runtime/wait.hpp"

namespace groups {

/// Which other operations fail when one operation fails.
enum class Failing {
  all_behind,  ///< all operations with higher numbers fail, too
  alone,       ///< no other operation fails
};

/// The operations of a group that are under way on one host, its members that have joined or left,
/// and the failures of operations. The members' calls of one operation are compared here when the
/// members arrive. If an operation fails, the other hosts get its failure through the message
/// group.
///
/// Thread-safe: yes.
class OperationTable {
 public:
  /// Functions of its owner that the table calls.
  struct Owner {
    /// Returns the turn of an operation in a region of shared memory; 0 = it uses messages. Called
    /// once for each operation whose members have all arrived, in the order of the operations,
    /// while the mutex of the table is held.
    std::function<std::uint64_t(const PreparedCall&)> turn_of;
    /// Called once, after all members have left and the other hosts have been notified.
    std::function<void()> end;
  };
  /// `view` and `trace` must outlive the table. `trace` is nullptr unless the run is traced.
  OperationTable(const GroupView& view, Failing failing, GroupTrace* trace, Owner owner);
  /// Sets the message group, through which other hosts learn of failures. The message group must
  /// outlive all later calls. A table without a message group belongs to a group on this host
  /// alone.
  void connect(paths::MessageGroup* lanes) { lanes_ = lanes; }

  struct Entered {
    std::shared_ptr<Running> running;
    bool is_last;  ///< whether all other members of this host had arrived before
  };
  /// Adds a member to the operation with that number.
  /// Throws: UsageError if the call differs from the calls of the other members, and TravelError if
  ///         the operation has failed.
  Entered enter(std::uint32_t place, std::uint64_t number, const std::shared_ptr<const Call>& call,
                const std::shared_ptr<const PreparedCall>& prepared, bool waits);
  /// Begins an operation of the host's only member without adding it to the table. Returns its
  /// digest and its turn (Owner::turn_of). Returns nullopt, and begins nothing, if an operation has
  /// failed. This operation must have ended before the member begins its next operation. If it
  /// fails, the caller must call end().
  struct AtOnce {
    std::uint64_t signature_digest = 0, turn = 0;
  };
  std::optional<AtOnce> begin_at_once(std::uint64_t number,
                                      const std::shared_ptr<const PreparedCall>& prepared);
  /// Throws: TravelError if the operation or an earlier operation has failed.
  void check(std::uint64_t number) const;
  /// Removes an operation that has ended, and completes it. `failure` is nullptr on success.
  void end(Running& running, const paths::Failure& failure, runtime::DeferredWakes& wakes);
  /// Fails an operation that has missed a deadline. `waiter` is the place of the member that set
  /// the deadline. If `waiter` is nullopt, the deadline is that of the config, and the operation
  /// fails only if some member has not arrived.
  void fail_late(Running& running, std::optional<std::uint32_t> waiter);
  /// Fails the operation with that number on all hosts. `failing` tells which other operations
  /// fail, too.
  void fail(std::uint64_t number, const paths::Failure& failure, Failing failing);
  /// Throws `failure`, and records that the thread of this member received it. If the thread then
  /// ends with an error, the other groups of the thread report `failure` as the cause.
  [[noreturn]] void throw_to(std::uint32_t place, const paths::TravelError& failure) const;
  /// Returns a text of the call of operation `number`; "" if the operation is neither under way nor
  /// the last that has begun.
  std::string call_text_of(std::uint64_t number) const;

  /// Adds a member. Returns false if the member joined before and has left since.
  /// Throws: UsageError if the thread is a member now.
  bool join(std::uint32_t place);
  /// Removes a member. The member takes part in no operation with the number `number` or higher.
  void leave(std::uint32_t place, std::uint64_t number, bool is_failing);
  /// Fails all operations if the thread of a member on this host has ended without joining the
  /// group.
  void look_for_ended();
  /// Handles the end of a thread: fails all operations if the thread is a member that has not
  /// joined the group. `thread` is an index on this host.
  void see_ended(std::uint32_t thread);
  /// Blocks until all members have left and no operation is under way. A new group may then use the
  /// same name.
  /// Throws: TravelError at the deadline.
  void wait_until_over();

 private:
  struct Left {
    std::uint64_t from = 0;  ///< first operation in which the member takes no part
    std::string why;
    paths::FailureCause cause = paths::FailureCause::released;
  };
  std::shared_ptr<Running> find_or_add(std::uint64_t number);
  paths::Failure known_failure(std::uint64_t number) const;
  void begin(Running& running);
  void note_begin(std::uint64_t number, const std::shared_ptr<const PreparedCall>& prepared);
  [[noreturn]] void refuse(runtime::Lock& lock, std::uint64_t number, const std::string& why);
  std::string difference_text(const Running& running, std::uint32_t place,
                              const PreparedCall& prepared) const;
  void fail(runtime::Lock& lock, std::uint64_t number, const paths::Failure& failure,
            Failing failing);
  paths::Participation participation() const;
  void end_if_over(runtime::Lock& lock);

  const GroupView& view_;
  const Failing failing_;
  GroupTrace* const trace_;
  const Owner owner_;
  paths::MessageGroup* lanes_ = nullptr;
  mutable runtime::Mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<Running>> running_;  // keyed by operation number
  std::set<std::uint32_t> joined_;                             // members that have joined
  std::map<std::uint32_t, Left> left_;  // members that have left, or that never joined
  const std::uint64_t members_digest_;
  std::uint64_t signature_digest_;  // digest of the members and of all operations begun, in order
  std::uint64_t begun_ = 0;         // number of operations begun
  // Call of the last operation begun; null if there was none.
  std::shared_ptr<const PreparedCall> last_;
  // Failures, keyed by the number of the first operation that fails.
  std::map<std::uint64_t, paths::Failure> failures_;
  bool is_over_ = false;      // all members have left, and nothing is under way
  runtime::Completion over_;  // completes when is_over_ is set and the name is free
};

}  // namespace groups
