// SPDX-License-Identifier: Apache-2.0
// eventspace/export/export_file.cpp — writes of a new file in large pieces.
#include "eventspace/export/export_file.hpp"

#include <cstddef>

namespace eventspace {

ExportFile::ExportFile(const std::filesystem::path& path)
    : file_(path.string(), base::OutputFile::IfThere::refuse) {}

void ExportFile::write_when_much() {
  constexpr std::size_t write_bytes = std::size_t{1} << 20;
  if (text_.size() >= write_bytes) write();
}

void ExportFile::write() {
  file_.append(text_);
  text_.clear();
}

void ExportFile::finish() {
  write();
  file_.finish();
}

}  // namespace eventspace
