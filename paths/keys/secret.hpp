// SPDX-License-Identifier: Apache-2.0
// paths/keys/secret.hpp — secret bytes in memory that is locked and wiped
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace paths {

inline constexpr std::size_t key_bytes = 32;

/// A public key, of CURVE or Ed25519.
using PublicKey = std::array<std::uint8_t, key_bytes>;

/// Memory for secrets. As far as the kernel permits, this memory is not written to the swap space
/// or to a core dump. The destructor wipes the memory. The memory is zero at first.
///
/// Owns: the memory.
/// Throws: std::bad_alloc.
class LockedMemory {
 public:
  explicit LockedMemory(std::size_t bytes);
  std::span<std::uint8_t> bytes() const { return {memory_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::uint8_t* memory) const;
  };
  std::size_t size_;
  std::unique_ptr<std::uint8_t[], Free> memory_;
};

/// A secret of 32 bytes.
class Secret {
 public:
  Secret() : memory_(key_bytes) {}
  /// Returns 32 random bytes from getrandom(2). The numbers of runtime::Random cannot be used for
  /// secrets. They depend on the seed of the program, so they can be guessed.
  static Secret random();
  /// Returns the secret that 64 hexadecimal digits describe; nullopt for any other text.
  static std::optional<Secret> parse(std::string_view digits);

  std::span<std::uint8_t, key_bytes> bytes() { return memory_.bytes().first<key_bytes>(); }
  std::span<const std::uint8_t, key_bytes> bytes() const {
    return memory_.bytes().first<key_bytes>();
  }
  /// Writes the secret to `digits`, as 64 hexadecimal digits.
  void write_digits(std::span<char, 2 * key_bytes> digits) const;
  /// Compares all bytes of both secrets, so that the duration does not depend on the values of the
  /// bytes.
  friend bool operator==(const Secret& a, const Secret& b);

 private:
  LockedMemory memory_;
};

/// Overwrites memory that contains a secret.
void wipe(std::span<char> memory);

/// A pair of keys for CURVE, the encryption of ZeroMQ.
struct CurveKeys {
  explicit CurveKeys(Secret its_secret);
  PublicKey public_key;
  Secret secret;
};

}  // namespace paths
