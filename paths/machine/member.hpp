// SPDX-License-Identifier: Apache-2.0
// paths/machine/member.hpp — one member's part in the operations of a region
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "paths/machine/shared_region.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// A member sleeps if polling did not end its wait. An Alarm wakes it, and wakes others.
///
/// Thread-safe: wake(). One context at a time may call sleep().
class Alarm {
 public:
  virtual ~Alarm() = default;
  /// Blocks until another member has called wake() for this member since the last return, or
  /// earlier. `late` returns the members for which this one waits.
  /// Throws: if the operation has failed; then the region is not used again.
  virtual void sleep(const std::function<std::vector<std::uint32_t>()>& late) = 0;
  virtual void wake(std::uint32_t member) = 0;
};

/// Thrown if two members call different operations.
class CallsDiffer : public std::runtime_error {
 public:
  /// `text` is what the other member calls, in its own words.
  CallsDiffer(std::uint32_t member, const std::string& text)
      : std::runtime_error(text), member_(member) {}
  std::uint32_t member() const { return member_; }

 private:
  std::uint32_t member_;
};

/// One member's part in the operations of a region. All members call the same operations in the
/// same order. Values have at most SharedRegion::value_bytes_max bytes, and equal sizes at all
/// members where the digests are equal.
///
/// Members poll, then yield, and sleep only after that (runtime/wait.hpp), because a sleep takes
/// longer than an operation.
///
/// Owns:        the region. Borrows the alarm.
/// Thread-safe: no; one context at a time.
/// Blocks:      all operations, until the other members have done their part.
/// Throws:      CallsDiffer, and the exceptions of the alarm and of `combine`. The object must not
/// be
///              used afterwards, and other members wait until their alarms throw.
class Member {
 public:
  /// An operation, as far as members compare it.
  struct Call {
    std::uint64_t digest = 0;  ///< digest of this call and all calls before it
    std::string_view text;     ///< the call in words, for errors on other hosts
  };
  /// Stores left op right in `into`, which may be one of them.
  using Combine = std::function<void(std::span<std::byte> into, std::span<const std::byte> left,
                                     std::span<const std::byte> right)>;

  Member(SharedRegion region, std::uint32_t me, Alarm& alarm);

  /// Combines the values of all members from the left, ((v0 op v1) op v2) and so on. The last
  /// member to arrive combines. Copies the result to `out`, unless `out` is empty.
  void reduce(const Call& call, std::span<const std::byte> in, std::span<std::byte> out,
              const Combine& combine);
  /// Gives the value `in` to all members, and waits until all have given theirs. given() returns
  /// them until the next operation; `bytes` is the size of that member's value.
  void exchange(const Call& call, std::span<const std::byte> in);
  std::span<const std::byte> given(std::uint32_t member, std::size_t bytes) const;
  /// Copies the value of `root` to all others. The root does not wait for them, unless it is
  /// SharedRegion::slots broadcasts ahead.
  void broadcast(const Call& call, std::span<std::byte> value, std::uint32_t root);

  /// Notes that an operation has failed at this member. A member that arrives later does not take
  /// part in it. It waits until its alarm throws.
  void fail() { region_.failed().store(1, std::memory_order_seq_cst); }

  std::uint32_t members() const { return region_.members(); }
  /// Returns the member that arrived last in the last round.
  std::uint32_t last_to_arrive() const {
    return region_.gate().last.load(std::memory_order_relaxed) % members();
  }

 private:
  void await_failure();
  void tell_text(const Call& call);
  std::string text_of(std::uint32_t member) const;
  bool arrive(const Call& call, std::span<const std::byte> in);
  void open_gate();
  void wait_for_gate();
  void check_digests(const Call& call) const;
  void await_room(std::uint32_t broadcast);
  template <class Done, class Late>
  void wait(const std::atomic<std::uint32_t>& word, const Done& done, const Late& late);
  void wake_sleepers();

  SharedRegion region_;
  const std::uint32_t me_;
  Alarm& alarm_;
  std::uint32_t rounds_ = 0;                  // rounds that this member has passed
  std::uint32_t broadcasts_ = 0;              // broadcasts that this member has taken or given
  std::uint32_t room_ = SharedRegion::slots;  // first broadcast for which there may be no slot
  std::string told_;                          // text of the last call
};

}  // namespace paths
