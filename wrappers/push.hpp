// SPDX-License-Identifier: Apache-2.0
// wrappers/push.hpp — transfer of the tuples of an element of this host to the far end of a path.
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
  std::shared_ptr<pastset::Element> asks;  ///< null: sends without requests
  bool every = false;                      ///< all tuples; otherwise only the newest each time
};

/// Begins a path without a thread: sends tuples of its element one way. It sends the newest unsent
/// tuple each time, or all tuples. With an element of requests (asks), it sends only the requested
/// number, from the requested tuple on. It is the opposite of a prefetch.
///
/// Why:     Pushing saves the request, as MagPIe does, and requests save tuples that no cluster
///          needs.
/// Blocks:  its own context, while there is nothing to send or no request.
/// Throws:  nothing of its own.
/// Paper:   Kielmann et al. 1999 (MagPIe sends a cluster's value to the others); Bongo et al. 2004,
///          note 1, mention it as an option.
/// Context: one service context, from start() to stop().
/// Order:   that of the element. If only the newest is sent, a tuple that waits for credits is
///          replaced by a newer one. Requested tuples, and those of `every`, are never replaced.
/// Ends:    at an error mark of its element or of its requests; the released path passes the mark
///          on behind earlier tuples. A host that waits for a requested tuple then fails, too.
///          Otherwise it sends its newest tuple, or all remaining ones, so that other hosts find
///          them at the far end.
/// Records: each tuple that it sends, like a prefetch's read.
class Push final : public paths::Wrapper {
 public:
  /// `wrapper` is the wrapper's index in the plan.
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
  // Members of the context that runs follow(), and of stop() after it.
  std::uint64_t next_ = 0;      // number of the first unsent tuple
  std::uint64_t next_ask_ = 0;  // number of the first open request
  std::uint64_t sent_ = 0;
  bool has_ended_ = false;  // ended with an error mark
};

paths::WrapperKind push_kind();

}  // namespace wrappers
