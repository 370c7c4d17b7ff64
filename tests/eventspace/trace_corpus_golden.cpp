// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/trace_corpus_golden.cpp — reading of stored trace files that earlier versions of
// PATHS or fuzzing have made.
//
// Files of earlier versions must be read with the same result forever, including the errors. A new
// version of the format adds new files and does not change the old ones.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "tests/eventspace/trace_sample.hpp"
#include "tests/support/golden.hpp"

namespace {

namespace fs = std::filesystem;

std::string reading_of(const fs::path& file) {
  try {
    const trace_sample::Read read = trace_sample::read_trace(file);
    const eventspace::TraceLosses& lost = read.losses;
    std::string text = fmt::format("{} records{}", read.records.size(),
                                   read.ended ? ", ended" : ", without an end");
    const auto mention = [&text](std::uint64_t count, std::string_view what) {
      if (count > 0) text += fmt::format("; {} {}", count, what);
    };
    mention(lost.records_dropped, "records dropped");
    mention(lost.records_missing, "records missing");
    mention(lost.damaged_places, "damaged places");
    mention(lost.chunks_cut_off, "chunks cut off");
    mention(lost.chunks_unknown, "chunks unknown");
    mention(lost.chunks_repeated, "chunks repeated");
    mention(lost.bytes_unused, "bytes unused");
    if (lost.is_header_damaged) text += "; head damaged";
    CHECK(trace_sample::are_as_written(read.records));
    return text;
  } catch (const std::runtime_error& error) {
    const std::string text = error.what();
    return "refused" + text.substr(std::min(text.size(), file.string().size()));
  }
}

}  // namespace

TEST_CASE("trace corpus: every kept file is read with the same result as before") {
  const fs::path corpus = fs::path(PATHS_SOURCE_DIR) / "tests/eventspace/corpus";
  std::vector<fs::path> files(fs::directory_iterator(corpus), {});
  std::sort(files.begin(), files.end());
  std::string found;
  for (const fs::path& file : files)
    found += fmt::format("{}: {}\n", file.filename().string(), reading_of(file));
  CHECK(found == test_support::golden("trace_corpus.txt", found));
}
