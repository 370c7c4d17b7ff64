// SPDX-License-Identifier: Apache-2.0
// tests/base/text_file_test.cpp — text files that are named pipes.
#include "base/text_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "base/errors.hpp"

namespace {

/// Named pipe, made by mkfifo.
class NamedPipe {
 public:
  NamedPipe() : name_(fmt::format("/tmp/paths-pipe-{}", getpid())) {
    std::filesystem::remove(name_);
    REQUIRE(mkfifo(name_.c_str(), 0600) == 0);
  }
  ~NamedPipe() { std::filesystem::remove(name_); }
  const std::string& name() const { return name_; }

 private:
  const std::string name_;
};

}  // namespace

TEST_CASE("text file: a pipe without a writer is an error without waiting") {
  const NamedPipe pipe;
  CHECK_THROWS_WITH(base::load_text(pipe.name(), 100),
                    pipe.name() + ": expected text, found a pipe that no process writes to");
}

TEST_CASE("text file: everything written to a pipe is read up to the limit") {
  const NamedPipe pipe;
  for (const std::size_t limit : {std::size_t{11}, std::size_t{10}}) {
    const int end = open(pipe.name().c_str(), O_RDWR);
    REQUIRE(write(end, "a: 1\nb: 2\n\n", 11) == 11);
    // A pipe keeps the bytes that were written to it only while some process has it open for
    // reading.
    const int reader = open(pipe.name().c_str(), O_RDONLY | O_NONBLOCK);
    close(end);
    if (limit == 11)
      CHECK(base::load_text(pipe.name(), limit) == "a: 1\nb: 2\n\n");
    else
      CHECK_THROWS_WITH(base::load_text(pipe.name(), limit),
                        pipe.name() + ": larger than 10 bytes");
    close(reader);
  }
}
