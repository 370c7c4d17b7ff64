// SPDX-License-Identifier: Apache-2.0
// paths/host/owner.hpp — whose a thread's paths are, and what they are used for at the moment.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace paths {

class Deployment;

/// The context that makes it: a thread of the application, which alone may use its paths, and one
/// of them at a time.
///
/// Why:     two contexts on one path would number their operations alike; joins then wait for ever.
/// Sharing: any context of any process may call; who is not the owner is refused.
class Owner {
 public:
  Owner(const Deployment& deployment, std::uint32_t index);
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  /// Throws UsageError unless the owner itself calls, while its function runs. `what` was to be
  /// done, to `subject`: "move", "path", "sum".
  void check(std::string_view what, std::string_view subject, std::string_view name = {}) const {
    if (!may_call()) refuse(what, subject, name);
  }
  bool is_caller() const;  ///< the owner, while its function runs
  /// The thread's function has returned: from now on everybody is refused.
  void end() { context_ = nullptr; }
  bool has_ended() const { return context_ == nullptr; }
  /// It is nobody's until a context takes it, which is the owner then.
  void leave() {
    if (!has_ended()) context_ = &nobody;
  }
  void take();
  std::string thread() const;  ///< "thread alpha-0/3"

  /// check(), and that the owner is not inside another use: an operation that a reduction or an
  /// X-function began would wait for the one that it is part of.
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
  std::atomic<const void*> context_;  // who is refused may ask while it changes hands
  const std::uint32_t process_;
  std::string_view used_for_;
};

}  // namespace paths
