// SPDX-License-Identifier: Apache-2.0
// tests/base/output_file_test.cpp — output files that appear either complete or not at all.
#include "base/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "tests/support/folder.hpp"
#include "tests/support/golden.hpp"

namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using test_support::read_text;

struct OutputFolder : test_support::Folder {
  std::string operator/(const std::string& name) const { return file(name); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path()), {}));
  }
};

void put_text(const std::string& file, const std::string& text) { std::ofstream(file) << text; }

/// Function that link() calls instead of making a hard link; empty = link() makes hard links.
std::function<void()> instead_of_linking;

/// Makes link() fail, as on a disk without hard links, while this object exists.
struct DiskWithoutHardLinks {
  explicit DiskWithoutHardLinks(std::function<void()> when_linking) {
    instead_of_linking = std::move(when_linking);
  }
  ~DiskWithoutHardLinks() { instead_of_linking = nullptr; }
  DiskWithoutHardLinks(const DiskWithoutHardLinks&) = delete;
  DiskWithoutHardLinks& operator=(const DiskWithoutHardLinks&) = delete;
};

}  // namespace

/// Replaces link() of the C library in this test program.
extern "C" int link(const char* from, const char* to) noexcept {
  if (!instead_of_linking) return ::linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
  instead_of_linking();
  errno = EPERM;
  return -1;
}

TEST_CASE("output file: the old file stays until the new one is finished") {
  const OutputFolder folder;
  const std::string file = folder / "a";
  put_text(file, "old");
  ::chmod(file.c_str(), 0640);
  {
    base::OutputFile unfinished(file);
    unfinished.append(std::string(1 << 20, 'x'));
    CHECK(read_text(file) == "old");
  }
  CHECK(read_text(file) == "old");
  CHECK(folder.entries() == 1);
  base::write_file(file, "new");
  CHECK(read_text(file) == "new");
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
    const test_support::FileSizeLimit limit(4096);
    CHECK_THROWS_WITH(base::write_file(folder / "new", text),
                      (folder / "new") + ": cannot be written: File too large");
    CHECK_THROWS_WITH(base::write_file(folder / "old", text), Contains("File too large"));
  }
  CHECK(read_text(folder / "old") == "old");
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
  CHECK(read_text(folder / "b") == "another's");
}

TEST_CASE("output file: a disk without hard links keeps a file that another process has created") {
  const OutputFolder folder;
  const auto write = [&](const std::string& name) {
    base::OutputFile file(folder / name, base::OutputFile::IfThere::refuse);
    file.append("ours");
    file.finish();
  };
  {
    const DiskWithoutHardLinks disk([] {});
    write("a");
  }
  CHECK(read_text(folder / "a") == "ours");
  {
    const DiskWithoutHardLinks disk([&] { put_text(folder / "b", "another's"); });
    CHECK_THROWS_WITH(write("b"), Contains("File exists"));
  }
  CHECK(read_text(folder / "b") == "another's");
  CHECK(folder.entries() == 2);
}

TEST_CASE("output file: a symbolic link stays and its target is replaced") {
  const OutputFolder folder;
  put_text(folder / "a", "old");
  fs::create_symlink("a", folder / "link");
  base::write_file(folder / "link", "new");
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(read_text(folder / "a") == "new");
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
