// SPDX-License-Identifier: Apache-2.0
// groups/group_view.hpp — unchanging facts about a group, as one of its hosts sees them.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "groups/calls/layout.hpp"
#include "groups/selection/selection.hpp"
#include "paths/host/deployment.hpp"
#include "paths/travel_error.hpp"
#include "runtime/runtime.hpp"

namespace groups {

/// Name, members and hosts of a group, and the texts that name its members. "This host" is the host
/// that made the deployment. Functions identify a member by its place in the layout.
///
/// Borrows:     the deployment.
/// Thread-safe: yes; immutable.
class GroupView {
 public:
  /// `threads` lists threads of the deployment's plan, ordered by rank; nullptr = all of them.
  GroupView(paths::Deployment& deployment, std::string name,
            const std::vector<std::uint32_t>* threads);

  const std::string& name() const { return name_; }
  paths::Deployment& deployment() const { return deployment_; }
  const paths::Plan& plan() const { return deployment_.plan(); }
  runtime::Runtime& runtime() const { return deployment_.runtime(); }
  const Layout& layout() const { return *layout_; }
  /// Returns the selector of schedules for the links as the config states them.
  const std::shared_ptr<Selector>& selector() const { return selector_; }
  /// Returns the host number in the run for each participant.
  const std::vector<std::uint32_t>& hosts() const { return selector_->hosts(); }
  /// Returns the number of this host as a participant.
  std::uint32_t participant() const { return me_; }
  /// Returns the number of members on this host.
  std::uint32_t member_count() const { return layout_->members_on(me_); }
  /// Returns the place of a member of this host.
  std::uint32_t place(std::size_t member) const {
    return layout_->first_on(me_) + static_cast<std::uint32_t>(member);
  }
  /// Returns whether a participant is in another cluster than this host.
  bool is_in_other_cluster(std::uint32_t participant) const;
  /// Returns the deadline of a wait that begins now.
  runtime::Deadline deadline() const;
  /// Returns the name of a member's thread for messages, such as "thread a-0/1".
  std::string thread_text(std::uint32_t place) const;
  /// Returns the threads of the members on a host of the run, in the format that
  /// Host::why_absent() reads.
  std::string threads_text(std::uint32_t host) const;
  /// Returns a failure of this group, found by this host.
  paths::Failure failure_of(const std::string& reason, paths::FailureCause cause) const;

 private:
  paths::Deployment& deployment_;
  const std::string name_;
  const std::shared_ptr<const Layout> layout_;
  const std::uint32_t me_;
  const std::shared_ptr<Selector> selector_;
};

}  // namespace groups
