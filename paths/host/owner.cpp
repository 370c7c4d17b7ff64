// SPDX-License-Identifier: Apache-2.0
// paths/host/owner.cpp — check whether the calling context may use a thread's paths.
#include "paths/host/owner.hpp"

#include <fmt/format.h>

#include "base/usage_error.hpp"
#include "paths/host/deployment.hpp"
#include "runtime/processes/process_end.hpp"

namespace paths {

Owner::Owner(const Deployment& deployment, std::uint32_t index)
    : deployment_(deployment),
      index_(index),
      context_(runtime::calling_context()),
      process_(runtime::forks_until_here()) {}

const char Owner::nobody = 0;

void Owner::take() { context_ = runtime::calling_context(); }

bool Owner::may_call() const { return is_caller() && !pastset::is_inside_an_x_function(); }

bool Owner::is_caller() const {
  const void* const owner = context_;
  return owner != nullptr && runtime::calling_context() == owner &&
         runtime::forks_until_here() == process_;
}

std::string Owner::thread() const {
  return fmt::format("thread {}/{}", deployment_.name(), index_);
}

void Owner::refuse(std::string_view what, std::string_view subject, std::string_view name) const {
  std::string why = "it is that thread's alone";
  if (is_caller()) why = "an X-function must not block";
  if (context_ == &nobody) why = "no thread is attached there";
  if (has_ended()) why = "that thread's function has returned";
  if (runtime::forks_until_here() != process_) why = "this process was made by fork";
  throw base::UsageError(fmt::format("{}{}{} of {}: {} by {}: {}", subject, name.empty() ? "" : " ",
                                     name, thread(), what, runtime::describe_current_context(),
                                     why));
}

Owner::Use::Use(Owner& owner, std::string_view what, std::string_view subject,
                std::string_view name)
    : owner_(owner) {
  owner.check(what, subject, name);
  if (!owner.used_for_.empty())
    throw base::UsageError(fmt::format("{}{}{}: {} from inside another operation, {}", subject,
                                       name.empty() ? "" : " ", name, what, owner.used_for_));
  owner.used_for_ = what;
}

}  // namespace paths
