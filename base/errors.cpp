// SPDX-License-Identifier: Apache-2.0
// base/errors.cpp — error texts, and the reaction to an internal error (abort or exception)
#include "base/errors.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "base/usage_error.hpp"
#include "base/visible.hpp"

namespace base {
namespace {

std::atomic<ContextLine> context_line{nullptr};
std::atomic<bool> bugs_throw{false};

std::string lines_of(const std::vector<Mistake>& mistakes, std::size_t more) {
  std::string lines;
  for (const Mistake& mistake : mistakes) {
    const std::string place = mistake.position.text();
    if (!lines.empty()) lines += '\n';
    if (!place.empty()) lines += visible(place) + ": ";
    lines += visible(mistake.message);
  }
  if (more > 0) lines += fmt::format("\nand {} more", more);
  return lines;
}

std::string who_was_running() {
  const ContextLine line = context_line;
  return line != nullptr ? line() + ": " : std::string();
}

struct KeptName {
  const std::string text;
  const KeptName* next;
};
std::atomic<const KeptName*> kept_names{nullptr};

}  // namespace

const std::string& FileName::text() const {
  static const std::string none;
  return kept_ != nullptr ? *kept_ : none;
}

const std::string* FileName::keep(std::string_view name) {
  if (name.empty()) return nullptr;
  const KeptName* const first = kept_names.load(std::memory_order_acquire);
  for (const KeptName* kept = first; kept != nullptr; kept = kept->next)
    if (kept->text == name) return &kept->text;
  auto* const added = new KeptName{std::string(name), first};
  // Two threads that add the same name at the same time store two equal copies.
  while (!kept_names.compare_exchange_weak(added->next, added, std::memory_order_acq_rel)) {
  }
  return &added->text;
}

std::string Position::text() const {
  std::string text = file.text();
  for (const int number : {line, column}) {
    if (number == 0) break;
    if (!text.empty()) text += ':';
    text += std::to_string(number);
  }
  return text;
}

ConfigError::ConfigError(std::vector<Mistake> mistakes, std::size_t more)
    : std::runtime_error(lines_of(mistakes, more)), mistakes_(std::move(mistakes)) {
  ENSURE(!mistakes_.empty());
}

void set_context_line(ContextLine line) { context_line = line; }

UsageError::UsageError(const std::string& mistake)
    : std::logic_error(who_was_running() + mistake), mistake_(mistake) {}

void set_bugs_throw(bool on) { bugs_throw = on; }

void report_bug(const char* file, int line, const std::string& message) {
  std::string report = fmt::format("bug at {}:{}: {}", file, line, message);
  if (const ContextLine context = context_line) report += fmt::format(" ({})", context());
  if (bugs_throw) throw std::logic_error(report);
  std::fprintf(stderr, "%s\n", report.c_str());
  std::abort();
}

}  // namespace base
