// SPDX-License-Identifier: Apache-2.0
// tests/support/forked.hpp — child processes that run a part of a test and can be killed.
#pragma once
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <new>
#include <stdexcept>
#include <utility>

#include "runtime/runtime.hpp"

namespace test_support {

/// Child process that runs `part` as the first context of a runtime. The destructor kills it.
class Forked {
 public:
  /// Exit code of a child whose `part` threw. It is not 1, with which the address sanitizer ends a
  /// process by default.
  static constexpr int failed = 3;

  explicit Forked(const std::function<void(runtime::Runtime&)>& part) {
    std::fflush(nullptr);
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("no process");
    if (pid_ > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // the child dies with its parent
    if (getppid() != parent) _exit(failed);
    // Replaces the handlers of Catch2, which would print their own report.
    for (const int fatal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTERM})
      std::signal(fatal, SIG_DFL);
    _exit(run(part));
  }
  Forked(Forked&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Forked& operator=(Forked&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  ~Forked() {
    if (pid_ <= 0) return;
    kill(SIGKILL);
    wait();
  }

  pid_t pid() const { return pid_; }
  /// Sends a signal. Requires: wait() was not called. After wait() pid_ is -1, and kill(-1) would
  /// signal every process.
  void kill(int signal) const {
    REQUIRE(pid_ > 0);
    ::kill(pid_, signal);
  }
  /// Blocks until the process has ended. Returns its exit code, or 128 plus the number of the
  /// signal that ended it. Must be called at most once.
  int wait() {
    REQUIRE(pid_ > 0);
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  static int run(const std::function<void(runtime::Runtime&)>& part) {
    try {
      runtime::Runtime runtime;
      runtime.run([&] { part(runtime); });
      return 0;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "process %d: %s\n", getpid(), error.what());
    } catch (const runtime::Stop& stop) {
      std::fprintf(stderr, "process %d: %s\n", getpid(), stop.what());
    } catch (...) {  // A REQUIRE failed; the child must not run the rest of the test.
      std::fprintf(stderr, "process %d: a check failed\n", getpid());
    }
    return failed;
  }
  pid_t pid_ = -1;
};

/// A value in memory that this process shares with the processes that it forks later.
template <class T>
class Between {
 public:
  Between() {
    void* const mapped =
        mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    value_ = new (mapped) T{};
  }
  ~Between() { munmap(value_, sizeof(T)); }
  Between(const Between&) = delete;
  Between& operator=(const Between&) = delete;
  T* operator->() const { return value_; }
  T& operator*() const { return *value_; }

 private:
  T* value_;
};

}  // namespace test_support
