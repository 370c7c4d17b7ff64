// SPDX-License-Identifier: Apache-2.0
// groups/tracing.hpp — what a host does for its groups' operations, recorded while it is traced.
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "eventspace/group_record.hpp"
#include "groups/call.hpp"
#include "groups/layout.hpp"
#include "paths/host/deployment.hpp"
#include "runtime/wait.hpp"

namespace groups {

class GroupTrace;

/// What the traces of all groups of a host count. Any context may use it.
struct TraceNumbers {
  std::atomic<std::uint32_t> shares = 0;
  runtime::Mutex mutex;
  std::map<std::string, std::uint32_t> made;  ///< groups, by name; under the mutex
};

/// A host's share of one operation.
///
/// Sharing: came() by whoever holds the group's lock; the rest by the context that carries it out.
class ShareTrace {
 public:
  ShareTrace(GroupTrace& group, std::uint64_t operation);

  void came(std::size_t member);
  void chose(std::string algorithm) { algorithm_ = std::move(algorithm); }
  std::int64_t now() const;
  std::uint32_t host() const;  ///< in the deployment's plan, like that of a participant:
  std::uint32_t host(std::uint32_t participant) const;
  /// That a step ended now which began then; all but share and end is given.
  void add(eventspace::GroupStep step);
  /// What each member called is lent.
  void end(const std::vector<const Call*>& calls, bool has_failed);

 private:
  GroupTrace& group_;
  const std::uint64_t operation_;
  const std::uint32_t number_;      // of all shares on the host
  std::vector<std::int64_t> came_;  // by member
  std::string algorithm_;
};

/// A group's operations on one host. Where nothing is recorded there is none, and nothing is done
/// but to look whether there is one.
///
/// Owns:    nothing; borrows deployment and layout.
/// Sharing: any context.
class GroupTrace {
 public:
  static std::unique_ptr<GroupTrace> of(paths::Deployment& deployment, const Layout& layout,
                                        std::uint32_t participant, const std::string& name);
  GroupTrace(paths::Deployment& deployment, const Layout& layout, std::uint32_t participant,
             const std::string& name);
  std::unique_ptr<ShareTrace> share(std::uint64_t operation) {
    return std::make_unique<ShareTrace>(*this, operation);
  }

 private:
  friend class ShareTrace;
  std::uint32_t told(const eventspace::GroupOperation& operation);

  paths::Deployment& deployment_;
  const Layout& layout_;
  const std::uint32_t participant_;
  TraceNumbers& numbers_;
  std::string name_;
  runtime::Mutex mutex_;
  std::set<std::uint32_t> told_;  // names that are recorded
};

}  // namespace groups
