// SPDX-License-Identifier: Apache-2.0
// base/output_file.hpp — a file that a program writes: whole, or not at all.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"

namespace base {

/// "a.json: cannot be written: " and the reason: "No space left on device: 0 bytes of 1.0 MiB are
/// free on the disk at /tmp", or "there is no folder b".
struct OutputError : std::runtime_error {
  OutputError(const std::string& path, const std::string& why);
  std::string reason;
};

/// A new file under another name in the same folder until it is whole. So no reader takes a part
/// for the whole, and a full disk leaves nothing behind, or the old file as it was. A pipe or
/// a device of that name is written to directly.
///
/// Owns:   the unfinished file, which it removes.
/// Throws: OutputError from all functions.
class OutputFile {
 public:
  /// Where there is an ordinary file of that name.
  enum class IfThere : std::uint8_t { replace, refuse };

  explicit OutputFile(std::string path, IfThere if_there = IfThere::replace);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void append(std::string_view bytes);
  /// Gives the file its name. Nothing may be appended after it.
  void finish();

 private:
  [[noreturn]] void fail(int error) const;
  void write_pending();
  void put_in_place() const;

  const std::string path_;  ///< as the caller says it
  std::string target_;      ///< where links lead
  std::string unfinished_;  ///< "" if the target is written to directly
  IfThere if_there_;
  Descriptor descriptor_;
  std::string pending_;  ///< appended and not written yet
};

void write_file(const std::string& path, std::string_view text);

/// Throws OutputError if the file could not be written now. Leaves nothing.
void check_can_write(const std::string& path);

/// The reason in words. If the disk is full, or what the user may write there, it names the disk,
/// with how much of it is free.
std::string disk_error_text(const std::string& path, int error);

/// The error that a write into this folder ends with now, 0 for none. It tries one.
int find_disk_error(const std::string& folder);

}  // namespace base
