// SPDX-License-Identifier: Apache-2.0
// paths/keys/run_key.hpp — the secret that all processes of a run share
#pragma once
#include <memory>
#include <string_view>
#include <utility>

#include "base/digest.hpp"
#include "paths/keys/secret.hpp"

namespace paths {

/// Name of the environment variable by which a launcher hands the run key to its processes.
inline constexpr const char* run_key_variable = "PATHS_RUN_KEY";

/// The secret of a run. A process that has this secret belongs to the run.
///
/// Why: One secret is enough, because the id of the run, and the keys by which processes of the run
///      recognise each other, are derived from the secret. Without encryption, networks transmit
///      the id in the clear. The id discloses nothing about the secret, because it is a
///      cryptographic hash.
class RunKey {
 public:
  explicit RunKey(Secret secret) : secret_(std::move(secret)) {}

  /// Returns the id of the run, which every frame of the run contains.
  base::Digest id() const;
  /// Returns the pair of CURVE keys that all hosts and switches of the run share.
  CurveKeys curve_keys() const;
  const Secret& secret() const { return secret_; }
  /// Returns the environment variable for processes of the run: "PATHS_RUN_KEY=", the digits of the
  /// secret, and a terminating zero.
  LockedMemory variable() const;

 private:
  Secret secret_;
};

/// Returns the run key that a launcher handed to this process in the environment; nullptr if there
/// is no such key. Wipes and removes the environment variable, so that programs that this process
/// starts do not inherit the key. Later calls return the same key, unless the environment variable
/// was set again.
///
/// Thread-safe: no, because the function changes the environment.
/// Throws: ConfigError if the variable is not a key.
std::shared_ptr<const RunKey> take_run_key();

}  // namespace paths
