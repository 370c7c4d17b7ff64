// SPDX-License-Identifier: Apache-2.0
// paths/ascent.hpp — the way up of an operation that has no context.
#pragma once
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "paths/operation.hpp"
#include "paths/travel_error.hpp"

namespace paths {

/// What came up: a result, or why there is none.
struct Outcome {
  Result result;
  Failure failure;
};

class Ascent;

/// An operation under way without a context. What a context would have on its stack is here: what
/// each stage does on the way up, the last one first, and in the end who is told. Its memory is
/// used again for the next operation.
///
/// Sharing: an operation is in one place at a time, and so is this.
class Trip {
 public:
  Trip() = default;
  Trip(const Trip&) = delete;
  Trip& operator=(const Trip&) = delete;

 protected:
  ~Trip();
  /// It has come up, all of it done; may begin again from here on, or go. Called in whatever
  /// context brought the outcome, or in none, under no mutex. Must not block.
  virtual void arrived(Outcome&& outcome) noexcept = 0;

 private:
  friend class Ascent;
  struct Kept {  // one of what stages left here
    virtual ~Kept() = default;
    virtual void up(Ascent ascent, Outcome&& outcome);
    Kept* before = nullptr;
    std::size_t room_before = 0;
    bool is_in_room = true;
  };
  template <class T>
  struct Object;
  template <class Up>
  struct Step;
  template <class K, class... Arguments>
  K& keep(Arguments&&... arguments);
  void let_go_last();

  /// Enough for the stages of most hosts; what is beyond is allocated.
  static constexpr std::size_t room_bytes = 1280;
  Kept* last_ = nullptr;
  std::size_t used_ = 0;
  alignas(std::max_align_t) std::byte room_[room_bytes];
};

/// The right to answer an operation that has no context, once, now or later: for whoever has the
/// operation. One that is dropped answers that the operation has ended.
class Ascent {
 public:
  Ascent() = default;
  explicit Ascent(Trip& trip) : trip_(&trip) {}
  Ascent(Ascent&& other) noexcept : trip_(std::exchange(other.trip_, nullptr)) {}
  Ascent& operator=(Ascent&& other) noexcept {
    const Ascent mine(std::move(*this));
    trip_ = std::exchange(other.trip_, nullptr);
    return *this;
  }
  ~Ascent() {
    if (trip_ != nullptr) fail_dropped();
  }
  explicit operator bool() const { return trip_ != nullptr; }

  /// On the way up, before what others left: up(Ascent, Outcome), which goes on by answer(), now or
  /// later. It runs in whatever context brings the outcome, or in none: it must not block, nor
  /// throw.
  template <class Up>
  void then(Up up) {
    trip_->keep<Trip::Step<Up>>(std::move(up));
  }
  /// Something that the operation needs while it waits, of whoever keeps this meanwhile, as part of
  /// it or beside it. let_go_last() before the answer.
  template <class T, class... Arguments>
  T& keep(Arguments&&... arguments) {
    return trip_->keep<Trip::Object<T>>(std::forward<Arguments>(arguments)...).object;
  }
  void let_go_last() { trip_->let_go_last(); }

  void answer(Outcome&& outcome);
  void answer(Result&& result) { answer(Outcome{std::move(result), nullptr}); }
  void fail(Failure failure) { answer(Outcome{{}, std::move(failure)}); }

 private:
  void fail_dropped();
  Trip* trip_ = nullptr;
};

template <class T>
struct Trip::Object final : Kept {
  template <class... Arguments>
  explicit Object(Arguments&&... arguments) : object(std::forward<Arguments>(arguments)...) {}
  T object;
};

template <class Up>
struct Trip::Step final : Kept {
  explicit Step(Up given) : act(std::move(given)) {}
  void up(Ascent ascent, Outcome&& outcome) override {
    Up mine = std::move(act);
    ascent.let_go_last();
    mine(std::move(ascent), std::move(outcome));
  }
  Up act;
};

template <class K, class... Arguments>
K& Trip::keep(Arguments&&... arguments) {
  static_assert(alignof(K) <= alignof(std::max_align_t));
  constexpr std::size_t size = (sizeof(K) + alignof(std::max_align_t) - 1) /
                               alignof(std::max_align_t) * alignof(std::max_align_t);
  const bool fits = size <= room_bytes - used_;
  void* const memory = fits ? static_cast<void*>(room_ + used_) : ::operator new(sizeof(K));
  K* kept = nullptr;
  try {
    kept = ::new (memory) K(std::forward<Arguments>(arguments)...);
  } catch (...) {
    if (!fits) ::operator delete(memory);
    throw;
  }
  kept->before = last_;
  kept->room_before = used_;
  kept->is_in_room = fits;
  last_ = kept;
  if (fits) used_ += size;
  return *kept;
}

}  // namespace paths
