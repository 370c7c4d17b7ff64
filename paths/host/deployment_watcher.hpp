// SPDX-License-Identifier: Apache-2.0
// paths/host/deployment_watcher.hpp — observer of the further deployments of a host.
#pragma once

namespace paths {

class Deployment;

/// Observer of a host's further deployments, which are those of all plans except the config's. The
/// functions are called in this order, in the context that makes or ends the deployment. An
/// exception of made() or wired() fails deploy().
class DeploymentWatcher {
 public:
  virtual ~DeploymentWatcher() = default;
  virtual void made(Deployment& deployment) = 0;   ///< before the first operation
  virtual void wired(Deployment& deployment) = 0;  ///< peers connected; skipped after a failure
  virtual void ended(Deployment& deployment) noexcept = 0;  ///< after the last operation
};

}  // namespace paths
