// SPDX-License-Identifier: Apache-2.0
// paths/keys/run_key.cpp — id and keys derived from a run key, and the variable that carries it
#include "paths/keys/run_key.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/errors.hpp"

namespace paths {
namespace {

// Values that are derived from the run key, each with a number of its own. A value discloses
// nothing about the other values.
enum class Derived : std::uint64_t { curve_secret = 1, id = 2 };
constexpr char context[crypto_kdf_CONTEXTBYTES + 1] = "PATHSrun";

void derive(const Secret& from, Derived what, std::span<std::uint8_t> into) {
  crypto_kdf_derive_from_key(into.data(), into.size(), static_cast<std::uint64_t>(what), context,
                             from.bytes().data());
}

}  // namespace

base::Digest RunKey::id() const {
  base::Digest id;
  std::uint8_t bytes[sizeof id.high + sizeof id.low];
  derive(secret_, Derived::id, bytes);
  std::memcpy(&id.high, bytes, sizeof id.high);
  std::memcpy(&id.low, bytes + sizeof id.high, sizeof id.low);
  return id;
}

CurveKeys RunKey::curve_keys() const {
  Secret secret;
  derive(secret_, Derived::curve_secret, secret.bytes());
  return CurveKeys(std::move(secret));
}

LockedMemory RunKey::variable() const {
  const std::string_view name = run_key_variable;
  LockedMemory text(name.size() + 1 + 2 * key_bytes + 1);
  auto* const written = reinterpret_cast<char*>(text.bytes().data());
  std::copy(name.begin(), name.end(), written);
  written[name.size()] = '=';
  secret_.write_digits(std::span<char, 2 * key_bytes>(written + name.size() + 1, 2 * key_bytes));
  return text;
}

std::shared_ptr<const RunKey> take_run_key() {
  static std::shared_ptr<const RunKey> taken;
  char* const value = std::getenv(run_key_variable);
  if (value == nullptr) return taken;
  const std::size_t size = std::strlen(value);
  if (size > 0) {
    auto secret = Secret::parse({value, size});
    wipe({value, size});
    if (!secret)
      throw base::ConfigError(
          {{base::Position{"environment", 0, 0},
            fmt::format("{}: expected the {} hexadecimal digits of a run key, found {} characters",
                        run_key_variable, 2 * key_bytes, size)}});
    taken = std::make_shared<const RunKey>(std::move(*secret));
  }
  unsetenv(run_key_variable);
  return taken;
}

}  // namespace paths
