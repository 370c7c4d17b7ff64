// SPDX-License-Identifier: Apache-2.0
// paths/host/owner.hpp — the context that owns a thread's paths, and checks that only it uses them.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace paths {

class Deployment;

/// Context (OS thread or fiber) that owns the paths of a thread. Only the owner may use these
/// paths. The first owner is the context that constructs this object.
///
/// Why:         two contexts on one path would give their operations the same numbers, and joins
///              would wait for ever.
/// Thread-safe: any context of any process may call. Contexts other than the owner get a
///              UsageError.
class Owner {
 public:
  Owner(const Deployment& deployment, std::uint32_t index);
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  /// Checks that the caller is the owner and that the thread's function still runs. `what` and
  /// `subject` describe the use for the error text, such as "move" and "path". `name` is the name
  /// of the subject, such as "sum".
  /// Throws: UsageError if the check fails.
  void check(std::string_view what, std::string_view subject, std::string_view name = {}) const {
    if (!may_call()) refuse(what, subject, name);
  }
  bool is_caller() const;  ///< whether the calling context is the owner
  /// Notes that the thread's function has returned. All later calls are refused.
  void end() { context_ = nullptr; }
  bool has_ended() const { return context_ == nullptr; }
  /// Detaches the owner. The next context that calls take() becomes the owner.
  void leave() {
    if (!has_ended()) context_ = &nobody;
  }
  void take();
  std::string thread() const;  ///< text such as "thread alpha-0/3"

  /// One call of the owner on its paths. The object exists while the call runs.
  ///
  /// Why:    a reduction or X-function (pastset/element.hpp) could start an operation inside the
  ///         operation that runs it. The inner operation would wait for the outer operation for
  ///         ever.
  /// Throws: UsageError if check() fails, or if another object of this class exists for the owner.
  class Use {
   public:
    Use(Owner& owner, std::string_view what, std::string_view subject, std::string_view name);
    ~Use() { owner_.used_for_ = {}; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Owner& owner_;
  };

 private:
  bool may_call() const;
  [[noreturn]] void refuse(std::string_view what, std::string_view subject,
                           std::string_view name) const;
  static const char nobody;
  const Deployment& deployment_;
  const std::uint32_t index_;
  std::atomic<const void*> context_;  // atomic, because other contexts may read it at any time
  const std::uint32_t process_;
  std::string_view used_for_;
};

}  // namespace paths
