// SPDX-License-Identifier: Apache-2.0
// runtime/handle.hpp — handles of operations under way
#pragma once
#include <memory>
#include <string>
#include <utility>

#include "base/usage_error.hpp"
#include "runtime/completion.hpp"
#include "runtime/wait.hpp"

namespace runtime {

/// State of an operation under way whose result has the type T. The Handle and the code that
/// performs the operation share it. Only the Handle calls these functions.
template <class T>
class Pending {
 public:
  virtual Completion& completion() = 0;
  /// Returns the subject of error messages about the operation, such as "path sum: wait for started
  /// move 3".
  virtual std::string text() const = 0;
  /// Implements Handle::wait(). Called at most once.
  virtual T take(Deadline deadline) = 0;
  /// Implements Handle::cancel().
  virtual bool cancel() { return false; }
  /// Called once, when the handle is destroyed, whether or not take() or cancel() was called.
  virtual void drop() noexcept {}

 protected:
  ~Pending() = default;
};

/// Handle of an operation that was started without blocking. It is returned by
/// paths::Path::start(), groups::Group::start(), pastset::start_observe(),
/// paths::MessageGroup::send() and receive(). A default-constructed or moved-from handle is empty.
///
/// The handle of an unfinished operation may be destroyed, or the deadline of wait() may pass. The
/// effect of both depends on the kind of the operation:
/// - path: the operation continues, but no caller gets its result. At the deadline, wait() throws
///   TravelError.
/// - group: the destructor waits for the operation. At the deadline, the operation fails on all
///   hosts, and wait() throws TravelError.
/// - element: the operation is cancelled. At the deadline, wait() throws DeadlinePassed.
/// - message: a message to another host is still sent, but from lent memory only until the handle
///   is destroyed. An awaited message is dropped when it arrives. At the deadline, wait() throws
///   TravelError.
///
/// Owns: a share of the state of the operation.
/// Thread-safe: no, one OS thread or fiber at a time; some operations have further restrictions.
///   Any thread may use the completion.
/// Blocks: wait(), and the destructor if the operation belongs to a group.
/// Throws: UsageError if the handle is empty, if wait() was called before, or if the operation was
///   cancelled.
template <class T>
class Handle {
 public:
  Handle() = default;
  explicit Handle(std::shared_ptr<Pending<T>> operation) : operation_(std::move(operation)) {}
  Handle(Handle&&) noexcept = default;
  Handle& operator=(Handle&& other) noexcept {
    Handle old(std::move(other));
    std::swap(operation_, old.operation_);
    std::swap(spent_, old.spent_);
    return *this;
  }
  ~Handle() {
    if (operation_ != nullptr) operation_->drop();
  }

  /// Returns whether the operation has ended, successfully or not. Never blocks.
  bool done() const { return usable("the completion of").completion().done(); }
  /// Returns the completion, for wait sets.
  std::shared_ptr<Completion> completion() const {
    return {operation_, &usable("the completion of").completion()};
  }
  /// Blocks until the operation has ended, and returns its result. May be called once.
  /// Throws: the error of the operation. If the deadline passes first, throws the error in the list
  ///   above the class.
  T wait(Deadline deadline = Deadline::never()) {
    Pending<T>& operation = usable("wait for");
    spent_ = "waited for";
    return operation.take(deadline);
  }
  /// Cancels an operation on an element, such as a read that waits for a tuple. Returns true if the
  /// operation is cancelled, and will therefore never happen. Returns false and changes nothing
  /// - if the operation has already happened. wait() returns its result.
  /// - if the operation is not on an element. The operation continues, and wait() returns its
  ///   result.
  /// - if wait() would throw UsageError, such as after an earlier call of wait().
  bool cancel() {
    if (operation_ == nullptr || spent_ != nullptr || !operation_->cancel()) return false;
    spent_ = "cancelled";
    return true;
  }

 private:
  Pending<T>& usable(const char* use) const {
    if (operation_ == nullptr)
      throw base::UsageError(std::string(use) +
                             " an operation that was never started, or moved elsewhere");
    if (spent_ != nullptr)
      throw base::UsageError(operation_->text() + ", which was " + spent_ + " before");
    return *operation_;
  }
  std::shared_ptr<Pending<T>> operation_;
  const char* spent_ = nullptr;  // why the handle is unusable; nullptr = it is usable
};

}  // namespace runtime
