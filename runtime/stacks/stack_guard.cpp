// SPDX-License-Identifier: Apache-2.0
// runtime/stacks/stack_guard.cpp — a signal handler that recognises stack guards
#include "runtime/stacks/stack_guard.hpp"

#include <pthread.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <utility>

#include "runtime/processes/signal_line.hpp"
#include "runtime/scheduler/context.hpp"

namespace runtime {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool sanitizer_says_it = true;
#else
constexpr bool sanitizer_says_it = false;
#endif

constexpr std::array signals = {SIGSEGV, SIGBUS};
struct sigaction previous[signals.size()];

/// Returns the stack pointer; 0 on an unknown processor.
std::uintptr_t stack_pointer(const void* machine_state) {
  [[maybe_unused]] const auto& machine = static_cast<const ucontext_t*>(machine_state)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return machine.sp;
#else
  return 0;
#endif
}

/// Returns whether the fault is a stack overflow: an access to the guard pages, or a stack pointer
/// below the stack. A function whose frame is larger than the guard moves the stack pointer below
/// the stack.
bool is_overflow(const StackBounds& stack, const siginfo_t& fault, const void* machine_state) {
  if (stack.guard_bytes == 0) return false;
  const auto bottom = reinterpret_cast<std::uintptr_t>(stack.bottom);
  const auto lowest = bottom - stack.guard_bytes;
  const auto address = reinterpret_cast<std::uintptr_t>(fault.si_addr);
  constexpr std::uintptr_t frame_max = std::uintptr_t{1} << 30;
  const std::uintptr_t pointer = stack_pointer(machine_state);
  return (address >= lowest && address < bottom) ||
         (pointer < bottom && bottom - pointer < frame_max);
}

void say_overflow(const Context& context) {
  SignalLine line;
  line.add("stack overflow of ").add(context.name);
  line.add(": its stack has ").add_bytes(context.stack.bytes);
  line.add(context.role == ContextRole::thread ? "; option --stack, config key `stack`\n"
                                               : ", as those of all services\n");
  line.write_to(STDERR_FILENO);
}

void on_fault(int signal, siginfo_t* fault, void* machine_state) {
  // True = a process sent the signal, and no access caused it.
  const bool is_sent = fault->si_code <= 0;
  const Context* context = Context::running();
  if (!is_sent && context != nullptr && is_overflow(context->stack, *fault, machine_state))
    say_overflow(*context);
  const struct sigaction& before = previous[signal == SIGSEGV ? 0 : 1];
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, fault, machine_state);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    return before.sa_handler(signal);
  // Restores the default action. After the return the processor repeats the access, and the default
  // action ends the process with a core file.
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, nullptr);
  if (is_sent) raise(signal);
}

std::size_t page_bytes() { return static_cast<std::size_t>(getpagesize()); }

}  // namespace

StackBounds stack_of_this_thread() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* bottom = nullptr;
  StackBounds stack;
  pthread_attr_getstack(&attributes, &bottom, &stack.bytes);
  pthread_attr_getguardsize(&attributes, &stack.guard_bytes);
  pthread_attr_destroy(&attributes);
  stack.bottom = static_cast<const char*>(bottom);
  return stack;
}

std::size_t guard_bytes_for(std::size_t stack_bytes) {
  constexpr std::size_t most = 1 << 20;
  const std::size_t part = std::min(stack_bytes / 8, most);
  return std::max<std::size_t>(1, part / page_bytes()) * page_bytes();
}

void say_stack_overflows() {
  if (sanitizer_says_it) return;
  static std::once_flag once;
  std::call_once(once, [] {
    for (std::size_t i = 0; i < signals.size(); ++i) {
      struct sigaction ours {};
      ours.sa_sigaction = on_fault;
      ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
      sigaction(signals[i], nullptr, &previous[i]);
      sigaction(signals[i], &ours, nullptr);
    }
  });
}

namespace {

std::size_t alternate_bytes() {
  static const auto bytes =
      static_cast<std::size_t>(std::max<long>(sysconf(_SC_SIGSTKSZ), 32 * 1024));
  return bytes;
}

}  // namespace

AlternateStack::Memory AlternateStack::memory() {
  return sanitizer_says_it ? nullptr : std::make_unique_for_overwrite<char[]>(alternate_bytes());
}

AlternateStack::AlternateStack(Memory memory) : memory_(std::move(memory)) {
  if (!memory_) return;
  stack_t now{}, ours{};
  ours.ss_sp = memory_.get();
  ours.ss_size = alternate_bytes();
  const bool has_none = sigaltstack(nullptr, &now) == 0 && (now.ss_flags & SS_DISABLE) != 0;
  if (!has_none || sigaltstack(&ours, nullptr) != 0) memory_.reset();
}

AlternateStack::~AlternateStack() {
  if (!memory_) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

}  // namespace runtime
