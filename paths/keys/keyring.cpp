// SPDX-License-Identifier: Apache-2.0
// paths/keys/keyring.cpp — look-ups in a keyring
#include "paths/keys/keyring.hpp"

#include <utility>

namespace paths {

Keyring::Keyring(const RunKey& key) : own_(key.curve_keys()), owners_{{own_.public_key, ""}} {}

Keyring::Keyring(CurveKeys own, const HostKeys& hosts) : own_(std::move(own)) {
  for (const auto& [host, keys] : hosts.keys) {
    first_keys_.emplace(host, curve_key_of(keys.at(0)));
    for (const PublicKey& key : keys) owners_.emplace(curve_key_of(key), host);
  }
}

std::optional<std::string> Keyring::owner_of(const PublicKey& key) const {
  const auto found = owners_.find(key);
  return found == owners_.end() ? std::nullopt : std::optional(found->second);
}

const PublicKey& Keyring::key_of(const std::string& host) const {
  return first_keys_.empty() ? own_.public_key : first_keys_.at(host);
}

std::string Keyring::owner_text(const std::string& host) const {
  return first_keys_.empty() ? "this run" : "host " + host;
}

}  // namespace paths
