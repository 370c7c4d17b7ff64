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

/// The keys by which a host proves its identity to its peers, and recognises its peers.
///
/// Thread-safe: all const functions.
class Keyring {
 public:
  /// All processes of the run have the same pair of keys. It proves membership, not a name.
  explicit Keyring(const RunKey& key);
  /// Each host has keys of its own. `own` is the pair of this host.
  Keyring(CurveKeys own, const HostKeys& hosts);
  virtual ~Keyring() = default;

  const CurveKeys& own() const { return own_; }
  /// Returns the host that has this key; "" if all processes of the run have it; nullopt if no peer
  /// may connect with it.
  virtual std::optional<std::string> owner_of(const PublicKey& key) const;
  /// Returns the key that `host` must prove when this host connects to it: the first key of `host`.
  const PublicKey& key_of(const std::string& host) const;
  /// Returns the name of the owner of the key that `host` must have, for messages: "this run" or
  /// "host NAME".
  std::string owner_text(const std::string& host) const;

 private:
  CurveKeys own_;
  std::map<PublicKey, std::string> owners_;
  std::map<std::string, PublicKey> first_keys_;  // empty if all processes of the run have one key
};

}  // namespace paths
