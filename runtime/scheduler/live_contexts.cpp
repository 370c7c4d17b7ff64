// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/live_contexts.cpp — the list of live contexts, and its reports
#include "runtime/scheduler/live_contexts.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/processes/signal_line.hpp"
#include "runtime/scheduler/context.hpp"
#include "runtime/scheduler/virtual_clock.hpp"

namespace runtime {
namespace {

std::string text_of(const Reason& reason) {
  if (reason.subject.empty()) return std::string(reason.what);
  return fmt::format("{} {} {}", reason.what, reason.subject, reason.number);
}

}  // namespace

void LiveContexts::add(Context& context) {
  context.next_ = first_;
  if (first_ != nullptr) first_->previous_ = &context;
  first_ = &context;
  most_ = std::max(most_, ++count_);
}

void LiveContexts::remove(Context& context) {
  (context.previous_ != nullptr ? context.previous_->next_ : first_) = context.next_;
  if (context.next_ != nullptr) context.next_->previous_ = context.previous_;
  context.previous_ = context.next_ = nullptr;
  --count_;
}

void LiveContexts::cancel(const std::exception_ptr& reason) {
  for (Context* context = first_; context != nullptr; context = context->next_)
    context->cancel(reason);
}

std::string LiveContexts::standstill_report(const VirtualClock& clock) const {
  constexpr std::size_t shown_max = 8;
  std::vector<const Context*> ran;
  for (const Context* context = first_; context != nullptr; context = context->next_)
    if (context->instant_ == clock.instant()) ran.push_back(context);
  const auto shown = ran.begin() + static_cast<std::ptrdiff_t>(std::min(ran.size(), shown_max));
  std::partial_sort(ran.begin(), shown, ran.end(), [](const Context* a, const Context* b) {
    return a->runs_ != b->runs_ ? a->runs_ > b->runs_ : a->name.text() < b->name.text();
  });
  std::string report = fmt::format(
      "deadlock at {}: time stands still, though contexts ran {} times since it last passed; most "
      "often",
      base::format_time(clock.now()), clock.runs());
  for (auto one = ran.begin(); one != shown; ++one)
    report += fmt::format(
        "\n  {}: {} times{}", (*one)->name.text(), (*one)->runs_,
        (*one)->waits_.is_waiting() ? "; it waits for " + text_of(*(*one)->reason_) : "");
  return report;
}

std::string LiveContexts::deadlock_report(const VirtualClock& clock) const {
  constexpr int shown_max = 24;
  std::string report =
      fmt::format("deadlock at {}: no context can ever wake", base::format_time(clock.now()));
  std::vector<const Context*> waiting;
  for (const Context* context = first_; context != nullptr; context = context->next_)
    if (context->waits_.is_waiting()) waiting.push_back(context);
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

/// Runs in a signal handler. It therefore allocates nothing, and tolerates that the interrupted
/// code is changing the list.
void LiveContexts::write(int descriptor) const {
  constexpr std::size_t shown_max = 1'000;
  std::size_t shown = 0;
  for (const Context* context = first_; context != nullptr; context = context->next_) {
    if (++shown > shown_max) {
      SignalLine().add("  and ").add(count_ - shown_max).add(" more\n").write_to(descriptor);
      return;
    }
    SignalLine line;
    line.add("  ").add(context->name);
    const Reason* const reason = context->reason_;
    if (context == Context::running())
      line.add(" runs");
    else if (!context->waits_.is_waiting() || reason == nullptr)
      line.add(" is ready");
    else
      line.add(" waits for ").add(reason->what);
    if (context->waits_.is_waiting() && reason != nullptr && !reason->subject.empty())
      line.add(" ").add(reason->subject).add(" ").add(reason->number);
    line.add("\n").write_to(descriptor);
  }
}

}  // namespace runtime
