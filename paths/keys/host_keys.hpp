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

/// The public keys of all hosts, and the files with keys that the config names.
struct HostKeys {
  std::string written;      ///< file name of the list of public keys, as written in the config
  std::string own_file;     ///< file with the secret of this host; "" = the default file
  std::string own_written;  ///< file name of the secret, as written in the config
  /// Ed25519 public keys of each host, keyed by host name. A host listens with its first key.
  std::map<std::string, std::vector<PublicKey>> keys;
};

/// Returns the key that 64 hexadecimal digits describe; nullopt if the digits do not describe an
/// Ed25519 public key.
std::optional<PublicKey> parse_public_key(std::string_view digits);
std::string digits_of(const PublicKey& key);
/// Returns the Ed25519 public key of a seed.
PublicKey public_key_of(const Secret& seed);
/// Returns the pair of CURVE keys of a seed.
CurveKeys curve_keys_of(const Secret& seed);
/// Returns the CURVE public key of an Ed25519 public key.
PublicKey curve_key_of(const PublicKey& key);

/// Returns the file with the secret of `host`: the file that the variable PATHS_KEY names,
/// otherwise the file that the config names, otherwise a file in the folder $XDG_CONFIG_HOME/paths.
std::string key_file_of(const HostKeys& keys, const std::string& host);

}  // namespace paths
