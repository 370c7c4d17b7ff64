// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/executor_reports.cpp — reports that list the contexts of an executor.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/processes/signal_line.hpp"
#include "runtime/scheduler/executor.hpp"

namespace runtime {
namespace {

std::string text_of(const Reason& reason) {
  if (reason.subject.empty()) return std::string(reason.what);
  return fmt::format("{} {} {}", reason.what, reason.subject, reason.number);
}

}  // namespace

std::string Executor::standstill_report() const {
  constexpr std::size_t shown_max = 8;
  std::vector<const Context*> ran;
  for (const Context* context = live_; context != nullptr; context = context->next_)
    if (context->instant_ == instant_) ran.push_back(context);
  const auto shown = ran.begin() + static_cast<std::ptrdiff_t>(std::min(ran.size(), shown_max));
  std::partial_sort(ran.begin(), shown, ran.end(), [](const Context* a, const Context* b) {
    return a->runs_ != b->runs_ ? a->runs_ > b->runs_ : a->name.text() < b->name.text();
  });
  std::string report = fmt::format(
      "deadlock at {}: time stands still, though contexts ran {} times since it last passed; most "
      "often",
      base::format_time(virtual_now_), runs_);
  for (auto one = ran.begin(); one != shown; ++one)
    report += fmt::format("\n  {}: {} times{}", (*one)->name.text(), (*one)->runs_,
                          (*one)->parked_ ? "; it waits for " + text_of(*(*one)->reason_) : "");
  return report;
}

std::string Executor::deadlock_report() const {
  constexpr int shown_max = 24;
  std::string report =
      fmt::format("deadlock at {}: nobody can ever wake", base::format_time(virtual_now_));
  std::vector<const Context*> waiting;
  for (const Context* context = live_; context != nullptr; context = context->next_)
    if (context->parked_) waiting.push_back(context);
  std::reverse(waiting.begin(), waiting.end());  // oldest first
  int shown = 0;
  for (const Context* context : waiting) {
    if (++shown > shown_max) break;
    report += fmt::format("\n  {} waits for {}", context->name.text(), text_of(*context->reason_));
  }
  if (waiting.size() > shown_max)
    report += fmt::format("\n  and {} more", waiting.size() - shown_max);
  return report;
}

/// Called in a signal handler: allocates nothing, and tolerates a list that is being changed.
void Executor::write_contexts(int descriptor) const {
  constexpr std::size_t shown_max = 1'000;
  std::size_t shown = 0;
  for (const Context* context = live_; context != nullptr; context = context->next_) {
    if (++shown > shown_max) {
      SignalLine().add("  and ").add(live_count_ - shown_max).add(" more\n").write_to(descriptor);
      return;
    }
    SignalLine line;
    line.add("  ").add(context->name);
    const Reason* const reason = context->reason_;
    if (context == Context::running())
      line.add(" runs");
    else if (!context->parked_ || reason == nullptr)
      line.add(" is ready");
    else
      line.add(" waits for ").add(reason->what);
    if (context->parked_ && reason != nullptr && !reason->subject.empty())
      line.add(" ").add(reason->subject).add(" ").add(reason->number);
    line.add("\n").write_to(descriptor);
  }
}

}  // namespace runtime
