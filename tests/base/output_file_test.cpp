// SPDX-License-Identifier: Apache-2.0
// tests/base/output_file_test.cpp — files that appear completely or not at all.
#include "base/output_file.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

namespace fs = std::filesystem;
using Catch::Contains;

class OutputFolder {
 public:
  OutputFolder() { fs::create_directories(path_); }
  ~OutputFolder() { fs::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), {}));
  }

 private:
  fs::path path_ = fs::temp_directory_path() / fmt::format("paths-output-{}", ::getpid());
};

/// Limits the size of the files of this process. Simulates a full disk without one.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit now = before_;
    now.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~SizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

std::string text_of(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void put_text(const std::string& file, const std::string& text) { std::ofstream(file) << text; }

}  // namespace

TEST_CASE("output file: the old file stays until the new one is finished") {
  const OutputFolder folder;
  const std::string file = folder / "a";
  put_text(file, "old");
  ::chmod(file.c_str(), 0640);
  {
    base::OutputFile unfinished(file);
    unfinished.append(std::string(1 << 20, 'x'));
    CHECK(text_of(file) == "old");
  }
  CHECK(text_of(file) == "old");
  CHECK(folder.entries() == 1);
  base::write_file(file, "new");
  CHECK(text_of(file) == "new");
  CHECK(folder.entries() == 1);
  struct stat facts {};
  ::stat(file.c_str(), &facts);
  CHECK((facts.st_mode & 0777) == 0640);
}

TEST_CASE("output file: a failed write leaves no new file and names the file") {
  const OutputFolder folder;
  const std::string text(1 << 20, 'x');
  put_text(folder / "old", "old");
  {
    const SizeLimit limit(4096);
    CHECK_THROWS_WITH(base::write_file(folder / "new", text),
                      (folder / "new") + ": cannot be written: File too large");
    CHECK_THROWS_WITH(base::write_file(folder / "old", text), Contains("File too large"));
  }
  CHECK(text_of(folder / "old") == "old");
  CHECK(folder.entries() == 1);
}

TEST_CASE("output file: the error of a full disk names the disk and its free space") {
  CHECK_THROWS_WITH(base::write_file("/dev/full", "text"),
                    Contains("/dev/full: cannot be written: No space left on device: ") &&
                        Contains(" are free on the disk at /dev"));
  CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE(
    "output file: an existing file that must not be replaced is refused before anything is "
    "written") {
  const OutputFolder folder;
  using IfThere = base::OutputFile::IfThere;
  put_text(folder / "a", "old");
  CHECK_THROWS_WITH(base::OutputFile(folder / "a", IfThere::refuse), Contains("File exists"));
  base::OutputFile late(folder / "b", IfThere::refuse);
  put_text(folder / "b", "another's");
  CHECK_THROWS_WITH(late.finish(), Contains("File exists"));
  CHECK(text_of(folder / "b") == "another's");
}

TEST_CASE("output file: a symbolic link stays and its target is replaced") {
  const OutputFolder folder;
  put_text(folder / "a", "old");
  fs::create_symlink("a", folder / "link");
  base::write_file(folder / "link", "new");
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(text_of(folder / "a") == "new");
  CHECK(folder.entries() == 2);
}

TEST_CASE("output file: a file that cannot be written is reported before the work starts") {
  const OutputFolder folder;
  CHECK_THROWS_WITH(
      base::check_can_write(folder / "nowhere/a"),
      (folder / "nowhere/a") + ": cannot be written: there is no folder " + (folder / "nowhere"));
  CHECK_THROWS_WITH(base::check_can_write(folder / ""), Contains("Is a directory"));
  base::check_can_write(folder / "a");
  CHECK(folder.entries() == 0);
}
