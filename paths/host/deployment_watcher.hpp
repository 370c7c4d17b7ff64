// SPDX-License-Identifier: Apache-2.0
// paths/host/deployment_watcher.hpp — observer of the deployments that deploy() makes on a host.
#pragma once

namespace paths {

class Deployment;

/// Observer of those deployments of a host that Host::deploy() makes: all except the deployment of
/// the config's plan. The host calls the functions in the order of their declaration, in the thread
/// or fiber that makes or ends the deployment. If made() or wired() throws, deploy() fails.
class DeploymentWatcher {
 public:
  virtual ~DeploymentWatcher() = default;
  /// Called before the first operation of the deployment.
  virtual void made(Deployment& deployment) = 0;
  /// Called when all peers are connected. Not called if the deployment has failed before.
  virtual void wired(Deployment& deployment) = 0;
  /// Called after the last operation of the deployment.
  virtual void ended(Deployment& deployment) noexcept = 0;
};

}  // namespace paths
