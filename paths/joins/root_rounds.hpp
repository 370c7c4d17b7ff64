// SPDX-License-Identifier: Apache-2.0
// paths/joins/root_rounds.hpp — rounds at the root of a cluster, one by one until one fails.
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

/// What wrappers that decide rounds of several clusters have in common. One context at a time
/// decides, as in Bongo et al. 2004, §IV.
///
/// Failure: a failed contribution and whatever a decision throws are final: the result element is
///          marked with it, for the other clusters, behind the tuples that came before, and every
///          later round throws it. Where there are no other clusters, a round's failure is its own.
/// Ends:    when a thread withdraws, the element is marked alike as soon as the rounds before are
///          decided.
/// Order:   as of Turns.
class RootRounds {
 public:
  using Decide = std::function<Result(Operation, const Next&)>;

  /// Of `wrapper`, which outlives it and has this index in the plan. `result` is what the other
  /// clusters are told by, if there are any.
  RootRounds(HostView& view, const Wrapper& wrapper, std::uint32_t index,
             std::shared_ptr<pastset::Element> result, bool has_others)
      : view_(view),
        wrapper_(wrapper),
        index_(index),
        result_(std::move(result)),
        has_others_(has_others) {}

  /// Has `decide` answer a move that did not fail; other operations go on.
  Result operate(Operation operation, const Next& next, const Decide& decide);
  /// Throws TravelError when the value is not what the reduction takes; else it is as a result
  /// would be.
  void check(Operation& operation, const Reduction& reduction) const;
  [[noreturn]] void fail(const Operation& operation, const std::string& reason,
                         FailureCause cause = FailureCause::other) const;
  /// Throws what an element is marked with, which says where it began.
  [[noreturn]] static void fail_as_marked(const std::string& mark);

 private:
  struct Withdrawn {
    std::uint64_t from = 0;  // the round
    std::string why;
  };
  void note_farewell(const Operation& operation);
  void note_decided(std::uint64_t sequence);
  void mark(const std::string& error);

  HostView& view_;
  const Wrapper& wrapper_;
  const std::uint32_t index_;
  const std::shared_ptr<pastset::Element> result_;
  const bool has_others_;
  SequenceQueue turns_;
  runtime::Mutex mutex_;                // guards what follows
  std::uint64_t next_ = 0;              // the round after the last that was decided
  std::optional<Withdrawn> withdrawn_;  // but rounds before it are to come
};

}  // namespace paths
