// SPDX-License-Identifier: Apache-2.0
// wrappers/push.hpp — wrapper that sends the tuples of a local element down a path.
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
  /// Element that receives requests; nullptr = tuples are sent without requests.
  std::shared_ptr<pastset::Element> asks;
  bool every = false;  ///< true = sends all tuples; false = only the newest unsent tuple each time
};

/// Begins a path that has no thread, and sends tuples of an element down the path without replies.
/// It sends either the newest unsent tuple each time, or all tuples. If there is an element with
/// requests (`asks`), it sends tuples only on request. A request names the first tuple and the
/// number of tuples to send. A prefetch is the opposite: the receiving host asks for each tuple.
///
/// Why:     Without `asks`, no tuple waits for a request, as in MagPIe. With `asks`, tuples that
///          no cluster needs are not sent.
/// Blocks:  only the wrapper's own fiber (service context), while there is no tuple or no request.
/// Throws:  nothing of its own.
/// Paper:   Kielmann et al. 1999 (MagPIe sends a cluster's value to the others); Bongo et al. 2004,
///          note 1, mention it as an option.
/// Context: runs in one service context, from start() to stop().
/// Order:   Tuples are sent in the order of the element. If only the newest tuple is sent, a newer
///          tuple can replace a tuple that waits for credits. Requested tuples are never replaced.
///          If `every` is true, no tuple is replaced.
/// Ends:    The wrapper ends when its element or the element of requests has an error mark. It then
///          sends a release with the mark down its path, after the earlier tuples. Hosts that wait
///          for a requested tuple then fail, too. If there is no mark, stop() sends the newest
///          tuple, or all unsent tuples. Other hosts then find these tuples at the far end.
/// Records: each tuple that the wrapper sends, in the form in which a prefetch records its reads.
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
  void end(const pastset::ErrorMark& mark);

  paths::Deployment& deployment_;
  const std::uint32_t wrapper_;
  const PushSettings settings_;
  std::uint32_t path_ = 0;
  runtime::Task following_;
  // The following members are used by the context that runs follow(). After that context has ended,
  // stop() uses them.
  std::uint64_t next_ = 0;      // number of the first unsent tuple
  std::uint64_t next_ask_ = 0;  // number of the next request to serve
  std::uint64_t sent_ = 0;
  bool has_ended_ = false;  // whether the push has ended because of an error mark
};

paths::WrapperKind push_kind();

}  // namespace wrappers
