// SPDX-License-Identifier: Apache-2.0
// paths/run/processes/companions.cpp — start, restart and end of companions.
#include "paths/run/processes/companions.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

#include "paths/run/processes/system_call.hpp"

namespace paths {
namespace {

/// A companion that ends sooner counts as failed. Otherwise its starts would be the load.
constexpr int least_seconds = 1;

bool has_expired(const base::Descriptor& timer) {
  itimerspec left{};
  timerfd_gettime(timer.get(), &left);
  return left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0;
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) == not_started) return "could not start";
  return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

}  // namespace

Companions::Companions(const InheritedSettings& inherited) : inherited_(inherited) {}

Companions::~Companions() {
  for (Companion& one : companions_)
    if (one.process && !one.process->has_ended()) one.process->kill_now();
}

void Companions::start(const Launch& launch, base::Descriptor err) {
  if (!out_)
    out_ = base::Descriptor(check_system_call(open("/dev/null", O_WRONLY | O_CLOEXEC), "open"));
  base::Descriptor timer(
      check_system_call(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), "timerfd"));
  companions_.push_back({&launch, std::move(err), std::move(timer)});
  start(companions_.back());
}

void Companions::start(Companion& companion) {
  itimerspec limit{};
  limit.it_value.tv_sec = least_seconds;
  timerfd_settime(companion.timer.get(), 0, &limit, nullptr);
  companion.process.emplace(*companion.launch, out_.get(), companion.err.get(), inherited_);
}

std::optional<Companions::Failure> Companions::collect_ended() {
  std::optional<Failure> failure;
  for (Companion& one : companions_) {
    int status = 0;
    if (!one.process->collect_exit(status) || are_stopped_ || failure) continue;
    const std::string name =
        fmt::format("{} next to host {}", one.launch->command[0], one.launch->host);
    if (status != 0)
      failure = {fmt::format("{} {}", name, how_it_ended(status)),
                 WIFEXITED(status) && WEXITSTATUS(status) == 2 ? 2 : 1};
    else if (!has_expired(one.timer))
      failure = {fmt::format("{} ended in less than {} s; expected a program that computes longer",
                             name, least_seconds)};
    if (failure) continue;
    ++restarts_;
    start(one);
  }
  return failure;
}

void Companions::stop(int signal) {
  are_stopped_ = true;
  for (const Companion& one : companions_) one.process->send_signal(signal);
}

bool Companions::any_left() const {
  return std::any_of(companions_.begin(), companions_.end(),
                     [](const Companion& one) { return !one.process->has_ended(); });
}

std::vector<int> Companions::ends() const {
  std::vector<int> ends;
  for (const Companion& one : companions_) ends.push_back(one.process->end());
  return ends;
}

}  // namespace paths
