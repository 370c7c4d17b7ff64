// SPDX-License-Identifier: Apache-2.0
// runtime/between_processes.cpp — futexes without the private flag, and descriptors of processes.
#include "runtime/between_processes.hpp"

#include <fmt/format.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>

#include "runtime/context.hpp"
#include "runtime/executor.hpp"
#include "runtime/moment.hpp"
#include "runtime/os_thread.hpp"
#include "runtime/polling.hpp"

namespace runtime {
namespace {

/// Not at once false after `at_most` only: whoever waits looks at what for.
void sleep_at(std::atomic<std::uint32_t>& word, std::uint32_t seen, Nanos at_most) {
  timespec span{};
  span.tv_sec = at_most.count() / 1'000'000'000;
  span.tv_nsec = at_most.count() % 1'000'000'000;
  syscall(SYS_futex, &word, FUTEX_WAIT, seen, at_most == Nanos::max() ? nullptr : &span, nullptr,
          0);
}

void wake_at(std::atomic<std::uint32_t>& word, int most) {
  syscall(SYS_futex, &word, FUTEX_WAKE, most, nullptr, nullptr, 0);
}

/// Field 22 of /proc/PID/stat; 0 when there is no such process.
std::uint64_t start_of(std::uint32_t pid) {
  std::FILE* const file = std::fopen(fmt::format("/proc/{}/stat", pid).c_str(), "re");
  if (file == nullptr) return 0;
  char text[1024];
  const std::size_t bytes = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[bytes] = '\0';
  const char* at = std::strrchr(text, ')');  // the name before it may hold anything
  unsigned long long started = 0;
  constexpr const char* format =
      ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu";
  return at != nullptr && std::sscanf(at, format, &started) == 1 ? started : 0;
}

/// Readable once the process has ended; negative when it has been forgotten or is another.
int open_process(const ProcessIdentity& process) {
  const auto opened = static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0));
  if (opened < 0 || start_of(process.pid) == process.started) return opened;
  close(opened);
  return -1;
}

constexpr std::uint32_t sleepers = std::uint32_t{1} << 31, died = std::uint32_t{1} << 30;
// How long one sleeps before asking whether the holder lives; mostly a BellThreads is faster.
constexpr Nanos doubt{20'000'000};

}  // namespace

bool look_at(const std::atomic<std::uint32_t>& word, std::uint32_t seen, Deadline deadline,
             const Reason& reason) {
  const Context* const self = Context::current();
  if (self == nullptr || self->is_fiber) return false;
  Nanos until = deadline.at;
  if (const Executor* const executor = self->executor; executor != nullptr) {
    if (executor->options.waiting != Waiting::adaptive) return false;
    const Nanos zero = executor->origin().time_since_epoch();
    until = until > Nanos::max() - zero ? Nanos::max() : until + zero;
  }
  return poll(word, seen, until, WaitSite::of(reason));
}

ProcessIdentity ProcessIdentity::of(std::uint32_t pid) { return {pid, start_of(pid)}; }

ProcessIdentity ProcessIdentity::of_caller() { return of(static_cast<std::uint32_t>(getpid())); }

bool ProcessIdentity::is_alive() const {
  if (pid == 0) return false;
  const int opened = open_process(*this);
  if (opened < 0) return false;
  pollfd one{opened, POLLIN, 0};
  const bool has_ended = ::poll(&one, 1, 0) == 1;
  close(opened);
  return !has_ended;
}

/// Either we see that it is about to sleep, or the kernel shows it the new number.
void SharedBell::ring() {
  rings.fetch_add(1, std::memory_order_seq_cst);
  if (is_asleep.load(std::memory_order_seq_cst) != 0) wake_at(rings, INT_MAX);
}

// ---- the lock --------------------------------------------------------------------------------

SharedLock::Found SharedLock::lock(std::uint32_t me, const Holders& holders, Nanos patience) {
  std::uint32_t expected = 0;
  if (word_.compare_exchange_strong(expected, me + 1, std::memory_order_acquire,
                                    std::memory_order_relaxed))
    return Found::clean;
  return lock_slowly(me, holders, patience);
}

SharedLock::Found SharedLock::lock_slowly(std::uint32_t me, const Holders& holders,
                                          Nanos patience) {
  const Nanos began = steady_now();
  Nanos asked = began;
  for (int looks = 0;; ++looks) {
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    if ((seen & ~sleepers) == 0 || (seen & died) != 0) {
      // Others may sleep: to wake one too many does no harm.
      const std::uint32_t mine = (me + 1) | (looks > 64 ? sleepers : seen & sleepers);
      if (word_.compare_exchange_strong(seen, mine, std::memory_order_acquire))
        return (seen & died) != 0 ? Found::holder_died : Found::clean;
      continue;
    }
    if (looks < 64) {
      pause_core();
      continue;
    }
    if ((seen & sleepers) == 0) {
      if (!word_.compare_exchange_strong(seen, seen | sleepers)) continue;
      seen |= sleepers;
    }
    sleep_at(word_, seen, doubt);
    const Nanos now = steady_now();
    if (now - asked < doubt) continue;
    asked = now;
    if (!holders.lives((seen & ~sleepers) - 1))
      word_.compare_exchange_strong(seen, died | sleepers);
    else if (now - began > patience)
      return Found::stuck;
  }
}

void SharedLock::unlock() {
  if ((word_.exchange(0, std::memory_order_release) & sleepers) != 0) wake_at(word_, 1);
}

void SharedLock::leave_for(std::uint32_t dead) {
  std::uint32_t seen = word_.load();
  if ((seen & ~sleepers) != dead + 1) return;
  if (word_.compare_exchange_strong(seen, died | sleepers)) wake_at(word_, INT_MAX);
}

std::optional<std::uint32_t> SharedLock::holder() const {
  const std::uint32_t seen = word_.load() & ~sleepers;
  if (seen == 0 || (seen & died) != 0) return std::nullopt;
  return seen - 1;
}

// ---- the threads -----------------------------------------------------------------------------

struct BellThreads::State {
  SharedBell& bell;
  std::function<void()> rung;
  std::function<void(ProcessIdentity)> ended;
  int wake = -1;  // of the thread that hears of ends
  std::atomic<bool> is_over{false};
  Mutex mutex;
  std::vector<ProcessIdentity> wanted;
  bool has_news = false;
  OsThread answering, hearing;

  State(SharedBell& of, std::function<void()> on_ring, std::function<void(ProcessIdentity)> on_end)
      : bell(of), rung(std::move(on_ring)), ended(std::move(on_end)) {
    wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake < 0) throw std::system_error(errno, std::generic_category(), "no eventfd");
  }
  ~State() { close(wake); }

  void nudge() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(wake, &one, sizeof one);
  }

  void answer() {
    for (std::uint32_t answered = bell.rings.load() - 1; !is_over;) {
      const std::uint32_t seen = bell.rings.load(std::memory_order_seq_cst);
      if (seen != answered) {
        answered = seen;
        rung();
        continue;
      }
      bell.is_asleep.store(1, std::memory_order_seq_cst);
      // Not for ever: somebody may have overwritten what says that we sleep.
      sleep_at(bell.rings, seen, Nanos{1'000'000'000});
      bell.is_asleep.store(0, std::memory_order_relaxed);
    }
  }

  struct Heard {
    ProcessIdentity process;
    int descriptor;
  };

  void hear() {
    std::vector<Heard> heard;
    std::vector<pollfd> polled;
    while (!is_over) {
      take_news(heard);
      polled.assign(1, {wake, POLLIN, 0});
      for (const Heard& one : heard) polled.push_back({one.descriptor, POLLIN, 0});
      if (::poll(polled.data(), polled.size(), -1) < 0) continue;
      std::uint64_t nudges = 0;
      [[maybe_unused]] const auto got = read(wake, &nudges, sizeof nudges);
      for (std::size_t i = polled.size(); --i > 0;) {
        if (polled[i].revents == 0) continue;
        const Heard gone = heard[i - 1];
        heard.erase(heard.begin() + static_cast<std::ptrdiff_t>(i) - 1);
        close(gone.descriptor);
        ended(gone.process);
      }
    }
    for (const Heard& one : heard) close(one.descriptor);
  }

  void take_news(std::vector<Heard>& heard) {
    std::vector<ProcessIdentity> processes;
    {
      const Lock lock(mutex);
      if (!std::exchange(has_news, false)) return;
      processes = wanted;
    }
    std::erase_if(heard, [&](const Heard& one) {
      const bool stays =
          std::find(processes.begin(), processes.end(), one.process) != processes.end();
      if (!stays) close(one.descriptor);
      return !stays;
    });
    for (const ProcessIdentity& process : processes) {
      const auto is_it = [&](const Heard& one) { return one.process == process; };
      if (std::any_of(heard.begin(), heard.end(), is_it)) continue;
      const int descriptor = open_process(process);
      if (descriptor >= 0)
        heard.push_back({process, descriptor});
      else
        ended(process);
    }
  }
};

BellThreads::BellThreads(SharedBell& bell, std::function<void()> rung,
                         std::function<void(ProcessIdentity)> ended)
    : state_(std::make_unique<State>(bell, std::move(rung), std::move(ended))) {
  State* const state = state_.get();
  state->answering = OsThread(service_stack_bytes, [state] { state->answer(); });
  try {
    state->hearing = OsThread(service_stack_bytes, [state] { state->hear(); });
  } catch (...) {
    state->is_over = true;
    bell.ring();
    state->answering.join();
    throw;
  }
}

BellThreads::~BellThreads() {
  state_->is_over = true;
  state_->bell.ring();
  state_->nudge();
  state_->answering.join();
  state_->hearing.join();
}

void BellThreads::listen_for(std::vector<ProcessIdentity> processes) {
  {
    const Lock lock(state_->mutex);
    state_->wanted = std::move(processes);
    state_->has_news = true;
  }
  state_->nudge();
}

}  // namespace runtime
