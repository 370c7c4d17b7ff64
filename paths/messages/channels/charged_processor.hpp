// SPDX-License-Identifier: Apache-2.0
// paths/messages/channels/charged_processor.hpp — simulated processor whose work takes time
#pragma once
#include <cstdint>
#include <functional>
#include <utility>

#include "base/link_model/host_costs.hpp"
#include "base/link_model/processor.hpp"
#include "paths/links/due_queue.hpp"
#include "paths/messages/channels/simulated_cores.hpp"
#include "paths/plan/plan.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// The simulated processor of a host on the virtual clock. A host has such a processor if the
/// config states the costs of hosts: the time that hosts need for frames, folds and copies. The
/// processor does one piece of work at a time (tuning::Processor).
///
/// Why: without this class, the work of a simulated host would take no time.
/// Thread-safe: guarded by its owner's mutex.
class ChargedProcessor {
 public:
  using Work = DueQueue::Work;

  /// Requires: the plan has costs. The arguments outlive this object.
  ChargedProcessor(runtime::Runtime& runtime, const Plan& plan, std::uint32_t host,
                   DueQueue& due_queue)
      : runtime_(runtime), plan_(plan), host_(host), due_queue_(due_queue) {}

  /// Lets the processor share the cores of its machine with other hosts. `put_now` must put work
  /// into the due queue for the present time. It is called without the owner's mutex.
  /// Requires: `cores` outlives all work of this processor. No work has been requested yet.
  void share(SimulatedCores& cores, std::function<void(Work)> put_now) {
    cores_ = &cores;
    put_now_ = std::move(put_now);
  }

  /// Returns the time that this host needs to prepare a frame of `bytes` bytes for sending.
  base::Nanos send_time(std::uint32_t source, std::uint32_t target, std::uint64_t bytes) const {
    return costs(source, target).send.at(bytes);
  }
  /// Returns the time that this host needs to receive a frame of `bytes` bytes that arrives now.
  base::Nanos receive_time(std::uint32_t source, std::uint32_t target, std::uint64_t bytes) const {
    return costs(source, target).receive.at(bytes) +
           (processor_.works() ? base::Nanos(0) : plan_.costs->wake_up);
  }
  /// Returns the time that this host needs to forward a frame that arrives now: to receive the
  /// frame and to prepare it for the next host.
  base::Nanos pass_time(std::uint32_t source, std::uint32_t target, std::uint64_t bytes) const {
    return receive_time(source, target, bytes) + send_time(source, target, bytes);
  }
  /// Returns whether this host needs no time to receive a frame of `bytes` bytes, even if the host
  /// must wake up for the frame.
  bool receives_at_once(std::uint32_t source, std::uint32_t target, std::uint64_t bytes) const {
    return costs(source, target).receive.at(bytes) + plan_.costs->wake_up == base::Nanos(0);
  }

  /// Requests work of the duration `time`. `then` is called when the work has ended.
  void work(base::Nanos time, tuning::WorkKind kind, Work then) {
    processor_.request(time, std::move(then), kind);
    begin_next_later();
  }
  /// Calls `then` when all work that was requested earlier has ended. At that simulated time,
  /// `then` is called after all other events.
  void after_work(Work then) {
    auto put = [this, then = std::move(then)] {
      due_queue_.put(runtime_.now(), then, Turn::choices);
    };
    if (!processor_.works()) return put();
    work(base::Nanos(0), tuning::WorkKind::receipt, std::move(put));
  }
  /// Returns whether shared cores may have unfinished work of this host. (If the host shares no
  /// cores, its unfinished work is in the due queue.)
  bool works_elsewhere() const { return cores_ != nullptr && processor_.works(); }
  /// Removes the work of this host.
  void stop() {
    processor_.clear();
    if (cores_ != nullptr) cores_->leave(host_);
  }

  /// Returns the maximum total size in bytes of the prepared frames that wait for the outgoing
  /// link.
  std::uint64_t window(std::uint32_t source, std::uint32_t target) const {
    const std::uint64_t frame = plan_.lanes.frame_bytes;
    return costs(source, target).window(frame == 0 ? ~std::uint64_t{0} : frame);
  }

 private:
  /// Lets the processor begin its next work after all requests of the present simulated time.
  void begin_next_later() {
    due_queue_.put(
        runtime_.now(), [this] { begin_next(); }, Turn::choices, rank_of_processor);
  }
  void begin_next() {
    auto piece = processor_.begin_next();
    if (!piece) return;
    Work end = [this, then = std::move(piece->work)] {
      processor_.end();
      begin_next_later();
      then();
    };
    if (cores_ == nullptr) return due_queue_.put(runtime_.now() + piece->time, std::move(end));
    cores_->begin(host_, piece->time, [this, end = std::move(end)] { put_now_(end); });
  }
  const tuning::FrameCosts& costs(std::uint32_t source, std::uint32_t target) const {
    static const tuning::FrameCosts none;
    const auto& found = plan_.costs->between(plan_.cluster_of(source), plan_.cluster_of(target));
    return found == nullptr ? none : *found;
  }

  runtime::Runtime& runtime_;
  const Plan& plan_;
  const std::uint32_t host_;
  DueQueue& due_queue_;
  tuning::Processor<Work> processor_;
  SimulatedCores* cores_ = nullptr;  // nullptr = the host has a core of its own
  std::function<void(Work)> put_now_;
};

}  // namespace paths
