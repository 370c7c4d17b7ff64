// SPDX-License-Identifier: Apache-2.0
// paths/host/plan_instance.hpp — elements, wrappers and stages of a plan on one host.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/units.hpp"
#include "pastset/element.hpp"
#include "paths/path_values.hpp"
#include "paths/plan/plan.hpp"
#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

class SharedElements;
class Deployment;

/// Elements, wrappers and stages of a plan on one host. The constructor makes all of them.
///
/// Owns: wrappers and stages. Shares the elements with the space of the host.
/// Thread-safe. Stages are constant after construction.
class PlanInstance {
 public:
  /// `deployment` and `shared` outlive this object. Wrappers keep a reference to the deployment.
  PlanInstance(Deployment& deployment, SharedElements& shared, const WrapperKinds& kinds);

  /// Returns the stage with this id; nullptr if the stage is on another host.
  const Stage* stage(StageId id) const;
  /// Returns the stages of this host from which paths continue on another host.
  const std::vector<const Stage*>& exits() const { return exits_; }
  /// Returns the paths of the plan that begin on this host.
  const std::vector<std::uint32_t>& paths() const;
  /// Returns the types of the tuples that a thread may move and read on `path`.
  /// Requires: threads of this host begin the path.
  const PathValues& values_of(std::uint32_t path) const;

  void start_wrappers();
  void stop_wrappers();
  /// Blocks until all operations that wrappers have started have ended.
  void drain_wrappers();
  /// Fails the late operations: those that wait in a wrapper without blocking a thread or fiber,
  /// and whose deadline has passed at `now`. Returns the earliest deadline of the operations that
  /// still wait in this way.
  base::Nanos end_late(base::Nanos now);
  /// Fails all operations that wait in a wrapper without blocking a thread or fiber.
  void give_up();

  /// Adds an error mark with the text `reason` to the elements. Readers on other hosts then get the
  /// remaining tuples, and after the last tuple the error.
  void mark_elements(const std::string& reason);
  void delete_elements();

 private:
  void make_elements(const Plan::HostPlan& share, SharedElements& shared);
  void make_wrappers(const Plan::HostPlan& share, const WrapperKinds& kinds);
  void make_stages(const Plan::HostPlan& share);
  template <class Act>
  void each_element(const char* what, Act act);

  Deployment& deployment_;
  std::vector<std::shared_ptr<pastset::Element>> elements_;  // sorted by name
  std::vector<std::unique_ptr<Wrapper>> wrappers_;           // same order as HostPlan::wrappers
  std::unordered_map<StageId, Stage> stages_;                // stages keep their addresses
  std::vector<const Stage*> exits_;
  std::vector<const PathValues*> values_;  // one per path of paths(); nullptr if no thread uses it
};

}  // namespace paths
