// SPDX-License-Identifier: Apache-2.0
// paths/host/deployment_watcher.hpp — observer of the deployments that deploy() makes on a host.
#pragma once

namespace paths {

class Deployment;

/// Observer of the deployments that Host::deploy() makes on a host. (Host::deploy() makes all
/// deployments except that of the config's plan.) The host calls made(), wired() and ended() in
/// this order, in the thread or fiber that makes or ends the deployment. If made() or wired()
/// throws, deploy() fails.
class DeploymentWatcher {
 public:
  virtual ~DeploymentWatcher() = default;
  /// Is called before the first operation of the deployment.
  virtual void made(Deployment& deployment) = 0;
  /// Is called when all peers are connected. Is not called if the deployment has failed.
  virtual void wired(Deployment& deployment) = 0;
  /// Is called after the last operation of the deployment.
  virtual void ended(Deployment& deployment) noexcept = 0;
};

}  // namespace paths
