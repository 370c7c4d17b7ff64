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

/// Search for findings. All comparisons of a report are made first, because they are corrected
/// together. Then the results are named.
class FindingSearch {
 public:
  using AddFindings = std::function<void(std::vector<Finding>&)>;
  explicit FindingSearch(const Report& report) : report_(report) {}
  const Report& report() const { return report_; }
  Comparisons& comparisons() { return comparisons_; }
  const Compared& result(std::size_t comparison) const { return comparisons_.at(comparison); }
  /// Adds a function that is called when the results of all comparisons are known. It adds
  /// findings, and may remove earlier ones.
  void when_known(AddFindings add) { additions_.push_back(std::move(add)); }
  /// Adds a place of a thread whose outliers need no further explanation.
  void explain(const ThreadReport& thread) { explained_.insert(&thread); }
  bool is_explained(const ThreadReport& thread) const { return explained_.contains(&thread); }
  /// Corrects the comparisons and returns all findings. Call once.
  std::vector<Finding> finish();

 private:
  const Report& report_;
  Comparisons comparisons_;
  std::vector<AddFindings> additions_;
  std::set<const ThreadReport*> explained_;
};

/// Returns one / other; 0 if `other` is 0.
double ratio(double one, double other);
/// Returns a finding that rests on a comparison. `count` is the number of computations or messages
/// of which the comparison has the means.
Finding finding_of(FindingKind kind, const Compared& compared, std::uint64_t count);
/// Sets the host of a finding about computations of a thread, and their place in the program.
void set_place(Finding& finding, const ThreadReport& thread);
/// Sets the place, thread and hosts of a finding that several threads have in common. Returns their
/// name, such as "thread alpha-0/1", "2 threads of host alpha-0" or "3 hosts of alpha". A finding
/// of several hosts is about all of their threads at that place. Requires: at least one thread; all
/// are at the same place of the program.
std::string set_threads(Finding& finding, const std::vector<const ThreadReport*>& threads);
/// Returns the time by which `count` computations or messages were longer in total.
std::int64_t lost_in(const Compared& compared, std::uint64_t count);
/// Whether short durations are longer by about as much as the mean (shifted_share).
bool is_shifted(std::int64_t nanos, std::int64_t usual_nanos, const Compared& compared);
/// Returns the place of the middle one of the values; of two, the lower one. nullopt if there are
/// fewer than like_others_least, or if they are too different.
std::optional<std::size_t> middle_of_alike(const std::vector<double>& nanos);

/// Returns the findings of a report. Some may cost too little to be named (costs_enough()).
std::vector<Finding> find_what_stands_out(const Report& report);

// The functions below compare the things of one kind.

void compare_links(FindingSearch& search);
void compare_networks(FindingSearch& search);
void compare_replies(FindingSearch& search);
/// Members of groups, and links between them.
void compare_in_groups(FindingSearch& search);

}  // namespace eventspace
