// SPDX-License-Identifier: Apache-2.0
// paths/machine/member.hpp — one member's part in the operations of a region
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "paths/machine/member_waits.hpp"
#include "paths/machine/shared_region.hpp"

namespace paths {

/// Thrown if two members call different operations.
class CallsDiffer : public std::runtime_error {
 public:
  /// `text` describes the call of the other member, as that member wrote it into the region.
  CallsDiffer(std::uint32_t member, const std::string& text)
      : std::runtime_error(text), member_(member) {}
  std::uint32_t member() const { return member_; }

 private:
  std::uint32_t member_;
};

/// One member's part in the operations of a region. All members call the same operations in the
/// same order. A value has at most SharedRegion::chunk_bytes bytes, and in a broadcast or post at
/// most SharedRegion::slot_bytes. If members call with equal digests, their values must have equal
/// sizes. For a larger value, callers call operations for one chunk after the other.
///
/// Owns:        the region. Borrows the alarm.
/// Thread-safe: no; one context at a time.
/// Blocks:      all operations, until the other members have done their part.
/// Throws:      CallsDiffer, and the exceptions of the alarm and of `combine`. After that, the
///              object must not be used, and the other members wait until their alarms throw.
class Member {
 public:
  /// Description of an operation. Members compare the digests.
  struct Call {
    std::uint64_t digest = 0;  ///< digest of this call and all calls before it
    std::string_view text;     ///< text of the call, for errors on other hosts
    /// Number of the operation: 1, 2, ... All members number alike. 0 = it takes part in any case.
    std::uint64_t turn = 0;
  };
  /// Combines two or more values from the left, and stores the result in `into`, which is apart
  /// from all values.
  using Combine = std::function<void(std::span<std::byte> into,
                                     std::span<const std::span<const std::byte>> values)>;

  Member(SharedRegion region, std::uint32_t me, Alarm& alarm);

  /// Combines the values of all members from the left, ((v0 op v1) op v2) and so on. The last
  /// member to arrive combines. Copies the result to `out`, unless `out` is empty.
  void reduce(const Call& call, std::span<const std::byte> in, std::span<std::byte> out,
              const Combine& combine);
  /// Returns the memory for the value that this member gives in the next round. The caller writes
  /// that value, or a part that other members read, before it calls exchange().
  std::span<std::byte> next_value(std::size_t bytes) const;
  /// Gives that value to all members, and waits until all members have given theirs. After that,
  /// given() returns the value of a member, until the next operation begins. `bytes` is the size of
  /// that value.
  void exchange(const Call& call);
  std::span<const std::byte> given(std::uint32_t member, std::size_t bytes) const;
  /// Returns memory that all members share. After a round, each member may write to a part of
  /// result(0). After the next round, all members can read what was written, as result(1).
  std::span<std::byte> result(std::uint32_t rounds_ago, std::size_t bytes) const;
  /// Copies the value of `root` to all other members. The root may be SharedRegion::slots
  /// broadcasts ahead of them. It then waits until they have copied half of these.
  void broadcast(const Call& call, std::span<std::byte> value, std::uint32_t root);

  /// Posts a value: leaves it in the region for `root`, which is one of the members. All members
  /// call this function, the root too. Blocks only if the root of an earlier call has not read its
  /// value yet: the call that was SharedRegion::posts calls before this one.
  void post(const Call& call, std::span<const std::byte> in, std::uint32_t root);
  /// Returns whether a member has posted its value. Only the root may call it, after its own call
  /// of post().
  bool has_posted(std::uint32_t member) const;
  /// Returns the value that a member has posted, at the root. Waits for it. The value is valid
  /// until collect().
  std::span<const std::byte> posted(const Call& call, std::uint32_t member, std::size_t bytes);
  /// Frees the posted values of all members. The root calls it after it has read them.
  void collect();

  /// Notes that the operation of this turn has failed at this member. Members that come to it or to
  /// a later one do not take part. They wait until their alarms throw.
  void fail(std::uint64_t turn);

  std::uint32_t members() const { return region_.members(); }
  /// Returns the member that arrived last in the most recent round.
  std::uint32_t last_to_arrive() const {
    return region_.gate().last.load(std::memory_order_relaxed) % members();
  }

 private:
  std::span<std::byte> value(std::uint32_t member, std::uint32_t round, std::size_t bytes) const;
  void tell_text(const Call& call);
  std::string text_of(std::uint32_t member) const;
  bool arrive(const Call& call);
  void open_gate();
  void wait_for_gate();
  void check_digests(const Call& call) const;
  void await_room(std::uint32_t broadcast);
  bool is_collected(std::uint64_t number) const;
  void await_collected(std::uint64_t number);

  SharedRegion region_;
  const std::uint32_t me_;
  MemberWaits waits_;
  std::uint32_t rounds_ = 0;                  // rounds in which this member has arrived
  std::uint32_t broadcasts_ = 0;              // broadcasts that this member has begun
  std::uint32_t room_ = SharedRegion::slots;  // first broadcast whose slot may still be in use
  std::uint64_t posts_ = 0;                   // values that this member has posted for a root
  // Roots for which this member has posted its latest values.
  std::array<std::uint32_t, SharedRegion::posts> roots_{};
  std::string told_;  // last text that this member wrote into the region
};

}  // namespace paths
