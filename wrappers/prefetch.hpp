// SPDX-License-Identifier: Apache-2.0
// wrappers/prefetch.hpp — pulls the newest tuple of a remote element into an element of its host.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>

#include "pastset/element.hpp"
#include "paths/host/deployment.hpp"
#include "paths/host/element_operation.hpp"
#include "paths/host/waiting_accesses.hpp"
#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"
#include "runtime/runtime.hpp"

namespace wrappers {

/// Begins a path that no thread drives: asks the far end again and again for a tuple newer than
/// the last one it got, and moves what comes into its element. Tuples in between are skipped; the
/// element numbers what it gets by itself. A path of a thread that passes here reads that element.
///
/// Why:     Bongo et al. 2004, §IV: one prefetch thread per remote cluster, whose request is under
///          way while the application computes.
/// Context: a service context of its own, from start() to stop(). Readers need none.
/// Blocks:  its own context, while there is nothing newer, for as long as that lasts: a read that
///          ended at a deadline is asked again, because those who need the value have their own
///          deadline. Readers as the element does.
/// Order:   keeps that of the far element.
/// Throws:  nothing of its own. When the far end fails or carries an error mark, the element is
///          marked with that error and no more is fetched.
/// Records: each read: when it left, and when its tuple was in the element.
class Prefetch final : public paths::Wrapper {
 public:
  /// `wrapper` is its index in the plan.
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
  paths::WaitingAccesses readers_;  // of `into_`
  runtime::Task fetching_;
};

paths::WrapperKind prefetch_kind();

}  // namespace wrappers
