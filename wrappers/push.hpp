// SPDX-License-Identifier: Apache-2.0
// wrappers/push.hpp — sends the tuples of an element of its host to the far end of its path.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "pastset/element.hpp"
#include "paths/host/deployment.hpp"
#include "paths/joins/cluster_tuples.hpp"
#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"
#include "runtime/runtime.hpp"

namespace wrappers {

struct PushSettings {
  std::shared_ptr<pastset::Element> from;
  std::shared_ptr<pastset::Element> asks;  ///< null: sends without being asked
  bool every = false;                      ///< all tuples; otherwise each time the newest
};

/// Begins a path that no thread drives: sends tuples of its element, one way, each time the newest
/// that has not been sent, or all of them; where there is an element of asks, only so many as were
/// asked for, from the number asked for on. The opposite direction of a prefetch.
///
/// Why:     MagPIe (Kielmann et al. 1999) sends a cluster's value to the others, which saves the
///          request; Bongo et al. 2004, note 1, say that theirs could. Asking sends nothing that
///          nobody needs.
/// Context: a service context of its own, from start() to stop().
/// Blocks:  its own context, while there is nothing to send or nobody asks.
/// Order:   that of the element. Where each time the newest is sent, one that has not left for want
///          of credits is replaced by a newer one; all and what was asked for never is.
/// Throws:  nothing of its own.
/// Ends:    at an error mark of its element, also to one who asked, or of its asks, whose sender
///          would wait for an answer: behind what came before, the path is released with it. Else
///          with its newest tuple, or all that are left, sent unasked: who still needs something
///          of this host finds it at the far end.
/// Records: each tuple it sends, as what a prefetch reads.
class Push final : public paths::Wrapper {
 public:
  /// `wrapper` is its index in the plan.
  Push(paths::Deployment& deployment, std::uint32_t wrapper, PushSettings settings)
      : deployment_(deployment), wrapper_(wrapper), settings_(std::move(settings)) {}
  void handle(paths::Operation&& operation, paths::Next next, paths::Responder& responder) override;
  void start() override;
  void stop() override;

 private:
  void follow();
  paths::Ask next_ask();
  void answer(const paths::Ask& ask);
  void send_rest();
  void send_up_to(const pastset::Stored& newest);
  void send(base::Payload tuple);
  void end(const std::string& mark);

  paths::Deployment& deployment_;
  const std::uint32_t wrapper_;
  const PushSettings settings_;
  std::uint32_t path_ = 0;
  runtime::Task following_;
  // Of the context that follows, and of stop() after it.
  std::uint64_t next_ = 0;      // number of the first tuple that was not sent
  std::uint64_t next_ask_ = 0;  // number of the first ask that was not answered
  std::uint64_t sent_ = 0;
  bool has_ended_ = false;  // with a mark
};

paths::WrapperKind push_kind();

}  // namespace wrappers
