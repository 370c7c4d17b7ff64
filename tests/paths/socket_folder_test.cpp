// SPDX-License-Identifier: Apache-2.0
// tests/paths/socket_folder_test.cpp — folders of Unix sockets, and their cleanup.
#include "paths/wire/socket_folder.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <vector>

#include "tests/support/folder.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/thrown.hpp"

namespace {

using namespace paths;
namespace fs = std::filesystem;

struct Folder : test_support::Folder {
  std::string address(const std::string& name) const { return "ipc://" + file(name); }
};

/// Sets an environment variable. The destructor restores its old value.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    const char* const before = std::getenv(name);
    if (before != nullptr) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    unsetenv(name_);
    if (before_) setenv(name_, before_->c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

std::string refusal(const std::string& address) {
  return test_support::thrown<std::runtime_error>([&] { safe_socket_file(address); });
}

/// Binds a socket to the file and leaves the file behind, as a killed process does.
void leave_socket(const fs::path& file) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::strncpy(name.sun_path, file.c_str(), sizeof name.sun_path - 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(bind(socket, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
  close(socket);
}

void touch(const fs::path& file) { std::ofstream(file) << "x"; }

}  // namespace

TEST_CASE("socket folder: a missing folder and its parents are made for this user only") {
  const Folder folder;
  umask(0);
  CHECK(safe_socket_file(folder.address("a/b/host")) == folder.path() / "a/b/host");
  umask(022);
  for (const char* made : {"a", "a/b"}) {
    struct stat status {};
    REQUIRE(stat((folder.path() / made).c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0700);
  }
}

TEST_CASE("socket folder: a folder that others can write or replace is refused") {
  const Folder folder;
  fs::create_directories(folder.path() / "open/inner");
  for (const mode_t mode : {0720, 0702, 01777}) {
    REQUIRE(chmod((folder.path() / "open").c_str(), mode) == 0);
    CHECK_THAT(
        refusal(folder.address("open/host")),
        Catch::Contains("others can write the folder " + (folder.path() / "open").string()) &&
            Catch::Contains("chmod go-w") && Catch::Contains("`directory`"));
    // The folder `inner` is accepted only if the folder around it has the sticky bit. Then no other
    // user can replace `inner`.
    if (mode == 01777)
      CHECK(refusal(folder.address("open/inner/host")) == "nothing");
    else
      CHECK_THAT(refusal(folder.address("open/inner/host")),
                 Catch::Contains("others can replace what is in"));
  }
}

TEST_CASE("socket folder: a symbolic link is refused even if it leads to a safe folder") {
  const Folder folder;
  fs::create_directory(folder.path() / "good");
  fs::create_symlink(folder.path() / "good", folder.path() / "link");
  CHECK_THAT(refusal(folder.address("link/host")), Catch::Contains("symbolic link"));
  // The folder of a socket must not be a link. A folder further up may be a link. Such a link is
  // resolved once.
  CHECK(safe_socket_file(folder.address("link/inner/host")) == folder.path() / "good/inner/host");
}

TEST_CASE("socket folder: a folder of another user is refused") {
  if (geteuid() != 0) return test_support::skip("another user (root)");
  const Folder folder;
  fs::create_directories(folder.path() / "theirs/inner");
  REQUIRE(chown((folder.path() / "theirs").c_str(), 12345, 12345) == 0);
  CHECK_THAT(refusal(folder.address("theirs/host")),
             Catch::Contains("belongs to another user (number 12345)"));
  CHECK_THAT(refusal(folder.address("theirs/inner/host")),
             Catch::Contains("others can replace what is in"));
}

TEST_CASE("socket folder: a name that is too long for a socket is refused with its length") {
  const Folder folder;
  CHECK_THAT(refusal(folder.address(std::string(100, 'x'))),
             Catch::Contains("longer than the 107 characters"));
}

TEST_CASE("socket folder: relative addresses are in the run's folder or otherwise in the user's") {
  const Folder folder;
  {
    const Variable run("PATHS_SOCKETS", "/tmp/run");
    CHECK(socket_file("ipc://two/alpha-0") == "/tmp/run/two/alpha-0");
    CHECK(socket_file("ipc:///tmp/own/alpha-0") == "/tmp/own/alpha-0");
    CHECK(socket_file("tcp://127.0.0.1:1").empty());
    CHECK(located("ipc://two/alpha-0") == "ipc:///tmp/run/two/alpha-0");
  }
  const Variable no_run("PATHS_SOCKETS", "");
  const fs::path otherwise = fmt::format("/tmp/paths-{}/two/alpha-0", geteuid());
  const Variable session("XDG_RUNTIME_DIR", folder.path().string());
  CHECK(socket_file("ipc://two/alpha-0") == folder.path() / "paths/two/alpha-0");
  const Variable none("XDG_RUNTIME_DIR", (folder.path() / "none").string());
  const Variable unset("TMPDIR", "");
  CHECK(socket_file("ipc://two/alpha-0") == otherwise);
  const Variable temporary("TMPDIR", folder.path().string());
  CHECK(socket_file("ipc://two/alpha-0") ==
        folder.path() / fmt::format("paths-{}/two/alpha-0", geteuid()));
}

TEST_CASE("socket folder: a folder that makes names too long is reported with its variable") {
  const Folder folder;
  const Variable no_run("PATHS_SOCKETS", "");
  const fs::path deep = folder.path() / std::string(90, 'x');
  fs::create_directory(deep);
  const Variable session("XDG_RUNTIME_DIR", deep.string());
  const std::string advice = fmt::format(
      "its folder, {} characters long, is what XDG_RUNTIME_DIR says; set XDG_RUNTIME_DIR to a "
      "shorter one",
      deep.string().size() + std::string("/paths/").size());
  CHECK_THAT(refusal("ipc://two/alpha-0"), Catch::Contains(advice));
  CHECK_THAT(refusal(folder.address(std::string(100, 'x'))),
             Catch::Contains("name another `directory` in the config's `network`"));
  const Variable none("XDG_RUNTIME_DIR", "");
  const Variable temporary("TMPDIR", deep.string());
  CHECK_THAT(refusal("ipc://two/alpha-0"), Catch::Contains("set TMPDIR to a shorter one"));
}

TEST_CASE("run folder: it is in XDG_RUNTIME_DIR or otherwise in TMPDIR if names are short enough") {
  const Folder folder;
  const fs::path deep = folder.path() / std::string(90, 'x');
  fs::create_directory(deep);
  const Variable temporary("TMPDIR", folder.path().string());
  {
    const Variable session("XDG_RUNTIME_DIR", deep.string());
    CHECK(RunFolder(20).path().parent_path() == folder.path());
  }
  const Variable none("XDG_RUNTIME_DIR", "");
  CHECK(RunFolder(20).path().parent_path() == folder.path());
  const Variable long_one("TMPDIR", deep.string());
  CHECK(RunFolder(20).path().parent_path() == "/tmp");
  const Variable missing("TMPDIR", (folder.path() / "missing").string());
  CHECK_THROWS_WITH(RunFolder(), Catch::Contains("where TMPDIR says"));
}

TEST_CASE("socket claim: only one process has it and its file and folder are removed at its end") {
  const Folder folder;
  const std::string address = folder.address("made/host");
  {
    const auto first = SocketClaim::take(address);
    REQUIRE(first);
    CHECK(first->file() == folder.path() / "made/host");
    touch(first->file());
    CHECK(SocketClaim::take(address) == nullptr);
    CHECK(SocketClaim::take(folder.address("made/other")) != nullptr);
    CHECK(fs::exists(first->file()));
  }
  CHECK(fs::is_empty(folder.path()));
  fs::create_directory(folder.path() / "made");
  CHECK(SocketClaim::take(address) != nullptr);
  CHECK(fs::exists(folder.path() / "made"));  // stays, because the claim did not make this folder
}

TEST_CASE("socket claim: others may be taken and released together with the folder at any moment") {
  const Folder folder;
  const Variable runs("PATHS_SOCKETS", (folder.path() / "made").string());
  constexpr int times = 3'000;
  const auto come_and_go = [&](const std::string& file) {
    try {
      for (int i = 0; i < times; ++i)
        if (SocketClaim::take("ipc://" + file) == nullptr) return 2;
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}\n", error.what());
      return 1;
    }
    return 0;
  };
  std::vector<pid_t> others;
  for (const std::string file : {"a", "b"}) {
    others.push_back(fork());
    if (others.back() == 0) _exit(come_and_go(file));
  }
  CHECK(come_and_go("c") == 0);
  for (const pid_t other : others) {
    int status = 1;
    waitpid(other, &status, 0);
    CHECK(status == 0);
  }
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE(
    "run folder: its name is unpredictable and it is removed with its contents and with dead "
    "ones") {
  const Folder folder;
  const Variable session("XDG_RUNTIME_DIR", folder.path().string());
  const pid_t killed = fork();
  if (killed == 0) {
    const RunFolder of_killed;
    fs::create_directories(of_killed.path() / "two-clusters");
    leave_socket(of_killed.path() / "two-clusters/alpha-0");
    std::ofstream lock(of_killed.path() / "two-clusters/alpha-0.lock");  // empty file
    _exit(0);  // ends without destructors, so the socket files stay
  }
  waitpid(killed, nullptr, 0);
  REQUIRE_FALSE(fs::is_empty(folder.path()));
  {
    const RunFolder one, two;
    CHECK(one.path() != two.path());
    CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 2);
    fs::create_directories(one.path() / "two-clusters");
    touch(one.path() / "two-clusters/alpha-0");
  }
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("run folder: a folder of another program with a similar name is not removed") {
  const Folder folder;
  const Variable session("XDG_RUNTIME_DIR", folder.path().string());
  // The user may have made folders with names like the folders of a run. Such folders must not be
  // removed.
  for (const char* const name : {"paths-run-results", "paths-run-abc123", "paths-run-def456"})
    fs::create_directories(folder.path() / name / "inner");
  touch(folder.path() / "paths-run-results/inner/data.lock");
  std::ofstream(folder.path() / "paths-run-abc123/inner/figures.json") << "{}";
  std::ofstream(folder.path() / "paths-run-def456/inner/taken.lock") << "by process 17";
  leave_socket(folder.path() / "paths-run-def456/inner/socket");
  { const RunFolder run; }
  CHECK(fs::exists(folder.path() / "paths-run-results/inner/data.lock"));
  CHECK(fs::exists(folder.path() / "paths-run-abc123/inner/figures.json"));
  CHECK(fs::exists(folder.path() / "paths-run-def456/inner/taken.lock"));
  CHECK(fs::exists(folder.path() / "paths-run-def456/inner/socket"));
}

TEST_CASE("doors: doors of killed hosts are removed and doors in use and other files stay") {
  const Folder folder;
  const std::string dead = folder.address("dead.door"), living = folder.address("living.door");
  const pid_t killed = fork();
  if (killed == 0) {
    for (const std::string& address : {dead, folder.address("host")})
      [[maybe_unused]] auto* const kept = SocketClaim::take(address).release();
    leave_socket(folder.path() / "dead.door");
    _exit(0);  // ends without destructors, so the files stay
  }
  waitpid(killed, nullptr, 0);
  const auto claim = SocketClaim::take(living);
  leave_socket(folder.path() / "living.door");
  std::ofstream(folder.path() / "notes.door.lock") << "of a user";
  std::ofstream(folder.path() / "plan.door") << "of a user";
  std::ofstream empty(folder.path() / "plan.door.lock");
  REQUIRE(fs::exists(folder.path() / "dead.door.lock"));
  remove_left_doors(folder.path());
  CHECK_FALSE(fs::exists(folder.path() / "dead.door"));
  CHECK_FALSE(fs::exists(folder.path() / "dead.door.lock"));
  CHECK(fs::exists(folder.path() / "living.door"));
  CHECK(fs::exists(folder.path() / "host.lock"));
  CHECK(fs::exists(folder.path() / "notes.door.lock"));
  CHECK(fs::exists(folder.path() / "plan.door"));
}

TEST_CASE("socket cleaner: files of dead hosts are removed and files in use stay") {
  const Folder folder;
  const std::string dead = folder.address("made/dead"), living = folder.address("made/living");
  std::unique_ptr<SocketClaim> claim;
  {
    const SocketCleaner cleaner({dead, living, folder.address("made/never")});
    claim = SocketClaim::take(living);
    const pid_t killed = fork();
    if (killed == 0) {
      [[maybe_unused]] auto* const kept = SocketClaim::take(dead).release();
      touch(folder.path() / "made/dead");
      _exit(0);
    }
    waitpid(killed, nullptr, 0);
    REQUIRE(fs::exists(folder.path() / "made/dead"));
  }
  CHECK_FALSE(fs::exists(folder.path() / "made/dead"));
  CHECK_FALSE(fs::exists(folder.path() / "made/dead.lock"));
  CHECK(fs::exists(folder.path() / "made/living.lock"));
  claim.reset();
  CHECK(fs::is_empty(folder.path()));
}
