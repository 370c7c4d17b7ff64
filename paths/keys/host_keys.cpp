// SPDX-License-Identifier: Apache-2.0
// paths/keys/host_keys.cpp — keys that are derived from Ed25519 seeds
#include "paths/keys/host_keys.hpp"

#include <sodium.h>

#include <cstdlib>
#include <utility>

#include "base/errors.hpp"

namespace paths {
namespace {

/// Returns the value of an environment variable; "" if the variable is not set.
std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

PublicKey public_key_of(const Secret& seed) {
  PublicKey key{};
  const LockedMemory secret(crypto_sign_SECRETKEYBYTES);
  crypto_sign_seed_keypair(key.data(), secret.bytes().data(), seed.bytes().data());
  return key;
}

CurveKeys curve_keys_of(const Secret& seed) {
  PublicKey key{};
  const LockedMemory secret(crypto_sign_SECRETKEYBYTES);
  crypto_sign_seed_keypair(key.data(), secret.bytes().data(), seed.bytes().data());
  Secret curve;
  crypto_sign_ed25519_sk_to_curve25519(curve.bytes().data(), secret.bytes().data());
  return CurveKeys(std::move(curve));
}

std::optional<PublicKey> parse_public_key(std::string_view digits) {
  PublicKey key, curve;
  std::size_t bytes = 0;
  const bool is_key = digits.size() == 2 * key_bytes &&
                      sodium_hex2bin(key.data(), key.size(), digits.data(), digits.size(), nullptr,
                                     &bytes, nullptr) == 0 &&
                      bytes == key.size() &&
                      crypto_sign_ed25519_pk_to_curve25519(curve.data(), key.data()) == 0;
  return is_key ? std::optional(key) : std::nullopt;
}

std::string digits_of(const PublicKey& key) {
  char text[2 * key_bytes + 1];
  sodium_bin2hex(text, sizeof text, key.data(), key.size());
  return text;
}

PublicKey curve_key_of(const PublicKey& key) {
  PublicKey curve;
  ENSURE(crypto_sign_ed25519_pk_to_curve25519(curve.data(), key.data()) == 0);
  return curve;
}

std::string key_file_of(const HostKeys& keys, const std::string& host) {
  if (std::string given = variable("PATHS_KEY"); !given.empty()) return given;
  if (!keys.own_file.empty()) return keys.own_file;
  std::string folder = variable("XDG_CONFIG_HOME");
  if (folder.empty()) folder = variable("HOME") + "/.config";
  return folder + "/paths/" + host + ".key";
}

}  // namespace paths
