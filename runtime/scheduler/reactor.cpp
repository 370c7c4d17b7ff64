// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/reactor.cpp — epoll, and an event descriptor that ends its sleep
#include "runtime/scheduler/reactor.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <exception>
#include <span>
#include <utility>

#include "base/errors.hpp"
#include "runtime/polling/moment.hpp"
#include "runtime/wait.hpp"

namespace runtime {
namespace {

/// Waits for events. Falls back to a limit in milliseconds if the kernel has no epoll_pwait2
/// (before Linux 5.11, and under some tools).
int wait_for_events(int epoll, std::span<epoll_event> events, const timespec* limit) {
  const int most = static_cast<int>(events.size());
  const int count = epoll_pwait2(epoll, events.data(), most, limit, nullptr);
  if (count >= 0 || errno != ENOSYS) return count;
  constexpr std::int64_t milliseconds_max = 60'000;
  const std::int64_t left =
      limit == nullptr
          ? -1
          : std::min<std::int64_t>(milliseconds_max,
                                   limit->tv_sec * 1000 + (limit->tv_nsec + 999'999) / 1'000'000);
  return epoll_wait(epoll, events.data(), most, static_cast<int>(left));
}

int add_to(int epoll, int descriptor) {
  epoll_event interest{};
  interest.events = EPOLLIN;
  interest.data.fd = descriptor;
  return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &interest);
}

}  // namespace

void run_callback(const std::function<void()>& callback) {
  try {
    callback();
  } catch (const std::exception& error) {
    base::report_bug(__FILE__, __LINE__, fmt::format("a callback threw: {}", error.what()));
  } catch (const Stop& stop) {
    base::report_bug(__FILE__, __LINE__, fmt::format("a callback waited: {}", stop.what()));
  }
}

Reactor::Reactor()
    : epoll_(epoll_create1(EPOLL_CLOEXEC)), event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  ENSURE(epoll_ && event_);
  ENSURE_EQ(add_to(epoll_.get(), event_.get()), 0);
}

void Reactor::watch(int descriptor, std::function<void()> on_readable) {
  watched_[descriptor] = std::move(on_readable);
  ENSURE_EQ(add_to(epoll_.get(), descriptor), 0);
}

void Reactor::unwatch(int descriptor) {
  watched_.erase(descriptor);
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
}

void Reactor::notify() {
  if (state_.exchange(notified) != sleeping) return;
  const std::uint64_t one = 1;
  ENSURE_EQ(write(event_.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
}

void Reactor::look() {
  constexpr timespec at_once{};
  handle(&at_once);
}

void Reactor::sleep(Nanos longest) {
  const timespec limit = timespec_of(longest);
  int expected = running;
  // From now on notify() sees the state `sleeping` and writes the event.
  if (state_.compare_exchange_strong(expected, sleeping))
    handle(longest == Nanos::max() ? nullptr : &limit);
  state_.store(running);
}

void Reactor::handle(const timespec* limit) {
  const bool is_asleep = state_.load(std::memory_order_relaxed) == sleeping;
  epoll_event events[32];
  const int count = wait_for_events(epoll_.get(), events, limit);
  if (is_asleep) state_.store(running);
  ENSURE(count >= 0 || errno == EINTR);
  for (int i = 0; i < count; ++i) {
    const int descriptor = events[i].data.fd;
    if (descriptor == event_.get()) {
      std::uint64_t ignored;
      [[maybe_unused]] auto bytes = read(event_.get(), &ignored, sizeof ignored);
      continue;
    }
    const auto watched = watched_.find(descriptor);
    if (watched == watched_.end()) continue;
    const auto on_readable = watched->second;  // a copy, because the callback may call unwatch()
    run_callback(on_readable);
  }
}

}  // namespace runtime
