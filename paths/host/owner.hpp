// SPDX-License-Identifier: Apache-2.0
// paths/host/owner.hpp — owner of a thread's paths, and check of their use.
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

  /// Throws UsageError unless the caller is the owner and the thread's function still runs. `what`
  /// and `subject` describe the use, such as "move" and "path", and `name` is the name of the
  /// subject, such as "sum".
  void check(std::string_view what, std::string_view subject, std::string_view name = {}) const {
    if (!may_call()) refuse(what, subject, name);
  }
  bool is_caller() const;  ///< whether the calling context is the owner
  /// Refuses all callers from now on, because the thread's function has returned.
  void end() { context_ = nullptr; }
  bool has_ended() const { return context_ == nullptr; }
  /// Detaches the owner. The next context that calls take() becomes the owner.
  void leave() {
    if (!has_ended()) context_ = &nobody;
  }
  void take();
  std::string thread() const;  ///< text such as "thread alpha-0/3"

  /// One call of the owner on its paths; the object exists while the call runs. The constructor
  /// calls check(), and also throws UsageError inside another call. This prevents a deadlock: a
  /// reduction or X-function (pastset/element.hpp) could start an operation, which would wait for
  /// the operation that runs the reduction or X-function.
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
  std::atomic<const void*> context_;  // atomic, because other contexts read it while it changes
  const std::uint32_t process_;
  std::string_view used_for_;
};

}  // namespace paths
