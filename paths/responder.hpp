// SPDX-License-Identifier: Apache-2.0
// paths/responder.hpp — state of one operation and the right to reply to it.
#pragma once
#include <cstddef>
#include <exception>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "paths/operation.hpp"
#include "paths/travel_error.hpp"

namespace paths {

/// Outcome of an operation: a result or a failure. If `failure` is not nullptr, there is no result.
struct Outcome {
  Result result;
  Failure failure;
};

class Responder;

/// State of one operation: the steps that the reply runs on its way up, and the receiver of the
/// outcome.
///
/// There are two kinds of states. If a thread calls an operation and waits for the outcome, the
/// state is on the thread's stack. The operation then owns the context (OS thread or fiber) of that
/// thread. If another host sent the operation, or a thread started it without waiting, the state is
/// in memory that later operations reuse.
///
/// Thread-safe: no. One context at a time handles an operation and its state.
class OperationState {
 public:
  OperationState(const OperationState&) = delete;
  OperationState& operator=(const OperationState&) = delete;

 protected:
  /// Stores the steps in `room`, and allocates memory for steps that do not fit. `owns_context`
  /// must be true only if the context that begins the operation waits for the outcome and does
  /// nothing else in that time.
  explicit OperationState(std::span<std::byte> room, bool owns_context = false)
      : room_(room), owns_context_(owns_context) {}
  ~OperationState();
  /// Receives the outcome after all steps have run. The state may be reused or destroyed after this
  /// call. The context that replied calls this function, with no mutex locked. Must not block.
  virtual void arrived(Outcome&& outcome) noexcept = 0;
  /// Receives the exception of the class Stop that a wait of the operation threw because its
  /// context was cancelled. Called before arrived().
  virtual void stopped(std::exception_ptr /*stop*/) noexcept {}

 private:
  friend class Responder;
  struct Kept {  // one entry of the state: a step that on_reply() added, or a wrapper's object
    virtual ~Kept() = default;
    virtual void up(OperationState& state, Outcome&& outcome);
    Kept* before = nullptr;
    std::size_t room_before = 0;
    bool is_in_room = true;
  };
  template <class T>
  struct Object;
  template <class Up>
  struct Step;
  template <class K, class... Arguments>
  K& emplace(Arguments&&... arguments);
  template <class K>
  void remove(K& last);
  void pop() { remove(*last_); }

  const std::span<std::byte> room_;
  Kept* last_ = nullptr;
  std::size_t used_ = 0;  // number of bytes of room_ in use
  const bool owns_context_;
};

/// Memory for the state of an operation, as a base class. A derived class must list this base class
/// before the base OperationState, which uses the memory.
template <std::size_t Bytes>
struct StateRoom {
  alignas(std::max_align_t) std::byte room[Bytes];
};
/// Memory for the state of an operation. On most hosts 1280 bytes are enough for all stages of a
/// path.
using ServiceRoom = StateRoom<1280>;

/// Right to reply to one operation, once. A responder passes from wrapper to wrapper together with
/// the operation. Its destructor fails the operation if no wrapper has replied.
///
/// Thread-safe: no.
class Responder {
 public:
  Responder() = default;
  explicit Responder(OperationState& state) : state_(&state) {}
  Responder(Responder&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Responder& operator=(Responder&& other) noexcept {
    const Responder mine(std::move(*this));
    state_ = std::exchange(other.state_, nullptr);
    return *this;
  }
  ~Responder() {
    if (state_ != nullptr) fail_dropped();
  }
  explicit operator bool() const { return state_ != nullptr; }
  /// Returns whether the calling context belongs to the operation. If so, the wrapper may block,
  /// and must reply or pass the operation on before it returns.
  bool owns_context() const { return state_->owns_context_; }

  /// Adds `up`, a function that runs when the outcome passes this stage on its way up. `up` runs
  /// before the functions that the stages above have added, in the context that replied. The call
  /// is up(Responder, Outcome&&). `up` must reply, immediately or later, and must not block or
  /// throw.
  template <class Up>
  void on_reply(Up up) {
    state_->emplace<OperationState::Step<Up>>(std::move(up));
  }
  /// Creates an object in the state of the operation. The object lives until pop_state(), which the
  /// wrapper must call before it replies.
  template <class T, class... Arguments>
  T& emplace_state(Arguments&&... arguments) {
    return state_->emplace<OperationState::Object<T>>(std::forward<Arguments>(arguments)...).object;
  }
  void pop_state() { state_->pop(); }

  void reply(Outcome&& outcome);
  void reply(Result&& result);
  void fail(Failure failure) { reply(Outcome{{}, std::move(failure)}); }
  /// Fails the operation because `stop` ended a wait in the context that the operation owns.
  void stop(std::exception_ptr stop, Failure failure);

 private:
  void fail_dropped();
  OperationState* state_ = nullptr;
};

template <class T>
struct OperationState::Object final : Kept {
  template <class... Arguments>
  explicit Object(Arguments&&... arguments) : object(std::forward<Arguments>(arguments)...) {}
  T object;
};

template <class Up>
struct OperationState::Step final : Kept {
  explicit Step(Up given) : act(std::move(given)) {}
  void up(OperationState& state, Outcome&& outcome) override {
    Up mine = std::move(act);
    state.remove(*this);
    mine(Responder(state), std::move(outcome));
  }
  Up act;
};

template <class K>
void OperationState::remove(K& last) {
  last_ = last.before;
  used_ = last.room_before;
  const bool is_in_room = last.is_in_room;
  // The address of `last` is also the start of the whole object when K is Kept, because Kept is the
  // first base of each derived class.
  void* const memory = &last;
  last.~K();
  if (!is_in_room) ::operator delete(memory);
}

inline void Responder::reply(Outcome&& outcome) {
  OperationState* const state = std::exchange(state_, nullptr);
  if (state->last_ != nullptr) return state->last_->up(*state, std::move(outcome));
  state->arrived(std::move(outcome));
}

template <class K, class... Arguments>
K& OperationState::emplace(Arguments&&... arguments) {
  static_assert(alignof(K) <= alignof(std::max_align_t));
  constexpr std::size_t size = (sizeof(K) + alignof(std::max_align_t) - 1) /
                               alignof(std::max_align_t) * alignof(std::max_align_t);
  const bool fits = size <= room_.size() - used_;
  void* const memory = fits ? static_cast<void*>(room_.data() + used_) : ::operator new(sizeof(K));
  K* kept = nullptr;
  try {
    kept = ::new (memory) K(std::forward<Arguments>(arguments)...);
  } catch (...) {
    if (!fits) ::operator delete(memory);
    throw;
  }
  static_assert(std::is_base_of_v<Kept, K>);
  kept->before = last_;
  kept->room_before = used_;
  kept->is_in_room = fits;
  last_ = kept;
  if (fits) used_ += size;
  return *kept;
}

}  // namespace paths
