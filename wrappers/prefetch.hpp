// SPDX-License-Identifier: Apache-2.0
// wrappers/prefetch.hpp — transfer of a remote element's newest tuple into a local element.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>

#include "pastset/element.hpp"
#include "paths/host/deployment.hpp"
#include "paths/host/elements/element_operation.hpp"
#include "paths/host/elements/waiting_accesses.hpp"
#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"
#include "runtime/runtime.hpp"

namespace wrappers {

/// Begins a path that has no thread. It repeatedly asks the far element, at the end of the path,
/// for a tuple that is newer than the last tuple it received. It moves each tuple into the local
/// element, which is an element of the wrapper's own host. It skips tuples that newer tuples have
/// replaced in the meantime. The local element numbers its tuples independently of the far element.
/// Reads of a thread whose path passes through this wrapper are served from the local element.
///
/// Why:     Requests and tuples travel while the application computes.
/// Blocks:  only the wrapper's own fiber (service context), while there is no newer tuple. A read
///          of the far element that ends at a deadline is repeated, because the threads that read
///          the local element have their own deadline. These threads wait as in a read of any
///          element.
/// Throws:  nothing of its own. If the far end fails or has an error mark, the wrapper marks the
///          local element with that error and stops.
/// Paper:   Bongo et al. 2004, §IV: one prefetch thread per remote cluster.
/// Context: one service context, from start() to stop(). Threads that read the local element need
///          no service context.
/// Order:   Tuples arrive in the order of the far element.
/// Records: for each read of the far element: when the read was sent, and when its tuple was in the
///          local element.
class Prefetch final : public paths::Wrapper {
 public:
  /// `wrapper` is the wrapper's index in the plan.
  Prefetch(paths::Deployment& deployment, std::uint32_t wrapper,
           std::shared_ptr<pastset::Element> into)
      : deployment_(deployment), wrapper_(wrapper), into_(std::move(into)), readers_(*into_) {}
  void handle(paths::Operation&& operation, paths::Next next, paths::Responder& responder) override;
  bool needs_context() const override { return paths::needs_context_on(*into_); }
  base::Nanos end_late(base::Nanos now) override { return readers_.end_late(now); }
  void give_up() override { readers_.give_up(); }
  void start() override;
  void stop() override;

 private:
  void fetch(std::uint32_t path);
  paths::Result ask(paths::Operation operation, const paths::Next& next);
  void record(const paths::Operation& asked, std::int64_t down_nanos, std::size_t bytes,
              const paths::Next& next);

  paths::Deployment& deployment_;
  const std::uint32_t wrapper_;
  const std::shared_ptr<pastset::Element> into_;
  paths::WaitingAccesses readers_;  // readers of `into_`
  runtime::Task fetching_;
};

paths::WrapperKind prefetch_kind();

}  // namespace wrappers
