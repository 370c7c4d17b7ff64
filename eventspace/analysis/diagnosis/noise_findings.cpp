// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/diagnosis/noise_findings.cpp — findings about noise of threads.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "eventspace/analysis/diagnosis/findings.hpp"
#include "eventspace/analysis/report/units.hpp"

namespace eventspace {
namespace {

/// Thread with noise, and the comparison that shows the noise. The comparison is nullopt if the
/// noise is too rare for a comparison, but took so much time that it is always named.
struct NoisyThread {
  const ThreadReport* thread = nullptr;
  std::optional<Compared> compared;
};

/// Whether two threads have noise of the same kind, which can be one finding.
bool are_alike(const ThreadReport& one, const ThreadReport& other) {
  const auto alike = [](auto left, auto right) {
    return static_cast<double>(std::max(left, right)) <=
           (1 + alike_share) * static_cast<double>(std::min(left, right));
  };
  return one.graph == other.graph && one.after == other.after &&
         std::equal(one.periods.begin(), one.periods.end(), other.periods.begin(),
                    other.periods.end(),
                    [&](const NoisePeriod& left, const NoisePeriod& right) {
                      return left.resonates == right.resonates && alike(left.nanos, right.nanos);
                    }) &&
         alike(one.noise_median_nanos, other.noise_median_nanos) &&
         alike(one.outliers, other.outliers);
}

/// Returns a period of noise in a unit, as text. If the noise resonates, another period makes the
/// same computations late: the one that is as far from the whole number of iterations, on the other
/// side. The text then names both periods. Otherwise it names the periods that fit as well.
std::string period_text(const NoisePeriod& period, double unit_nanos) {
  std::string text = fmt::format("{:.2f}", period.nanos / unit_nanos);
  if (!period.resonates) {
    for (const double other : period.others) text += fmt::format(" or {:.2f}", other / unit_nanos);
    return text;
  }
  const double iteration = period.nanos / period.iterations;
  const double other = 2 * std::round(period.iterations) * iteration - period.nanos;
  const std::string other_text = fmt::format("{:.2f}", other / unit_nanos);
  if (other_text == text) return text;
  return other < period.nanos ? other_text + " or " + text : text + " or " + other_text;
}

/// Returns the part of a sentence that names the periods of a thread's noise.
std::string periods_text(const std::vector<NoisePeriod>& periods) {
  if (periods.empty()) return ", with no period found";
  if (periods.size() == 1) return fmt::format(", every {} ms", period_text(periods.front(), 1e6));
  std::string text;
  for (const NoisePeriod& one : periods) {
    text += text.empty() ? ", " : &one == &periods.back() ? " and " : ", ";
    text += fmt::format("every {} ms ({:.3f} ms in {} of them)", period_text(one, 1e6),
                        ms(one.noise_nanos), one.computations);
  }
  return text;
}

void name_noise(const std::vector<NoisyThread>& threads, const Report& report,
                std::vector<Finding>& found) {
  const ThreadReport& first = *threads.front().thread;
  Finding finding;
  finding.kind = FindingKind::noisy_thread;
  if (threads.front().compared)
    finding =
        finding_of(FindingKind::noisy_thread, *threads.front().compared, first.computation.count);
  std::vector<const ThreadReport*> all;
  finding.cost_nanos = finding.lost_nanos = 0;
  for (const NoisyThread& one : threads) {
    all.push_back(one.thread);
    add_to(finding.cost_nanos, one.thread->critical_noise_nanos);
    add_to(finding.lost_nanos, one.compared ? lost_in(*one.compared, one.thread->computation.count)
                                            : one.thread->noise_nanos);
  }
  const std::string who = set_threads(finding, all);
  const bool is_one = threads.size() == 1;
  if (report.time.has_critical_path)
    finding.at_nanos = first.longest_begin_nanos - report.time.begin_nanos;
  finding.figure = static_cast<double>(first.noise_median_nanos);
  finding.unit = "nanoseconds";
  finding.basis = basis_of_one_clock;
  finding.sentence = fmt::format(
      "{} {} noise of {:.3f} ms (median) in {} of {} computations{}{}: {:.2f}% of {} computation",
      who, is_one ? "has" : "have", ms(first.noise_median_nanos), first.outliers,
      first.computation.count, is_one ? "" : " of each thread", periods_text(first.periods),
      100 * first.noise_share, is_one ? "its" : "their");
  for (const NoisePeriod& one : first.periods)
    if (one.resonates)
      finding.sentence += fmt::format(
          "; {}: its period is {} iterations, so that it meets the same part of an iteration for a "
          "long time",
          first.periods.size() == 1
              ? "it resonates"
              : fmt::format("the noise every {} ms resonates", period_text(one, 1e6)),
          period_text(one, one.nanos / one.iterations));
  found.push_back(std::move(finding));
}

/// Adds findings for the noise of threads. If all threads of several hosts have noise of the same
/// kind, these hosts are one finding.
void name_noisy_threads(std::vector<NoisyThread> threads, const Report& report,
                        std::vector<Finding>& found) {
  const auto count_on_host = [&](const ThreadReport& thread) {
    return std::count_if(
        report.threads.begin(), report.threads.end(), [&](const ThreadReport& one) {
          return one.host == thread.host && one.graph == thread.graph && one.after == thread.after;
        });
  };
  while (!threads.empty()) {
    const NoisyThread first = threads.front();
    std::map<std::string_view, std::int64_t> alike;
    for (const NoisyThread& one : threads)
      if (are_alike(*first.thread, *one.thread)) ++alike[one.thread->host];
    std::vector<NoisyThread> together;
    const auto is_together = [&](const NoisyThread& one) {
      return one.thread == first.thread ||
             (are_alike(*first.thread, *one.thread) &&
              alike[first.thread->host] == count_on_host(*first.thread) &&
              alike[one.thread->host] == count_on_host(*one.thread));
    };
    std::copy_if(threads.begin(), threads.end(), std::back_inserter(together), is_together);
    std::erase_if(threads, is_together);
    name_noise(together, report, found);
  }
}

}  // namespace

void compare_noise(FindingSearch& search) {
  std::vector<std::pair<const ThreadReport*, std::size_t>> comparisons;
  for (const ThreadReport& thread : search.report().threads)
    comparisons.emplace_back(&thread, search.comparisons().add(thread.noise_blocks, 0.0));
  search.when_known([&search, comparisons](std::vector<Finding>& found) {
    std::vector<NoisyThread> noisy;
    for (const auto& [thread, comparison] : comparisons) {
      if (!search.result(comparison).is_longer()) continue;
      search.explain(*thread);
      if (!search.is_noise_of_change(*thread)) noisy.push_back({thread, search.result(comparison)});
    }
    name_noisy_threads(std::move(noisy), search.report(), found);
  });
}

void find_rare_noise(FindingSearch& search, std::vector<Finding>& found) {
  const Report& report = search.report();
  std::vector<NoisyThread> noisy;
  for (const ThreadReport& thread : report.threads)
    if (thread.outliers >= period_outliers && !search.is_explained(thread) &&
        is_always_named(thread.noise_nanos, report))
      noisy.push_back({&thread, {}});
  name_noisy_threads(std::move(noisy), report, found);
}

}  // namespace eventspace
