// SPDX-License-Identifier: Apache-2.0
// tests/commands/standard_streams_real.cpp — all programs with standard streams that are closed,
// full or without a reader.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/folder.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/shell.hpp"

namespace {

using Catch::Contains;
using test_support::Folder;

enum class End { good, closed, full, unread };

/// Kinds of the three standard streams with which a program is started.
struct Ends {
  std::string name;
  End in, out, err;
  bool ignores_sigpipe = false;
};

const std::vector<Ends>& bad_ends() {
  static const std::vector<Ends> all = {
      {"no input", End::closed, End::good, End::good},
      {"stderr closed", End::good, End::good, End::closed},
      {"stderr full", End::good, End::good, End::full},
      {"stderr unread", End::good, End::good, End::unread},
      {"stderr unread, SIGPIPE ignored", End::good, End::good, End::unread, true},
      {"stdout closed", End::good, End::closed, End::good},
      {"stdout full", End::good, End::full, End::good},
      {"stdout unread", End::good, End::unread, End::good},
      {"stdout unread, SIGPIPE ignored", End::good, End::unread, End::good, true},
      {"both closed", End::good, End::closed, End::closed},
      {"both full", End::good, End::full, End::full},
      {"both unread", End::good, End::unread, End::unread},
      {"all closed", End::closed, End::closed, End::closed},
  };
  return all;
}

struct Ended {
  int code = 0;  ///< 128 plus the signal's number if a signal killed the program
  std::string out, err;
};

/// A command line of a program of this project, and its outcome with usable streams.
struct Line {
  std::string words;
  int code = 0;
  bool prints = true;
  std::string lost = "standard output could not be written";
  /// True = the program ends silently by SIGPIPE if the reader of its output has ended.
  bool is_filter = true;
};

int opened(const std::string& file, int flags) {
  const int number = open(file.c_str(), flags | O_CLOEXEC, 0600);
  if (number < 0) throw std::runtime_error("cannot open " + file);
  return number;
}

/// Returns a descriptor for this stream, or -1 if the stream must be closed.
int descriptor_of(End end, const std::string& good, int flags) {
  int ends[2];
  switch (end) {
    case End::good: return opened(good, flags);
    case End::full: return opened("/dev/full", O_WRONLY);
    case End::unread:
      if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
      close(ends[0]);
      return ends[1];
    case End::closed: break;
  }
  return -1;
}

Ended run(const Folder& folder, const std::string& words, const Ends& ends) {
  const std::string out = folder.file("out"), err = folder.file("err");
  constexpr int fresh = O_WRONLY | O_CREAT | O_TRUNC;
  const int given[] = {descriptor_of(ends.in, "/dev/null", O_RDONLY),
                       descriptor_of(ends.out, out, fresh), descriptor_of(ends.err, err, fresh)};
  const std::string command =
      fmt::format("cd {} && exec {}/{}", PATHS_SOURCE_DIR, PATHS_BUILD_BIN_DIR, words);
  const pid_t pid = fork();
  if (pid == 0) {
    signal(SIGPIPE, ends.ignores_sigpipe ? SIG_IGN : SIG_DFL);
    for (int number = 0; number < 3; ++number)
      if (given[number] < 0)
        close(number);
      else
        dup2(given[number], number);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  for (const int number : given)
    if (number >= 0) close(number);
  int status = 0;
  waitpid(pid, &status, 0);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, ends.out == End::good ? test_support::read_text(out) : "",
          ends.err == End::good ? test_support::read_text(err) : ""};
}

/// Checks the rule for output: if results could not be written, the program fails with a message.
/// The exception is a filter whose reader has ended. Otherwise the outcome of a program does not
/// depend on the state of the streams.
void check_line(const Folder& folder, const Line& line) {
  const Ended good = run(folder, line.words, {"good", End::good, End::good, End::good});
  INFO(line.words << "\n" << good.err);
  CHECK(good.code == line.code);
  CHECK(good.out.empty() == !line.prints);
  for (const Ends& ends : bad_ends()) {
    INFO(ends.name);
    const Ended bad = run(folder, line.words, ends);
    const bool is_lost = line.prints && ends.out != End::good;
    INFO(bad.err);
    if (!is_lost || line.code != 0) {
      CHECK(bad.code == line.code);
    } else if (line.is_filter && ends.out == End::unread && !ends.ignores_sigpipe) {
      CHECK(bad.code == 128 + SIGPIPE);
      CHECK_THAT(bad.err, !Contains(line.lost));
    } else {
      CHECK(bad.code == 1);
      if (ends.err == End::good) CHECK_THAT(bad.err, Contains(line.lost));
    }
  }
}

void check_lines(const std::vector<Line>& lines) {
  const Folder folder;
  for (const Line& line : lines) check_line(folder, line);
}

}  // namespace

TEST_CASE("standard streams: paths ends correctly with any combination of them", "[without_asan]") {
  std::vector<Line> lines = {
      {"paths --help"},
      {"paths --version"},
      {"paths run --help"},
      {"paths check configs/two-clusters.yaml"},
      {"paths expand configs/two-clusters.yaml"},
      {"paths kinds"},
      {"paths kinds allreduce"},
      {"paths describe report --schema"},
      {"paths chekc", 2, false},
      {"paths check configs/broken/many_mistakes.yaml", 2, false},
      {"paths check configs/one-host.yaml configs/broken/empty.yaml", 2},
      {"paths analyze /nowhere", 1, false},
      {"paths run configs/one-host.yaml -- /nowhere", 2, false},
      // These programs never join the run as hosts, so `paths run` fails.
      {"paths run configs/two-clusters.yaml -- /bin/true", 1, false},
      {"paths run configs/two-clusters.yaml --clock virtual -- /bin/true", 1, false},
      {"paths run configs/two-clusters.yaml -- /bin/sh -c '[ $PATHS_HOST = alpha-0 ] || echo "
       "said'",
       1},
      {"paths help run"},
      {"paths run configs/two-clusters.yaml -- /bin/false", 1, false},
  };
  for (const char* const format : {"text", "dot", "svg", "json"})
    lines.push_back({fmt::format("paths show configs/two-clusters.yaml --format {}", format)});
  check_lines(lines);
}

TEST_CASE("standard streams: files opened later never take the number of a closed stream",
          "[without_asan]") {
  const Folder folder;
  const Ended ended = run(
      folder, "paths run configs/one-host.yaml -- /bin/readlink /proc/self/fd/0 /proc/self/fd/2",
      {"only output", End::closed, End::good, End::closed});
  CHECK(ended.code == 1);  // readlink does not join the run, so `paths run` fails
  CHECK(ended.out == "/dev/null\n/dev/null\n");
}

TEST_CASE("standard streams: a program started by paths inherits the signal handling of paths",
          "[without_asan]") {
  const Folder folder;
  const std::string line = "paths run configs/one-host.yaml -- /bin/grep ^SigIgn /proc/self/status";
  Ends ends = {"good", End::good, End::good, End::good};
  for (const bool is_ignored : {false, true}) {
    ends.ignores_sigpipe = is_ignored;
    const std::string signals = run(folder, line, ends).out;
    INFO(signals);
    REQUIRE(signals.starts_with("SigIgn:"));
    const auto ignored = std::stoull(signals.substr(8), nullptr, 16);
    CHECK((ignored >> (SIGPIPE - 1) & 1) == is_ignored);
    CHECK((ignored >> (SIGXFSZ - 1) & 1) == 0);
  }
}

#if PATHS_HAS_BENCH
namespace {

/// Returns command lines that are quick enough to be run dozens of times.
const std::vector<Line>& program_lines() {
  static const std::string noise =
      "noise_allreduce --config configs/two-clusters.yaml --iterations 3 --compute-time 10us ";
  static const std::vector<Line> all = {
      {noise + "--clock virtual"},
      {noise + "--compute sleep"},
      {"noise_allreduce --config configs/broken/empty.yaml", 2, false},
      {"noise_allreduce --bogus", 2, false},
      {noise + "--clock virtual --collective other", 2, false},
      {noise + "--clock virtual --trace /dev/null", 1, false},
      {"sor --config configs/sor-one-host.yaml --clock virtual --size 20 --iterations 5"},
      {"sor_alone --size 20"},
      {"sor_alone --size 20 --epsilon 0", 2, false},
      {"producer_consumer --config configs/examples/producer-consumer.yaml --clock virtual"},
      {"fixed_work --duration 20ms --threads 1"},
      {"fixed_work --duration 20ms --threads 0", 2, false},
      {"huge_tree --clusters 2 --hosts 2 --threads 2 --allreduces 2"},
      {"huge_tree --clusters 0", 2, false},
      {"join_benchmark --benchmark_filter=/2$ --benchmark_min_time=0.001"},
      {"join_benchmark --help"},
      {"join_benchmark --bogus", 2, false},
      {"paths run configs/two-clusters.yaml --clock virtual -- " + noise},
      {"paths run configs/two-clusters.yaml -- " + noise},
      {"paths run configs/two-clusters.yaml -- noise_allreduce --help"},
  };
  return all;
}

const std::vector<std::string> programs = {"noise_allreduce", "sor",       "sor_alone",
                                           "fixed_work",      "huge_tree", "producer_consumer"};

}  // namespace

TEST_CASE("standard streams: programs end correctly with any combination of them",
          "[without_asan]") {
  std::vector<Line> lines = program_lines();
  for (const std::string& program : programs) {
    lines.push_back({program + " --help"});
    lines.push_back({program + " --version"});
  }
  check_lines(lines);
}

TEST_CASE("output files: a file that cannot be written completely is a failure that names it") {
  const Folder folder;
  const std::string trace = folder.file("trace");
  const std::string virtual_noise =
      "noise_allreduce --config configs/two-clusters.yaml --clock virtual --iterations 500 ";
  const std::string grid = "--size 60 --iterations 5 ";
  const Ends good = {"good", End::good, End::good, End::good};
  REQUIRE(run(folder, virtual_noise + "--trace " + trace, good).code == 0);
  std::vector<std::string> lines = {virtual_noise + "--trace", virtual_noise + "--decisions",
                                    "paths analyze " + trace + " --otf2"};
  for (const std::string option : {"json", "html", "csv", "perfetto"})
    lines.push_back(fmt::format("paths analyze {} --{}", trace, option));
  for (const std::string option : {"raw", "image"}) {
    lines.push_back(fmt::format("sor_alone {} --{}", grid, option));
    lines.push_back(fmt::format("sor --config configs/sor-one-host.yaml --clock virtual {} --{}",
                                grid, option));
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    INFO(lines[i]);
    const std::string file = folder.file(fmt::format("limited-{}", i));
    // The shell's limit counts blocks of 512 bytes.
    const auto said = test_support::run_shell(fmt::format(
        "cd {} && ulimit -f 4 && {}/{} {}", PATHS_SOURCE_DIR, PATHS_BUILD_BIN_DIR, lines[i], file));
    INFO(said.text);
    CHECK(said.exit_code == 1);
    CHECK_THAT(said.text, Contains(file));
  }
}

TEST_CASE("output files: a full device is a failure that names the option") {
  const Folder folder;
  const std::string lines[] = {
      "noise_allreduce --config configs/two-clusters.yaml --clock virtual --iterations 3 --json",
      "sor --config configs/sor-one-host.yaml --clock virtual --size 20 --iterations 5 --json",
      "sor_alone --size 20 --iterations 5 --json", "fixed_work --duration 20ms --threads 1 --csv",
      "fixed_work --duration 20ms --threads 1 --noise"};
  for (const std::string& line : lines) {
    INFO(line);
    const Ended ended = run(folder, line + " /dev/full", {"good", End::good, End::good, End::good});
    CHECK(ended.code == 1);
    CHECK_THAT(ended.err,
               Contains(line.substr(line.rfind('-') - 1) + ": /dev/full: cannot be written"));
  }
}
#endif
