// SPDX-License-Identifier: Apache-2.0
// paths/keys/host_keys.hpp — identities of hosts: Ed25519 seeds, and the list of public keys
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paths/keys/secret.hpp"

namespace paths {

/// The public keys of hosts, as a config names them.
struct HostKeys {
  std::string written;      ///< name of the list of public keys, as in the config
  std::string own_file;     ///< file with the secret of the own host; "" = the usual place
  std::string own_written;  ///< the same, as in the config
  /// Ed25519 public keys by host; a host listens with the first one.
  std::map<std::string, std::vector<PublicKey>> keys;
};

/// Returns the key of 64 hexadecimal digits; nullopt if the text is no Ed25519 public key.
std::optional<PublicKey> parse_public_key(std::string_view digits);
std::string digits_of(const PublicKey& key);
/// Returns the Ed25519 public key of a seed.
PublicKey public_key_of(const Secret& seed);
/// Returns the pair of CURVE keys of a seed.
CurveKeys curve_keys_of(const Secret& seed);
/// Returns the CURVE public key of an Ed25519 public key.
PublicKey curve_key_of(const PublicKey& key);

/// Returns the file with the secret of `host`: the file that PATHS_KEY names, that the config
/// names, or that is in the folder $XDG_CONFIG_HOME/paths.
std::string key_file_of(const HostKeys& keys, const std::string& host);

}  // namespace paths
