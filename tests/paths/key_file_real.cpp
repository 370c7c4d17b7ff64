// SPDX-License-Identifier: Apache-2.0
// tests/paths/key_file_real.cpp — files with secret keys: access rights, contents, and the places
// in which hosts look for them.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/output_file.hpp"
#include "paths/keys/host_keys.hpp"
#include "paths/keys/key_file.hpp"
#include "runtime/random.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/run_key.hpp"
#include "tests/support/skip.hpp"

namespace {

using namespace paths;
using namespace test_support;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;

const std::string secret_digits(64, 'a');
const std::string whole = "PATHS run key 1\n" + secret_digits + "\n";

/// Writes a file that only this user can read.
std::string private_file(const Folder& folder, const std::string& text) {
  std::string file = folder.write("key", text);
  chmod(file.c_str(), 0600);
  return file;
}

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const base::ConfigError& error) {
    return error.what();
  }
  return "no error";
}

std::string reading(const std::string& file, KeyKind kind = KeyKind::run) {
  return error_of([&] { read_key_file(file, kind); });
}

}  // namespace

TEST_CASE("key files: a written key is read again, and only this user can read it") {
  const Folder folder;
  for (const KeyKind kind : {KeyKind::run, KeyKind::host}) {
    const std::string file = folder.file(kind == KeyKind::run ? "run" : "host");
    const Secret secret = Secret::random();
    write_key_file(file, kind, secret);
    CHECK(read_key_file(file, kind) == secret);
    struct stat status {};
    REQUIRE(stat(file.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0600);
    CHECK_THAT(reading(file, kind == KeyKind::run ? KeyKind::host : KeyKind::run),
               Contains("expected the first line to be"));
  }
}

TEST_CASE("key files: an existing file, or what a link leads to, is never overwritten") {
  const Folder folder;
  const std::string file = folder.write("key", "mine"), link = folder.file("link");
  std::filesystem::create_symlink(folder.file("elsewhere"), link);
  for (const std::string& one : {file, link})
    CHECK_THAT(error_of([&] { write_key_file(one, KeyKind::run, Secret::random()); }),
               StartsWith(one) && EndsWith("it exists, and a key is never overwritten"));
  CHECK(read_text(file) == "mine");
  CHECK_FALSE(std::filesystem::exists(folder.file("elsewhere")));
  // No mistake of the user: `paths keygen` then ends with 1, and not with 2.
  CHECK_THROWS_AS(write_key_file(folder.file("no/folder/key"), KeyKind::run, Secret::random()),
                  base::OutputError);
}

TEST_CASE("key files: a file that others can use is refused") {
  const Folder folder;
  const std::string file = private_file(folder, whole);
  CHECK(reading(file) == "no error");
  for (const mode_t mode : {0640, 0604, 0620, 0602, 0601, 0666}) {
    chmod(file.c_str(), mode);
    CHECK_THAT(reading(file), StartsWith(file) && Contains(fmt::format("(mode {:04o})", mode)) &&
                                  Contains("other users may use the run key"));
  }
  chmod(file.c_str(), 0400);
  CHECK(reading(file) == "no error");
}

TEST_CASE("key files: a file of another user is refused") {
  if (geteuid() != 0) return skip("another user (root)");
  const Folder folder;
  const std::string file = private_file(folder, whole);
  REQUIRE(chown(file.c_str(), 12345, 12345) == 0);
  CHECK_THAT(reading(file), Contains("belongs to user 12345"));
}

TEST_CASE("key files: links, FIFOs, folders and devices are refused without waiting") {
  const Folder folder;
  const std::string file = private_file(folder, whole);
  const std::string link = folder.file("link"), fifo = folder.file("fifo");
  std::filesystem::create_symlink(file, link);
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  CHECK_THAT(reading(link), EndsWith("expected a file with a run key, found a symbolic link"));
  CHECK_THAT(reading(fifo), EndsWith("expected a file with a run key, found a FIFO"));
  CHECK_THAT(reading(folder.path()), EndsWith("found a folder"));
  CHECK_THAT(reading("/dev/null"), EndsWith("found a device"));
  CHECK_THAT(reading(folder.file("none")), EndsWith("No such file or directory"));
}

TEST_CASE("key files: wrong contents are refused without being shown") {
  const Folder folder;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "expected a run key, found an empty file"},
      {secret_digits + "\n", "expected the first line to be 'PATHS run key 1', found another text"},
      {"PATHS run key one\n" + secret_digits, "found another text"},
      {"PATHS run key 2\n" + secret_digits, "has format 2; this version reads format 1"},
      {"PATHS run key 1", "second and last line, found 0 characters"},
      {"PATHS run key 1\n" + secret_digits.substr(1), "found 63 characters"},
      {"PATHS run key 1\n" + secret_digits + "a\n", "found 65 characters"},
      {"PATHS run key 1\n" + secret_digits.substr(1) + "x\n", "found 64 characters"},
      {whole + "more\n", "found 64 characters and further lines"}};
  for (const auto& [text, expected] : cases) {
    const std::string said = reading(private_file(folder, text));
    CHECK_THAT(said, Contains(expected));
    CHECK(said.find(secret_digits.substr(1, 20)) == std::string::npos);
  }
  CHECK(reading(private_file(folder, whole.substr(0, whole.size() - 1))) == "no error");
}

TEST_CASE("key files: any change of any byte is refused or gives another key") {
  const Folder folder;
  runtime::Random random(from_environment("PATHS_SEED", 1));
  const Secret secret = Secret::parse(secret_digits).value();
  for (std::uint64_t i = 0; i < or_fewer(from_environment("PATHS_SEEDS", 1000)); ++i) {
    std::string text = whole;
    if (random.below(4) == 0) text.resize(random.below(text.size()));
    if (random.below(8) == 0) text.insert(random.below(text.size() + 1), random.below(5000), 'a');
    if (!text.empty() && text.size() == whole.size())
      text[random.below(text.size())] ^= static_cast<char>(1 + random.below(255));
    const std::string file = private_file(folder, text);
    try {
      const Secret read = read_key_file(file, KeyKind::run);
      // A damaged file gives the same key only if its last line break is missing, or if a digit
      // became a capital letter.
      const bool is_equal = read == secret;
      CHECK((!is_equal || text.size() + 1 == whole.size() || text.find('A') != std::string::npos));
    } catch (const base::ConfigError& error) {
      CHECK_THAT(error.what(), StartsWith(file));
    }
  }
}

TEST_CASE("key files: a run key in the environment must be equal to that of the file") {
  const Folder folder;
  const std::string file = private_file(folder, whole);
  const Secret secret = Secret::parse(secret_digits).value();
  setenv(run_key_variable, secret_digits.c_str(), 1);
  CHECK(find_run_key(file)->secret() == secret);
  setenv(run_key_variable, digits_of(*new_run_key()).c_str(), 1);
  CHECK_THAT(error_of([&] { find_run_key(file); }),
             StartsWith(file) && Contains("the run key differs from that in PATHS_RUN_KEY"));
  setenv(run_key_variable, secret_digits.c_str(), 1);
  CHECK(find_run_key("")->secret() == secret);
  CHECK(std::getenv(run_key_variable) == nullptr);
}

TEST_CASE("key files: the keys of a host are derived from its seed") {
  const Secret seed = Secret::random();
  const CurveKeys curve = curve_keys_of(seed);
  CHECK(curve_key_of(public_key_of(seed)) == curve.public_key);
  CHECK(parse_public_key(digits_of(public_key_of(seed))) == public_key_of(seed));
  CHECK_FALSE(curve.secret == seed);
  for (const std::string& text : {std::string(), std::string(64, 'x'), std::string(64, '0'),
                                  std::string(63, 'a'), std::string(66, 'a')})
    CHECK(parse_public_key(text) == std::nullopt);
}

TEST_CASE("key files: a host looks for its key in three places, in order") {
  HostKeys keys;
  setenv("PATHS_KEY", "/tmp/given.key", 1);
  setenv("XDG_CONFIG_HOME", "/tmp/config", 1);
  keys.own_file = "/tmp/of-config.key";
  CHECK(key_file_of(keys, "a-0") == "/tmp/given.key");
  unsetenv("PATHS_KEY");
  CHECK(key_file_of(keys, "a-0") == "/tmp/of-config.key");
  keys.own_file = "";
  CHECK(key_file_of(keys, "a-0") == "/tmp/config/paths/a-0.key");
  unsetenv("XDG_CONFIG_HOME");
  setenv("HOME", "/tmp/home", 1);
  CHECK(key_file_of(keys, "a-0") == "/tmp/home/.config/paths/a-0.key");
}
