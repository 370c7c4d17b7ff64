// SPDX-License-Identifier: Apache-2.0
// paths/keys/key_file.hpp — files with secret keys
#pragma once
#include <memory>
#include <string>

#include "paths/keys/run_key.hpp"

namespace paths {

/// Kind of secret in a file: the key of a run, or of a host. The first line of the file names the
/// kind.
enum class KeyKind : std::uint8_t { run, host };

/// Writes a secret into a new file that only this user can read (mode 0600).
/// Throws: ConfigError if the file exists; it stays as it is. base::OutputError if the file cannot
/// be
///         written.
void write_key_file(const std::string& file, KeyKind kind, const Secret& secret);

/// Reads a secret. Refuses a file that other users can read, that another user owns, or that is not
/// a regular file, such as a symbolic link.
/// Throws: ConfigError that names the file. The error never contains the text of the file.
Secret read_key_file(const std::string& file, KeyKind kind);

/// Returns the run key in `file`. If `file` is "", returns the run key in the environment
/// (take_run_key()); nullptr if the environment has no run key.
///
/// Thread-safe: no, because the function changes the environment.
/// Throws: ConfigError if the key cannot be read, or if the environment has a run key that differs
///         from the key in the file.
std::shared_ptr<const RunKey> find_run_key(const std::string& file);

}  // namespace paths
