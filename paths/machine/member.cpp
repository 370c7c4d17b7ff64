// SPDX-License-Identifier: Apache-2.0
// paths/machine/member.cpp — arrival, waiting, and copies from and to a region
#include "paths/machine/member.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/errors.hpp"
#include "runtime/processes/between_processes.hpp"

namespace paths {
namespace {

constexpr runtime::Reason reason{"members of a machine"};

void copy(std::byte* to, std::span<const std::byte> from) {
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

/// A root waits for a multiple of this number of copied broadcasts, so that readers need not wake
/// it for each of them.
constexpr std::uint32_t taken_step = SharedRegion::slots / 4;

/// Whether a counter has reached a number. Counters wrap around.
bool has_reached(std::uint32_t counter, std::uint32_t number) {
  return static_cast<std::int32_t>(counter - number) >= 0;
}

std::byte* place_of(std::array<std::byte, SharedRegion::near_bytes>& near, std::byte* far,
                    std::size_t bytes) {
  return bytes <= SharedRegion::near_bytes ? near.data() : far;
}

}  // namespace

Member::Member(SharedRegion region, std::uint32_t me, Alarm& alarm)
    : region_(std::move(region)), me_(me), alarm_(alarm) {
  ENSURE(me < region_.members());
}

// ---- rounds ------------------------------------------------------------------------------------

void Member::reduce(const Call& call, std::span<const std::byte> in, std::span<std::byte> out,
                    const Combine& combine) {
  copy(next_value(in.size()).data(), in);
  const bool is_last = arrive(call);
  const std::span<std::byte> its = result(0, in.size());
  if (is_last) {
    check_digests(call);
    std::array<std::span<const std::byte>, SharedRegion::members_max> values;
    for (std::uint32_t member = 0; member < members(); ++member)
      values[member] = given(member, in.size());
    combine(its, std::span(values).first(members()));
    copy(out.data(), its.first(out.size()));
    open_gate();
  } else {
    wait_for_gate();
    copy(out.data(), its.first(out.size()));
  }
}

void Member::exchange(const Call& call) {
  if (arrive(call)) {
    check_digests(call);
    open_gate();
  } else {
    wait_for_gate();
  }
}

std::span<std::byte> Member::next_value(std::size_t bytes) const {
  return value(me_, rounds_, bytes);
}

std::span<const std::byte> Member::given(std::uint32_t member, std::size_t bytes) const {
  // This context is between rounds or has arrived in a round. In both cases rounds_ - 1 is the
  // number of the round in which this member arrived most recently.
  return value(member, rounds_ - 1, bytes);
}

/// Returns the memory for a member's value in a round.
std::span<std::byte> Member::value(std::uint32_t member, std::uint32_t round,
                                   std::size_t bytes) const {
  ENSURE(bytes <= SharedRegion::chunk_bytes);
  return {
      place_of(region_.seat(member).given[round % 2].near, region_.far_given(member, round), bytes),
      bytes};
}

std::span<std::byte> Member::result(std::uint32_t rounds_ago, std::size_t bytes) const {
  ENSURE(bytes <= SharedRegion::chunk_bytes && rounds_ago < 2);
  return {place_of(region_.gate().near, region_.far_result(rounds_ - 1 - rounds_ago), bytes),
          bytes};
}

/// Notes that this member has given its value. Returns whether all members have arrived.
bool Member::arrive(const Call& call) {
  await_failure();
  tell_text(call);
  const std::uint32_t round = rounds_++;
  SharedRegion::Announced& given = region_.seat(me_).given[round % 2];
  given.digest.store(call.digest, std::memory_order_relaxed);
  given.number.store(round + 1, std::memory_order_relaxed);
  return region_.gate().arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == members();
}

/// Ends the round, so that all members continue. Until then no member can arrive in the next round.
void Member::open_gate() {
  region_.gate().arrived.store(0, std::memory_order_relaxed);
  region_.gate().last.store(me_, std::memory_order_relaxed);
  region_.gate().round.store(rounds_, std::memory_order_seq_cst);
  wake_sleepers();
}

void Member::wait_for_gate() {
  const std::atomic<std::uint32_t>& round = region_.gate().round;
  wait(
      round, [&] { return round.load(std::memory_order_seq_cst) == rounds_; },
      [this](std::uint32_t member) {
        const auto& given = region_.seat(member).given[(rounds_ - 1) % 2];
        return given.number.load(std::memory_order_relaxed) != rounds_;
      });
}

void Member::check_digests(const Call& call) const {
  for (std::uint32_t member = 0; member < members(); ++member) {
    const auto& given = region_.seat(member).given[(rounds_ - 1) % 2];
    if (given.digest.load(std::memory_order_relaxed) != call.digest)
      throw CallsDiffer(member, text_of(member));
  }
}

// ---- broadcasts --------------------------------------------------------------------------------

void Member::broadcast(const Call& call, std::span<std::byte> value, std::uint32_t root) {
  ENSURE(value.size() <= SharedRegion::slot_bytes);
  await_failure();
  const std::uint32_t broadcast = broadcasts_++;
  SharedRegion::Announced& slot = region_.slot(broadcast);
  std::byte* const place = place_of(slot.near, region_.far_slot(broadcast), value.size());
  std::atomic<std::uint32_t>& taken = region_.seat(me_).taken;
  if (me_ == root) {
    tell_text(call);
    await_room(broadcast);
    copy(place, value);
    slot.digest.store(call.digest, std::memory_order_relaxed);
    taken.store(broadcasts_, std::memory_order_relaxed);
    slot.number.store(broadcasts_, std::memory_order_seq_cst);
  } else {
    wait(
        slot.number, [&] { return slot.number.load(std::memory_order_seq_cst) == broadcasts_; },
        [root](std::uint32_t member) { return member == root; });
    if (slot.digest.load(std::memory_order_relaxed) != call.digest)
      throw CallsDiffer(root, text_of(root));
    copy(value.data(), {place, value.size()});
    taken.store(broadcasts_, std::memory_order_seq_cst);
    if (has_reached(broadcast, room_)) room_ = broadcast;
    if (broadcasts_ % taken_step != 0) return;
  }
  wake_sleepers();
}

/// If no slot is known to be free, waits until all members have copied at least the older half of
/// the slots. A wait for one slot would be repeated in each of the next broadcasts.
void Member::await_room(std::uint32_t broadcast) {
  if (!has_reached(broadcast, room_)) return;
  const std::uint32_t needed =
      (broadcast - SharedRegion::slots / 2 + taken_step - 1) / taken_step * taken_step;
  std::uint32_t least = broadcasts_;
  for (std::uint32_t member = 0; member < members(); ++member) {
    if (member == me_) continue;
    const std::atomic<std::uint32_t>& taken = region_.seat(member).taken;
    wait(
        taken, [&] { return has_reached(taken.load(std::memory_order_seq_cst), needed); },
        [&](std::uint32_t other) {
          return !has_reached(region_.seat(other).taken.load(std::memory_order_relaxed), needed);
        });
    const std::uint32_t now = taken.load(std::memory_order_acquire);
    if (!has_reached(now, least)) least = now;
  }
  room_ = least + SharedRegion::slots;
}

/// If an operation has failed, waits until the alarm throws.
void Member::await_failure() {
  const std::atomic<std::uint32_t>& failed = region_.failed();
  while (failed.load(std::memory_order_acquire) != 0)
    alarm_.sleep([] { return std::vector<std::uint32_t>(); });
}

// ---- waiting -----------------------------------------------------------------------------------

/// Blocks until `done()`, which depends on `word`. `late(member)` returns whether this wait is for
/// that member.
template <class Done, class Late>
void Member::wait(const std::atomic<std::uint32_t>& word, const Done& done, const Late& late) {
  const std::uint64_t mine = std::uint64_t{1} << me_;
  for (;;) {
    const std::uint32_t seen = word.load(std::memory_order_acquire);
    if (done()) return;
    if (runtime::look_at(word, seen, runtime::Deadline::never(), reason)) continue;
    // The other member changes the word and then reads the bit. Therefore either the other member
    // sees the bit and wakes this member, or this member sees the changed word.
    region_.sleepers().fetch_or(mine, std::memory_order_seq_cst);
    if (!done()) {
      try {
        alarm_.sleep([&] {
          std::vector<std::uint32_t> members_late;
          for (std::uint32_t member = 0; member < members(); ++member)
            if (member != me_ && late(member)) members_late.push_back(member);
          return members_late;
        });
      } catch (...) {  // an operation that has succeeded does not fail any more
        if (!done()) throw;
      }
    }
    region_.sleepers().fetch_and(~mine, std::memory_order_relaxed);
  }
}

void Member::wake_sleepers() {
  if (region_.sleepers().load(std::memory_order_seq_cst) == 0) return;
  const std::uint64_t sleep = region_.sleepers().exchange(0, std::memory_order_seq_cst);
  for (std::uint32_t member = 0; member < members(); ++member)
    if (member != me_ && (sleep >> member & 1) != 0) alarm_.wake(member);
}

// ---- texts -------------------------------------------------------------------------------------

/// Writes the text of a call into the region, unless the last call had the same text. A reader may
/// find a mixture of two texts only if it reads after the operation has ended.
void Member::tell_text(const Call& call) {
  if (told_ == call.text) return;
  told_ = call.text;
  auto& text = region_.seat(me_).text;
  const std::size_t letters = std::min(told_.size(), text.size() - 1);
  for (std::size_t at = 0; at < letters; ++at) text[at].store(told_[at], std::memory_order_relaxed);
  text[letters].store('\0', std::memory_order_relaxed);
}

std::string Member::text_of(std::uint32_t member) const {
  std::string text;
  for (const std::atomic<char>& one : region_.seat(member).text) {
    const char letter = one.load(std::memory_order_relaxed);
    if (letter == '\0') break;
    text += letter;
  }
  return text;
}

}  // namespace paths
