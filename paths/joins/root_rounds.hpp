// SPDX-License-Identifier: Apache-2.0
// paths/joins/root_rounds.hpp — rounds at a cluster's root, one by one until one fails.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "pastset/element.hpp"
#include "paths/joins/reduction.hpp"
#include "paths/joins/sequence_queue.hpp"
#include "paths/operation.hpp"
#include "paths/plan/host_view.hpp"
#include "paths/wrapper.hpp"

namespace paths {

/// Common part of those wrappers at the root of a cluster that decide rounds from the values of
/// several clusters. Only one context (fiber or thread) at a time decides a round.
///
/// Failure: a failed contribution, or an exception of a decision, ends its round and all later
///          rounds with the same failure. The result element gets the failure as a mark after its
///          last tuple, so that the other clusters receive the failure. The mark tells whether a
///          host was lost. If there are no other clusters, a failure ends only its own round.
/// Ends:    after a thread has withdrawn, the result element gets a mark, as after a failure. The
///          mark waits until all rounds before the withdrawal are decided.
/// Order:   rounds are decided in the order that SequenceQueue describes.
/// Paper:   Bongo et al. 2004, §IV.
class RootRounds {
 public:
  using Decide = std::function<Result(Operation, const Next&)>;

  /// `index` is the index of `wrapper` in the plan. `result` is the element that the other clusters
  /// read. `has_others` tells whether there are other clusters.
  /// Requires: `wrapper` outlives this object.
  RootRounds(HostView& view, const Wrapper& wrapper, std::uint32_t index,
             std::shared_ptr<pastset::Element> result, bool has_others)
      : view_(view),
        wrapper_(wrapper),
        index_(index),
        result_(std::move(result)),
        has_others_(has_others) {}

  /// Calls `decide` for a move (an operation with a tuple), and returns the result of `decide`. A
  /// move that carries a failure fails the round without a call of `decide`. Operations of other
  /// kinds are sent down.
  Result operate(Operation operation, const Next& next, const Decide& decide);
  /// Checks the value of a contribution and normalizes it.
  /// Throws: TravelError if the reduction must not combine the value.
  void check(Operation& operation, const Reduction& reduction) const;
  [[noreturn]] void fail(const Operation& operation, const std::string& reason,
                         FailureCause cause) const;

 private:
  struct Withdrawn {
    std::uint64_t from;  // first round to which the thread does not contribute
    pastset::ErrorMark why;
  };
  void note_farewell(const Operation& operation);
  void note_decided(std::uint64_t sequence);
  void mark(const pastset::ErrorMark& why);

  HostView& view_;
  const Wrapper& wrapper_;
  const std::uint32_t index_;
  const std::shared_ptr<pastset::Element> result_;
  const bool has_others_;
  SequenceQueue turns_;
  runtime::Mutex mutex_;                // guards the members below
  std::uint64_t next_ = 0;              // number of the first undecided round
  std::optional<Withdrawn> withdrawn_;  // set until all rounds before the withdrawal are decided
};

}  // namespace paths
