// SPDX-License-Identifier: Apache-2.0
// paths/keys/secret.cpp — locked memory and hexadecimal digits of libsodium
#include "paths/keys/secret.hpp"

#include <sodium.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/errors.hpp"

namespace paths {
namespace {

std::uint8_t* allocated(std::size_t bytes) {
  static const bool is_ready = sodium_init() >= 0;  // sodium_init() may run twice or concurrently
  ENSURE(is_ready);
  auto* const memory = static_cast<std::uint8_t*>(sodium_malloc(bytes));
  if (memory == nullptr) throw std::bad_alloc();
  sodium_memzero(memory, bytes);
  return memory;
}

}  // namespace

LockedMemory::LockedMemory(std::size_t bytes) : size_(bytes), memory_(allocated(bytes)) {}

void LockedMemory::Free::operator()(std::uint8_t* memory) const { sodium_free(memory); }

Secret Secret::random() {
  Secret made;
  randombytes_buf(made.bytes().data(), key_bytes);  // uses getrandom(2)
  return made;
}

std::optional<Secret> Secret::parse(std::string_view digits) {
  Secret read;
  std::size_t bytes = 0;
  if (digits.size() != 2 * key_bytes ||
      sodium_hex2bin(read.bytes().data(), key_bytes, digits.data(), digits.size(), nullptr, &bytes,
                     nullptr) != 0 ||
      bytes != key_bytes)
    return std::nullopt;
  return read;
}

void Secret::write_digits(std::span<char, 2 * key_bytes> digits) const {
  LockedMemory text(2 * key_bytes + 1);  // sodium_bin2hex() adds a terminating zero
  auto* const written = reinterpret_cast<char*>(text.bytes().data());
  sodium_bin2hex(written, text.bytes().size(), bytes().data(), key_bytes);
  std::copy_n(written, digits.size(), digits.data());
}

bool operator==(const Secret& a, const Secret& b) {
  return sodium_memcmp(a.bytes().data(), b.bytes().data(), key_bytes) == 0;
}

void wipe(std::span<char> memory) { sodium_memzero(memory.data(), memory.size()); }

CurveKeys::CurveKeys(Secret its_secret) : public_key{}, secret(std::move(its_secret)) {
  crypto_scalarmult_base(public_key.data(), secret.bytes().data());
}

}  // namespace paths
