// SPDX-License-Identifier: Apache-2.0
// eventspace/export/export_file.hpp — new file that an export writes in large pieces.
#pragma once
#include <filesystem>
#include <string>

#include "base/output_file.hpp"

namespace eventspace {

/// A new output file. It buffers text or bytes and writes them in large pieces.
/// Throws: std::runtime_error if the file exists.
class ExportFile {
 public:
  explicit ExportFile(const std::filesystem::path& path);
  std::string& text() { return text_; }  ///< buffer to which callers append
  void write_when_much();
  void finish();

 private:
  void write();
  base::OutputFile file_;
  std::string text_;
};

}  // namespace eventspace
