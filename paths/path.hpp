// SPDX-License-Identifier: Apache-2.0
// paths/path.hpp — one thread's way through wrappers to an element.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pastset/element.hpp"
#include "paths/host.hpp"
#include "paths/operation.hpp"

namespace paths {

/// An operation under way; wait() for it once. Dropping it lets it finish unobserved.
class Started {
 public:
  Started() = default;
  Result wait();  ///< throws what the operation threw

 private:
  friend class Path;
  struct State;
  std::shared_ptr<State> state_;
};

/// A chain of wrappers from one thread to an element; carries every operation of that element.
///
/// Sharing: one thread's own. Moves are numbered from 0 in the order they are started and enter
///          each wrapper in that order.
/// Throws:  TravelError from everything.
class Path {
 public:
  Path(Host& host, std::uint32_t path, std::uint32_t thread);

  /// Moves a tuple down the path: into an element, or as this thread's contribution to the round.
  Result move(base::Payload payload);
  template <class T>
  Result move_value(const T& value) {
    return move(base::Payload::of(value));
  }
  /// The same on a pooled context of the host, so that several can be under way.
  Started start(base::Payload payload);
  /// Moves without waiting for anything to come back: one frame per crossing. Where the link is
  /// full, a newer push takes the place of one that has not left.
  void push(base::Payload payload);
  /// The same for a log: no newer one takes its place. What cannot leave yet is kept, and takes
  /// memory; bounding it is up to who sends.
  void send(base::Payload payload);

  void enter(const pastset::Template& tuple_template);
  pastset::Stored observe();
  pastset::Stored observe(std::uint64_t number);
  pastset::Stored newest(std::uint64_t from);
  std::uint64_t first();
  std::uint64_t last();
  std::uint64_t delta();
  void set_delta(std::uint64_t delta);
  void axe(std::uint64_t number);
  void delete_element();

  /// What each host along this path, this one and gateways included, has sent to other clusters
  /// for the paths of `graph`.
  std::vector<HostTraffic> traffic(std::string_view graph);
  /// Says that nothing more will come; done for every path when its thread ends. Waits for what
  /// was started. With a reason, whoever still counts on this thread gets that as the failure.
  void release(const std::string& reason = {});
  bool released() const { return released_; }
  Host& host() const { return *host_; }
  const std::string& graph() const { return host_->plan().paths[path_].graph; }
  std::uint64_t moves() const { return sequence_; }

 private:
  struct UnderWay;
  Result operate(OperationKind kind, std::uint64_t number, base::Payload payload);
  Started start(Operation operation);
  void go_one_way(Operation operation);
  bool has_started() const;
  void wait_for_started();
  Operation next_operation(OperationKind kind, std::uint64_t number, base::Payload payload);
  Host* host_;
  const Stage* first_stage_;
  std::uint32_t path_;
  std::uint32_t thread_;
  std::uint64_t sequence_ = 0;
  bool released_ = false;
  std::shared_ptr<UnderWay> under_way_;  // once something was started
};

}  // namespace paths
