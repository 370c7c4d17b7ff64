// SPDX-License-Identifier: Apache-2.0
// base/output_file.hpp — an output file that is written completely or not at all
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"

namespace base {

/// A failed write, with its reason. what() is "a.json: cannot be written: " and a reason, such as
/// "there is no folder b" or "No space left on device: 0 bytes of 1.0 MiB are free on the disk at
/// /tmp".
struct OutputError : std::runtime_error {
  OutputError(const std::string& path, const std::string& why);
  std::string reason;
};

/// A file that appears under its name only when it is complete. Until then it has a temporary name
/// in the same folder. Therefore no reader sees a partial file. If the disk is full, an older file
/// of that name stays unchanged. Pipes and devices are written directly.
///
/// Owns: the unfinished file, which its destructor removes.
/// Throws: OutputError from all functions.
class OutputFile {
 public:
  /// Action if a regular file of that name exists.
  enum class IfThere : std::uint8_t { replace, refuse };

  explicit OutputFile(std::string path, IfThere if_there = IfThere::replace);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void append(std::string_view bytes);
  /// Completes the file and gives it its final name. append() must not be called afterwards.
  void finish();

 private:
  [[noreturn]] void fail(int error) const;
  void write_pending();
  void put_in_place() const;

  const std::string path_;  ///< path that the caller passed
  std::string target_;      ///< path with all symbolic links resolved
  std::string unfinished_;  ///< temporary name; empty if the target is written directly
  IfThere if_there_;
  Descriptor descriptor_;
  std::string pending_;  ///< bytes that are not written yet
};

void write_file(const std::string& path, std::string_view text);

/// Checks that the file could be written now, and leaves no file. Throws OutputError if the file
/// could not be written.
void check_can_write(const std::string& path);

/// Returns the text of the error `error` (an errno). If the disk or the user's quota is full, the
/// text names the disk and its free space.
std::string disk_error_text(const std::string& path, int error);

/// Tries to write a file into `folder`. Returns the errno; 0 = success.
int find_disk_error(const std::string& folder);

}  // namespace base
