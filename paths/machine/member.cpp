// SPDX-License-Identifier: Apache-2.0
// paths/machine/member.cpp — arrival, waiting, and copies from and to a region
#include "paths/machine/member.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/errors.hpp"

namespace paths {
namespace {

void copy(std::byte* to, std::span<const std::byte> from) {
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

/// A reader wakes the root only each time that it has copied this number of broadcasts, not after
/// each broadcast. A root that needs free slots therefore waits for a multiple of this number.
constexpr std::uint32_t taken_step = SharedRegion::slots / 4;

/// Returns whether a counter has reached a number. The result is correct even after the counter has
/// wrapped around.
bool has_reached(std::uint32_t counter, std::uint32_t number) {
  return static_cast<std::int32_t>(counter - number) >= 0;
}

std::byte* place_of(std::array<std::byte, SharedRegion::near_bytes>& near, std::byte* far,
                    std::size_t bytes) {
  return bytes <= SharedRegion::near_bytes ? near.data() : far;
}

}  // namespace

Member::Member(SharedRegion region, std::uint32_t me, Alarm& alarm)
    : region_(std::move(region)), me_(me), waits_(region_, me, alarm) {
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
  // rounds_ - 1 is the index of the round in which this member arrived most recently, whether that
  // round has ended or not.
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

/// Notes that this member has arrived and given its value. Returns whether all members have
/// arrived.
bool Member::arrive(const Call& call) {
  waits_.await_failure(call.turn);
  tell_text(call);
  const std::uint32_t round = rounds_++;
  SharedRegion::Announced& given = region_.seat(me_).given[round % 2];
  given.digest.store(call.digest, std::memory_order_relaxed);
  const bool is_last =
      region_.gate().arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == members();
  if (is_last) region_.gate().last.store(me_, std::memory_order_relaxed);
  // This store must be the last step. If this member dies before the store, the other members still
  // wait for this member, and therefore notice its loss.
  given.number.store(round + 1, std::memory_order_relaxed);
  return is_last;
}

/// Opens the gate: ends the round, so that all members continue. Before this call, no member can
/// arrive in the next round.
void Member::open_gate() {
  region_.gate().arrived.store(0, std::memory_order_relaxed);
  region_.gate().round.store(rounds_, std::memory_order_seq_cst);
  waits_.wake_sleepers();
}

void Member::wait_for_gate() {
  const std::atomic<std::uint32_t>& round = region_.gate().round;
  waits_.until(
      round, [&] { return round.load(std::memory_order_seq_cst) == rounds_; },
      [this](std::uint32_t member) {
        const auto& given = region_.seat(member).given[(rounds_ - 1) % 2];
        const bool opens_gate = region_.gate().arrived.load(std::memory_order_relaxed) == members();
        return given.number.load(std::memory_order_relaxed) != rounds_ ||
               (opens_gate && member == last_to_arrive());
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
  waits_.await_failure(call.turn);
  const std::uint32_t broadcast = broadcasts_++;
  SharedRegion::Announced& slot = region_.slot(broadcast);
  std::byte* const place = place_of(slot.near, region_.far_slot(broadcast), value.size());
  std::atomic<std::uint32_t>& taken = region_.seat(me_).taken;
  if (me_ == root) {
    tell_text(call);
    await_room(broadcast);
    copy(place, value);
    slot.digest.store(call.digest, std::memory_order_relaxed);
    taken.store(broadcasts_, std::memory_order_release);
    slot.number.store(broadcasts_, std::memory_order_seq_cst);
  } else {
    waits_.until(
        slot.number, [&] { return slot.number.load(std::memory_order_seq_cst) == broadcasts_; },
        [root](std::uint32_t member) { return member == root; });
    if (slot.digest.load(std::memory_order_relaxed) != call.digest)
      throw CallsDiffer(root, text_of(root));
    copy(value.data(), {place, value.size()});
    taken.store(broadcasts_, std::memory_order_seq_cst);
    if (has_reached(broadcast, room_)) room_ = broadcast;
    if (broadcasts_ % taken_step != 0) return;
  }
  waits_.wake_sleepers();
}

/// If no slot is known to be free, waits until all members have copied at least the older half of
/// the slots. If it waited for only one slot, each of the next broadcasts would have to wait again.
void Member::await_room(std::uint32_t broadcast) {
  if (!has_reached(broadcast, room_)) return;
  const std::uint32_t needed =
      (broadcast - SharedRegion::slots / 2 + taken_step - 1) / taken_step * taken_step;
  std::uint32_t least = broadcasts_;
  for (std::uint32_t member = 0; member < members(); ++member) {
    if (member == me_) continue;
    const std::atomic<std::uint32_t>& taken = region_.seat(member).taken;
    waits_.until(
        taken, [&] { return has_reached(taken.load(std::memory_order_seq_cst), needed); },
        [&](std::uint32_t other) {
          return !has_reached(region_.seat(other).taken.load(std::memory_order_relaxed), needed);
        });
    const std::uint32_t now = taken.load(std::memory_order_acquire);
    if (!has_reached(now, least)) least = now;
  }
  room_ = least + SharedRegion::slots;
}

// ---- posts -------------------------------------------------------------------------------------

void Member::post(const Call& call, std::span<const std::byte> in, std::uint32_t root) {
  ENSURE(in.size() <= SharedRegion::slot_bytes);
  waits_.await_failure(call.turn);
  tell_text(call);
  const std::uint64_t post = posts_++;
  SharedRegion::Announced& slot = region_.seat(me_).posted[post % SharedRegion::posts];
  if (posts_ > SharedRegion::posts && !is_collected(posts_ - SharedRegion::posts)) {
    // Waits until half of the places for posts are free. If it waited for only one place, each of
    // the next posts would have to wait again.
    await_collected(posts_ - SharedRegion::posts / 2);
    await_collected(posts_ - SharedRegion::posts);
  }
  roots_[post % SharedRegion::posts] = root;
  copy(place_of(slot.near, region_.far_post(me_, post), in.size()), in);
  slot.digest.store(call.digest, std::memory_order_relaxed);
  slot.number.store(static_cast<std::uint32_t>(posts_), std::memory_order_seq_cst);
  waits_.wake_sleepers();
}

/// Returns whether the root has read this member's post with the number `number`. Posts are counted
/// from 1.
bool Member::is_collected(std::uint64_t number) const {
  const std::atomic<std::uint32_t>& read =
      region_.seat(me_).collected[(number - 1) % SharedRegion::posts];
  return read.load(std::memory_order_seq_cst) == static_cast<std::uint32_t>(number);
}

void Member::await_collected(std::uint64_t number) {
  const std::size_t place = (number - 1) % SharedRegion::posts;
  waits_.until(
      region_.seat(me_).collected[place], [&] { return is_collected(number); },
      [&](std::uint32_t member) { return member == roots_[place]; });
}

bool Member::has_posted(std::uint32_t member) const {
  const auto& slot = region_.seat(member).posted[(posts_ - 1) % SharedRegion::posts];
  return slot.number.load(std::memory_order_seq_cst) == static_cast<std::uint32_t>(posts_);
}

std::span<const std::byte> Member::posted(const Call& call, std::uint32_t member,
                                          std::size_t bytes) {
  ENSURE(bytes <= SharedRegion::slot_bytes);
  SharedRegion::Announced& slot = region_.seat(member).posted[(posts_ - 1) % SharedRegion::posts];
  waits_.until(
      slot.number, [&] { return has_posted(member); },
      [this](std::uint32_t other) { return !has_posted(other); });
  if (slot.digest.load(std::memory_order_relaxed) != call.digest)
    throw CallsDiffer(member, text_of(member));
  return {place_of(slot.near, region_.far_post(member, posts_ - 1), bytes), bytes};
}

void Member::fail(std::uint64_t turn) {
  std::atomic<std::uint64_t>& first = region_.first_failed();
  std::uint64_t known = first.load(std::memory_order_relaxed);
  while ((known == 0 || turn < known) &&
         !first.compare_exchange_weak(known, turn, std::memory_order_seq_cst)) {
  }
}

void Member::collect() {
  for (std::uint32_t member = 0; member < members(); ++member)
    region_.seat(member).collected[(posts_ - 1) % SharedRegion::posts].store(
        static_cast<std::uint32_t>(posts_), std::memory_order_seq_cst);
  waits_.wake_sleepers();
}

// ---- texts -------------------------------------------------------------------------------------

/// Writes the text of a call into the region, unless the last call had the same text. A member that
/// reads the text during the operation finds the complete text. After the operation, the reader may
/// find a mixture of this text and the text of the next call.
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
