// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/diagnosis/findings.hpp — detection of problems in a report.
//
// The constants are in eventspace/analysis/report/significance.hpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "eventspace/analysis/report/report.hpp"
#include "eventspace/analysis/report/significance.hpp"

namespace eventspace {

/// Search for findings. It first makes all comparisons of a report, because they are corrected
/// together. It then makes findings from the results.
class FindingSearch {
 public:
  using AddFindings = std::function<void(std::vector<Finding>&)>;
  explicit FindingSearch(const Report& report) : report_(report) {}
  const Report& report() const { return report_; }
  Comparisons& comparisons() { return comparisons_; }
  const Compared& result(std::size_t comparison) const { return comparisons_.at(comparison); }
  /// Registers the function `add`. It is called when the results of all comparisons are known. It
  /// adds findings, and may remove earlier findings.
  void when_known(AddFindings add) { additions_.push_back(std::move(add)); }
  /// Marks the outliers of a thread at one place as explained, so that they are not reported again.
  void explain(const ThreadReport& thread) { explained_.insert(&thread); }
  bool is_explained(const ThreadReport& thread) const { return explained_.contains(&thread); }
  /// Marks the noise of a thread at one place as a consequence of a change, which is named instead.
  void note_change(const ThreadReport& thread) { changed_.insert(&thread); }
  bool is_noise_of_change(const ThreadReport& thread) const { return changed_.contains(&thread); }
  /// Corrects the comparisons and returns all findings. Call once.
  std::vector<Finding> finish();

 private:
  const Report& report_;
  Comparisons comparisons_;
  std::vector<AddFindings> additions_;
  std::set<const ThreadReport*> explained_, changed_;
};

/// Returns one / other; 0 if `other` is 0.
double ratio(double one, double other);
/// Returns a finding that rests on a comparison. `count` is the number of computations or messages
/// whose mean was compared.
Finding finding_of(FindingKind kind, const Compared& compared, std::uint64_t count);
/// Sets the host of a finding about computations of a thread, and the computations' place in the
/// program.
void set_place(Finding& finding, const ThreadReport& thread);
/// Sets the place, thread and hosts of a finding that several threads have in common. Returns a
/// name for these threads, such as "thread alpha-0/1", "2 threads of host alpha-0" or "3 hosts of
/// alpha". A finding of several hosts is about all threads of these hosts at that place. Requires:
/// there is at least one thread, and all threads are at the same place of the program.
std::string set_threads(Finding& finding, const std::vector<const ThreadReport*>& threads);
/// Returns the total time by which `count` computations or messages exceeded the usual time.
std::int64_t lost_in(const Compared& compared, std::uint64_t count);
/// Whether even the short durations are longer than usual: by at least shifted_share of the
/// difference of the means. `nanos` is a low percentile or the median of the durations.
/// `usual_nanos` is the same quantile of the usual durations.
bool is_shifted(std::int64_t nanos, std::int64_t usual_nanos, const Compared& compared);
/// Returns the index of the median of the values. If there are two middle values, it is the index
/// of the lower value. Returns nullopt if there are fewer than like_others_least values, or if they
/// differ too much (like_others_factor).
std::optional<std::size_t> middle_of_alike(const std::vector<double>& nanos);

/// Returns the findings of a report. Some may cost too little to be named (costs_enough()).
std::vector<Finding> find_what_stands_out(const Report& report);

// Each of the next functions compares objects of one kind, such as links.

void compare_links(FindingSearch& search);
void compare_networks(FindingSearch& search);
void compare_replies(FindingSearch& search);
/// Compares the noise of each thread with 0.
void compare_noise(FindingSearch& search);
/// Adds findings for noise that is too rare for a comparison, but took so much time that it is
/// always named.
void find_rare_noise(FindingSearch& search, std::vector<Finding>& found);
/// Compares the members of groups, and the links between them.
void compare_in_groups(FindingSearch& search);

}  // namespace eventspace
