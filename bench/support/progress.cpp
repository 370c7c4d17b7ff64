// SPDX-License-Identifier: Apache-2.0
// bench/support/progress.cpp — overwritten progress line, and a handler of Ctrl-C that sets a flag
#include "bench/support/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/say.hpp"

namespace bench {
namespace {

constexpr unsigned seconds_to_look = 5;

volatile std::sig_atomic_t is_interrupted = 0;

void note_interruption(int) {
  is_interrupted = 1;
  alarm(seconds_to_look);
}

}  // namespace

Progress::Progress(std::string what, std::uint64_t all, bool is_wanted)
    : what_(std::move(what)), all_(all), is_shown_(is_wanted && isatty(STDERR_FILENO) == 1) {}

void Progress::at(std::uint64_t done) {
  if (!is_shown_ || done < next_) return;
  next_ = done + std::max<std::uint64_t>(1, (all_ > 0 ? all_ : done) / 100);
  is_there_ = true;
  base::say(all_ > 0 ? fmt::format("\r\033[K{} {} of {}", what_, done, all_)
                     : fmt::format("\r\033[K{} {}", what_, done));
}

void Progress::clear() {
  if (std::exchange(is_there_, false)) base::say("\r\033[K");
}

Interruption::Interruption() {
  struct sigaction now {};
  sigaction(SIGINT, nullptr, &now);
  if (now.sa_handler == SIG_IGN) return;
  struct sigaction noted {};
  noted.sa_handler = note_interruption;
  noted.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &noted, nullptr);
}

bool Interruption::is_asked() const { return is_interrupted != 0; }

void Interruption::end(const std::string& text) const {
  fmt::print("{}", text);
  std::fflush(stdout);
  std::signal(SIGINT, SIG_DFL);
  std::raise(SIGINT);
  std::abort();  // reached only if SIGINT is blocked
}

}  // namespace bench
