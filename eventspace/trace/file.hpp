// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/file.hpp — bytes to and from files, with errors that name the file and the
// reason.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace eventspace {

/// An open file. Every function throws std::runtime_error: "a/b.trace: cannot write: No space left
/// on device".
class File {
 public:
  /// What must not be there yet: a measurement is not written over.
  static File create(const std::filesystem::path& path);
  static File to_append(const std::filesystem::path& path);
  static File to_read(const std::filesystem::path& path);
  File(File&& other) noexcept;
  ~File();

  std::uint64_t size() const;
  /// Behind what is there, in one call to the kernel unless that takes only a part.
  void append(std::span<const std::byte> first, std::span<const std::byte> second = {});
  /// How many bytes there were to read from `place` on, less than asked for only at the end.
  std::size_t read(std::uint64_t place, std::span<std::byte> into) const;

 private:
  File(std::filesystem::path path, int descriptor);
  std::filesystem::path path_;
  int descriptor_;
};

void make_directory(const std::filesystem::path& path);  ///< and those above it
std::string read_whole(const std::filesystem::path& path);
/// No reader sees a part of it, even when several processes write it at once. A file that is there
/// already must be the same.
void write_whole(const std::filesystem::path& path, std::string_view text);

}  // namespace eventspace
