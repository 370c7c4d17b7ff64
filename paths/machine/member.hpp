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

/// Error that a member gets if its call differs from the call of the member `member()`.
class CallsDiffer : public std::runtime_error {
 public:
  /// `text` is the text of the call of `member`, which `member` wrote into the region.
  CallsDiffer(std::uint32_t member, const std::string& text)
      : std::runtime_error(text), member_(member) {}
  std::uint32_t member() const { return member_; }

 private:
  std::uint32_t member_;
};

/// One member's part in the operations of a region (memory that the processes of a machine share).
/// All members call the same operations in the same order. A value has at most
/// SharedRegion::chunk_bytes bytes, and in a broadcast or post at most SharedRegion::slot_bytes.
/// For a larger value, callers call one operation for each chunk. If the calls of two members have
/// equal digests, the values of both must have equal sizes.
///
/// Owns:        the region. Borrows the alarm.
/// Thread-safe: no; one OS thread or fiber at a time.
/// Blocks:      all operations, until the other members have done their part.
/// Throws:      CallsDiffer, and the exceptions of the alarm and of `combine`. After an exception,
///              the object must not be used, and the other members wait until their alarms throw.
class Member {
 public:
  /// Description of an operation. Members compare the digests.
  struct Call {
    std::uint64_t digest = 0;  ///< digest of this call and all calls before it
    std::string_view text;     ///< text of the call, for errors on other hosts
    /// Number of the operation, counted from 1, the same at all members. 0 = the member takes part
    /// in the operation even if an earlier operation has failed.
    std::uint64_t turn = 0;
  };
  /// Function that combines two or more values from the left, and stores the result in `into`. The
  /// memory `into` overlaps none of the values.
  using Combine = std::function<void(std::span<std::byte> into,
                                     std::span<const std::span<const std::byte>> values)>;

  Member(SharedRegion region, std::uint32_t me, Alarm& alarm);

  /// Combines the values of all members from the left, ((v0 op v1) op v2) and so on. The last
  /// member to arrive combines. Copies the result to `out`, unless `out` is empty.
  void reduce(const Call& call, std::span<const std::byte> in, std::span<std::byte> out,
              const Combine& combine);
  /// Returns the memory for the value that this member gives in the next call of exchange(). The
  /// caller writes the value into this memory before that call. The caller need write only the
  /// parts that other members read.
  std::span<std::byte> next_value(std::size_t bytes) const;
  /// Gives the value in next_value() to all members, and waits until all members have given their
  /// values.
  void exchange(const Call& call);
  /// Returns the value that `member` gave in the latest exchange(). The value is valid until the
  /// next operation begins. `bytes` is the size of the value.
  std::span<const std::byte> given(std::uint32_t member, std::size_t bytes) const;
  /// Returns memory that all members share, for a result to which each member contributes a part.
  /// After a round, each member writes its part to result(0). After the next round, all members can
  /// read all parts in result(1).
  std::span<std::byte> result(std::uint32_t rounds_ago, std::size_t bytes) const;
  /// Copies the value of `root` to all other members. The root waits for the other members only if
  /// it is SharedRegion::slots broadcasts ahead of some member. The root then waits until all
  /// members have copied half of these broadcasts.
  void broadcast(const Call& call, std::span<std::byte> value, std::uint32_t root);

  /// Posts a value: leaves the value in the region for `root`, which is one of the members. All
  /// members call this function, the root too. Blocks only if the value that this member posted
  /// SharedRegion::posts calls earlier has not been read yet.
  void post(const Call& call, std::span<const std::byte> in, std::uint32_t root);
  /// Returns whether `member` has posted its value. Only the root of the post may call this
  /// function, after its own call of post().
  bool has_posted(std::uint32_t member) const;
  /// Blocks until `member` has posted its value, and returns the value, which is valid until
  /// collect(). Only the root of the post may call this function.
  std::span<const std::byte> posted(const Call& call, std::uint32_t member, std::size_t bytes);
  /// Frees the values that all members have given in the latest post(). The root calls this
  /// function after it has read these values.
  void collect();

  /// Notes in the region that the operation with the number `turn` has failed at this member. If a
  /// member then begins this operation or a later operation, it takes no part in the operation, and
  /// waits until its alarm throws.
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
  std::uint32_t rounds_ = 0;      // number of rounds in which this member has arrived
  std::uint32_t broadcasts_ = 0;  // number of broadcasts that this member has begun
  // Index of the first broadcast whose slot may still contain an earlier value that some member has
  // not copied.
  std::uint32_t room_ = SharedRegion::slots;
  std::uint64_t posts_ = 0;  // number of values that this member has posted
  // Member (root) that reads each of this member's latest posts, indexed by the number of earlier
  // posts, modulo `posts`.
  std::array<std::uint32_t, SharedRegion::posts> roots_{};
  std::string told_;  // last text that this member wrote into the region
};

}  // namespace paths
