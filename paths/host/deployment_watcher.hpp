// SPDX-License-Identifier: Apache-2.0
// paths/host/deployment_watcher.hpp — who is told of the further deployments of a host.
#pragma once

namespace paths {

class Deployment;

/// Is told of a host's further deployments, in this order, by whatever context makes and ends them.
/// What it throws fails the call.
class DeploymentWatcher {
 public:
  virtual ~DeploymentWatcher() = default;
  virtual void made(Deployment& deployment) = 0;   ///< nothing has passed it yet
  virtual void wired(Deployment& deployment) = 0;  ///< its peers are; not of one that fails before
  virtual void ended(Deployment& deployment) noexcept = 0;  ///< nothing passes it any more
};

}  // namespace paths
