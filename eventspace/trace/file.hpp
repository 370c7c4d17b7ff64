// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/file.hpp — file access with errors that name the file and the reason.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/descriptor.hpp"

namespace eventspace {

/// Open file whose errors name the file and the reason.
///
/// Throws: std::runtime_error from each function, such as "a/b.trace: cannot write: No space left
///         on device".
class File {
 public:
  /// Creates a file. Throws if it exists, so that no measurement is overwritten.
  static File create(const std::filesystem::path& path);
  static File to_append(const std::filesystem::path& path);
  static File to_read(const std::filesystem::path& path);
  std::uint64_t size() const;
  /// Appends both spans to the file, with one system call. If the kernel writes only a part at a
  /// time, it uses several system calls.
  void append(std::span<const std::byte> first, std::span<const std::byte> second = {});
  /// Reads bytes from offset `place` of the file into `into`. Returns the number of bytes read,
  /// which is less than into.size() only at the end of the file.
  std::size_t read(std::uint64_t place, std::span<std::byte> into) const;

 private:
  File(std::filesystem::path path, base::Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}
  std::filesystem::path path_;
  base::Descriptor descriptor_;
};

void make_directory(const std::filesystem::path& path);  ///< also creates missing parents
std::string read_whole(const std::filesystem::path& path);
/// Writes a file. Readers never see an incomplete file, even if several processes write the file at
/// the same time. Throws: std::runtime_error if the file exists with other contents.
void write_whole(const std::filesystem::path& path, std::string_view text);

}  // namespace eventspace
