// SPDX-License-Identifier: Apache-2.0
// paths/host/wiring_watcher.hpp — who is told of the further wirings of a host.
#pragma once

namespace paths {

class Wiring;

/// Is told of a host's further wirings, in this order, by whatever context makes and ends them.
/// What it throws fails the call.
class WiringWatcher {
 public:
  virtual ~WiringWatcher() = default;
  virtual void made(Wiring& wiring) = 0;            ///< nothing has passed it yet
  virtual void wired(Wiring& wiring) = 0;           ///< its peers are; not of one that fails before
  virtual void ended(Wiring& wiring) noexcept = 0;  ///< nothing passes it any more
};

}  // namespace paths
