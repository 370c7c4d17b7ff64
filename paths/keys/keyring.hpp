// SPDX-License-Identifier: Apache-2.0
// paths/keys/keyring.hpp — the keys of a host and of its peers
#pragma once
#include <map>
#include <optional>
#include <string>

#include "paths/keys/host_keys.hpp"
#include "paths/keys/run_key.hpp"
#include "paths/keys/secret.hpp"

namespace paths {

/// The key pair by which a host proves its identity to its peers, and the public keys by which the
/// host recognises its peers.
///
/// Thread-safe: all const functions.
class Keyring {
 public:
  /// Makes the keyring of a run whose processes all have the same pair of keys. This pair proves
  /// that a process belongs to the run, but not which host the process runs.
  explicit Keyring(const RunKey& key);
  /// Makes the keyring of a run in which each host has a pair of keys of its own. `own` is the pair
  /// of this host.
  Keyring(CurveKeys own, const HostKeys& hosts);
  virtual ~Keyring() = default;

  const CurveKeys& own() const { return own_; }
  /// Returns the name of the host that has the public key `key`. Returns "" if all processes of the
  /// run have this key, and nullopt if no peer may connect with this key.
  virtual std::optional<std::string> owner_of(const PublicKey& key) const;
  /// Returns the public key that `host` must have when this host connects to `host`. This key
  /// is the first key of `host`, or the key of the run if all processes share one key.
  const PublicKey& key_of(const std::string& host) const;
  /// Returns the name of the owner of the key that `host` must have, for messages: "this run" or
  /// "host NAME".
  std::string owner_text(const std::string& host) const;

 private:
  CurveKeys own_;
  std::map<PublicKey, std::string> owners_;
  std::map<std::string, PublicKey> first_keys_;  // empty if all processes of the run share one key
};

}  // namespace paths
