// SPDX-License-Identifier: Apache-2.0
// base/digest.cpp — digests with XXH3
#include "base/digest.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <new>

namespace base {
namespace {

Digest digest_from(XXH128_hash_t hash) { return {hash.high64, hash.low64}; }

XXH3_state_t* state_from(void* state) { return static_cast<XXH3_state_t*>(state); }

}  // namespace

std::string Digest::text() const { return fmt::format("{:016x}{:016x}", high, low); }

Digest digest_of(std::span<const std::byte> bytes) {
  return digest_from(XXH3_128bits(bytes.data(), bytes.size()));
}

Digest digest_of(std::string_view text) { return digest_of(std::as_bytes(std::span(text))); }

RunningDigest::RunningDigest() : state_(XXH3_createState()) {
  if (state_ == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(state_from(state_));
}

RunningDigest::~RunningDigest() { XXH3_freeState(state_from(state_)); }

void RunningDigest::add(std::span<const std::byte> bytes) {
  // XXH3 reports an error for a null pointer, even with size 0.
  if (!bytes.empty()) XXH3_128bits_update(state_from(state_), bytes.data(), bytes.size());
}

Digest RunningDigest::value() const { return digest_from(XXH3_128bits_digest(state_from(state_))); }

}  // namespace base
