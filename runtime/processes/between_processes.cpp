// SPDX-License-Identifier: Apache-2.0
// runtime/processes/between_processes.cpp — futexes shared by processes, and process descriptors
#include "runtime/processes/between_processes.hpp"

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

#include "base/descriptor.hpp"
#include "runtime/polling/moment.hpp"
#include "runtime/polling/polling.hpp"
#include "runtime/scheduler/context.hpp"
#include "runtime/scheduler/executor.hpp"
#include "runtime/scheduler/os_thread.hpp"

namespace runtime {
namespace {

/// Sleeps while the futex is `seen`, for at most `at_most`. Returns false if that time has passed.
/// The function may return early, so callers check their condition again.
bool sleep_at(std::atomic<std::uint32_t>& futex, std::uint32_t seen, Nanos at_most) {
  const timespec span = timespec_of(at_most);
  const timespec* const most = at_most == Nanos::max() ? nullptr : &span;
  return syscall(SYS_futex, &futex, FUTEX_WAIT, seen, most, nullptr, 0) == 0 || errno != ETIMEDOUT;
}

void wake_at(std::atomic<std::uint32_t>& futex, int most) {
  syscall(SYS_futex, &futex, FUTEX_WAKE, most, nullptr, nullptr, 0);
}

/// Returns the start time, field 22 of /proc/PID/stat; 0 if it cannot be read.
std::uint64_t start_of(std::uint32_t pid) {
  std::FILE* const file = std::fopen(fmt::format("/proc/{}/stat", pid).c_str(), "re");
  if (file == nullptr) return 0;
  char text[1024];
  const std::size_t bytes = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[bytes] = '\0';
  // Finds the end of the process name by the last parenthesis, because the name may contain any
  // characters.
  const char* at = std::strrchr(text, ')');
  unsigned long long started = 0;
  constexpr const char* format =
      ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu";
  return at != nullptr && std::sscanf(at, format, &started) == 1 ? started : 0;
}

/// Result of open_process(): a descriptor that becomes readable when the process ends.
struct Opened {
  base::Descriptor descriptor;
  bool is_gone = false;  // true = the process has ended; false and no descriptor = unknown
};

/// Opens a process. Sets `is_gone` only if the process has certainly ended. Does not set it if the
/// process cannot be opened because there is no free descriptor or no permission.
Opened open_process(const ProcessIdentity& process) {
  base::Descriptor opened(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
  if (!opened && (errno == ESRCH || errno == EINVAL || errno == ENOENT)) return {{}, true};
  const std::uint64_t started = start_of(process.pid);
  if (started != 0 && process.started != 0 && started != process.started) return {{}, true};
  if (started == 0) opened.close();  // the state is unknown: the pid may belong to another process
  return {std::move(opened), false};
}

constexpr std::uint32_t sleepers = std::uint32_t{1} << 31, died = std::uint32_t{1} << 30;
// Time that a waiter of a SharedLock sleeps before it checks whether the holder is alive.
// BellThreads usually detects a death earlier.
constexpr Nanos doubt{20'000'000};
// Interval in milliseconds after which the thread that detects ended processes tries again to open
// a process. It also reports an end again after this interval, if `ended` returned false.
constexpr int again_ms = 200;
// Maximum sleep of the thread that handles a bell. After this time the thread calls `rung` even
// without a ring.
constexpr Nanos at_least_every{1'000'000'000};

}  // namespace

bool look_at(const std::atomic<std::uint32_t>& futex, std::uint32_t seen, Deadline deadline,
             const Reason& reason, int processes) {
  const Context* const self = Context::current();
  if (self == nullptr || self->is_fiber) return false;
  Nanos until = deadline.at;
  if (const Executor* const executor = self->executor; executor != nullptr) {
    if (executor->options.waiting != Waiting::adaptive) return false;
    until = executor->clock().on_steady_clock(until);
  }
  return poll(futex, seen, until, SpinHistory::of(reason), {.processes = processes});
}

bool rest_fiber(Nanos span) {
  const Context* const self = Context::current();
  if (self == nullptr || !self->is_fiber || self->executor == nullptr) return false;
  Mutex mutex;
  WaitList nobody;
  Lock lock(mutex);
  nobody.wait(lock, Deadline::written_at(self->executor->clock().now() + span),
              {"what others hold"});
  return true;
}

ProcessIdentity ProcessIdentity::of(std::uint32_t pid) { return {pid, start_of(pid)}; }

ProcessIdentity ProcessIdentity::of_caller() { return of(static_cast<std::uint32_t>(getpid())); }

bool ProcessIdentity::is_alive() const {
  if (pid == 0) return false;
  const Opened opened = open_process(*this);
  if (!opened.descriptor) return !opened.is_gone;
  pollfd one{opened.descriptor.get(), POLLIN, 0};
  return ::poll(&one, 1, 0) != 1;
}

/// Wakes the thread that handles the bell, if it sleeps. Either this call sees `is_asleep`, or that
/// thread sees the new value of `rings` and does not sleep.
void SharedBell::ring() {
  rings.fetch_add(1, std::memory_order_seq_cst);
  if (is_asleep.load(std::memory_order_seq_cst) != 0) wake_at(rings, INT_MAX);
}

// ---- SharedLock ------------------------------------------------------------------------------

SharedLock::Found SharedLock::lock(std::uint32_t me, const Holders& holders, Nanos patience) {
  std::uint32_t expected = 0;
  if (futex_.compare_exchange_strong(expected, me + 1, std::memory_order_acquire,
                                     std::memory_order_relaxed))
    return Found::clean;
  return lock_slowly(me, holders, patience);
}

SharedLock::Found SharedLock::lock_slowly(std::uint32_t me, const Holders& holders,
                                          Nanos patience) {
  Nanos began = steady_now(), asked = began;
  std::uint32_t holder = 0;
  for (int looks = 0;; ++looks) {
    std::uint32_t seen = futex_.load(std::memory_order_relaxed);
    if ((seen & ~sleepers) == 0 || (seen & died) != 0) {
      // After 64 polls the new holder also sets the bit `sleepers`, because other processes may
      // sleep by then. unlock() then makes a wake-up, which does no harm if none sleeps.
      const std::uint32_t mine = (me + 1) | (looks > 64 ? sleepers : seen & sleepers);
      if (futex_.compare_exchange_strong(seen, mine, std::memory_order_acquire))
        return (seen & died) != 0 ? Found::holder_died : Found::clean;
      continue;
    }
    if (looks < 64) {
      pause_core();
      continue;
    }
    if (patience == Nanos{0}) return Found::stuck;
    if ((seen & sleepers) == 0) {
      if (!futex_.compare_exchange_strong(seen, seen | sleepers)) continue;
      seen |= sleepers;
      holder = 0;  // the lock was free since the last check, so the patience counts from now
    }
    if (std::exchange(holder, seen) != seen) began = steady_now();
    sleep_at(futex_, seen, doubt);
    const Nanos now = steady_now();
    if (now - asked < doubt) continue;
    asked = now;
    if (!holders.lives((seen & ~sleepers) - 1))
      futex_.compare_exchange_strong(seen, died | sleepers);
    else if (now - began > patience)
      return Found::stuck;
  }
}

void SharedLock::unlock() {
  if ((futex_.exchange(0, std::memory_order_release) & sleepers) != 0) wake_at(futex_, 1);
}

void SharedLock::leave_for(std::uint32_t dead) {
  std::uint32_t seen = futex_.load();
  if ((seen & ~sleepers) != dead + 1) return;
  if (futex_.compare_exchange_strong(seen, died | sleepers)) wake_at(futex_, INT_MAX);
}

std::optional<std::uint32_t> SharedLock::holder() const {
  const std::uint32_t seen = futex_.load() & ~sleepers;
  if (seen == 0 || (seen & died) != 0) return std::nullopt;
  return seen - 1;
}

// ---- BellThreads and LookingThread -----------------------------------------------------------

struct BellThreads::State {
  SharedBell& bell;
  std::function<void()> rung;
  std::function<bool(ProcessIdentity)> ended;
  base::Descriptor wake;  // eventfd; wakes the thread that detects ended processes
  std::atomic<bool> is_over{false};
  Mutex mutex;
  std::vector<ProcessIdentity> wanted;
  bool has_news = false;
  OsThread answering, hearing;

  State(SharedBell& of, std::function<void()> on_ring, std::function<bool(ProcessIdentity)> on_end)
      : bell(of),
        rung(std::move(on_ring)),
        ended(std::move(on_end)),
        wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!wake) throw std::system_error(errno, std::generic_category(), "no eventfd");
  }

  void nudge() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(wake.get(), &one, sizeof one);
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
      // The sleep is bounded, because a wild write may have overwritten `is_asleep`.
      if (!sleep_at(bell.rings, seen, at_least_every)) answered = seen - 1;
      bell.is_asleep.store(0, std::memory_order_relaxed);
    }
  }

  struct Heard {
    ProcessIdentity process;
    base::Descriptor descriptor;
    bool has_ended = false;

    void open() {
      if (descriptor || has_ended) return;
      Opened opened = open_process(process);
      descriptor = std::move(opened.descriptor);
      has_ended = opened.is_gone;
    }
  };

  void hear() {
    std::vector<Heard> heard;
    std::vector<pollfd> polled;
    while (!is_over) {
      take_news(heard);
      for (Heard& one : heard) one.open();
      std::erase_if(heard, [&](const Heard& one) { return one.has_ended && ended(one.process); });
      polled.assign(1, {wake.get(), POLLIN, 0});
      bool has_received_all = true;
      for (const Heard& one : heard) {
        polled.push_back({one.descriptor.get(), POLLIN, 0});
        has_received_all &= static_cast<bool>(one.descriptor);
      }
      if (::poll(polled.data(), polled.size(), has_received_all ? -1 : again_ms) < 0) continue;
      std::uint64_t nudges = 0;
      [[maybe_unused]] const auto got = read(wake.get(), &nudges, sizeof nudges);
      for (std::size_t i = 0; i < heard.size(); ++i) {
        if (polled[i + 1].revents == 0) continue;
        heard[i].has_ended = (polled[i + 1].revents & POLLIN) != 0;
        heard[i].descriptor.close();
      }
    }
  }

  void take_news(std::vector<Heard>& heard) {
    const Lock lock(mutex);
    if (!std::exchange(has_news, false)) return;
    std::erase_if(heard, [&](const Heard& one) {
      return std::find(wanted.begin(), wanted.end(), one.process) == wanted.end();
    });
    for (const ProcessIdentity& process : wanted) {
      const auto is_it = [&](const Heard& one) { return one.process == process; };
      if (std::none_of(heard.begin(), heard.end(), is_it)) heard.push_back({process, {}, false});
    }
  }
};

BellThreads::BellThreads(SharedBell& bell, std::function<void()> rung,
                         std::function<bool(ProcessIdentity)> ended)
    : state_(std::make_unique<State>(bell, std::move(rung), std::move(ended))) {
  State* const state = state_.get();
  // Starts `hearing` first, because the first thread is joined if the second thread cannot start. A
  // join of `answering` could block for ever: it calls `rung` at its start, and the caller of the
  // constructor may hold a lock that `rung` needs.
  state->hearing = OsThread(service_stack_bytes, [state] { state->hear(); });
  try {
    state->answering = OsThread(service_stack_bytes, [state] { state->answer(); });
  } catch (...) {
    state->is_over = true;
    state->nudge();
    state->hearing.join();
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

struct LookingThread::State {
  std::function<bool()> look;
  // Number of begin() calls; the thread sleeps until it changes.
  std::atomic<std::uint32_t> wanted{0};
  std::atomic<bool> is_over{false};
  OsThread thread;

  void run(Nanos every) {
    while (!is_over) {
      const std::uint32_t seen = wanted;
      while (!is_over && look()) sleep_at(wanted, wanted, every);
      if (!is_over && wanted == seen) sleep_at(wanted, seen, Nanos::max());
    }
  }
  void tell() {
    ++wanted;
    wake_at(wanted, INT_MAX);
  }
};

LookingThread::LookingThread(Nanos every, std::function<bool()> look)
    : state_(std::make_unique<State>()) {
  State* const state = state_.get();
  state->look = std::move(look);
  state->thread = OsThread(service_stack_bytes, [state, every] { state->run(every); });
}

LookingThread::~LookingThread() {
  state_->is_over = true;
  state_->tell();
  state_->thread.join();
}

void LookingThread::begin() { state_->tell(); }

}  // namespace runtime
