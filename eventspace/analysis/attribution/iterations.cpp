// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/iterations.cpp — cuts between the iterations of a run.
#include "eventspace/analysis/attribution/iterations.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "eventspace/analysis/attribution/division.hpp"

namespace eventspace {
namespace {

/// Counts of how often the threads of a run do the operations with a certain name.
struct Uses {
  std::string name;
  bool is_collective = false;
  std::uint64_t threads = 0;
  std::uint64_t least = 0;      // least number of uses by a thread that has uses
  std::uint64_t most = 0;       // greatest number of uses by one thread
  std::int64_t last_nanos = 0;  // last return from a use in the first thread that has uses
};

class Finder {
 public:
  explicit Finder(const Moments& moments) : moments_(moments) {
    std::map<std::string, std::uint32_t> numbers;
    for (const OperationName& name : moments.names()) {
      const auto [found, is_new] =
          numbers.try_emplace(words_of(name), static_cast<std::uint32_t>(uses_.size()));
      if (is_new) uses_.push_back({found->first, name.is_collective});
      use_of_name_.push_back(found->second);
    }
    count_uses();
  }

  /// Returns the index of the Uses whose operations end iterations; nullopt if no operation does.
  std::optional<std::uint32_t> cut() const {
    std::optional<std::uint32_t> best;
    for (const bool of_collectives : {true, false}) {
      for (std::uint32_t number = 0; number < uses_.size(); ++number) {
        const Uses& one = uses_[number];
        if (one.is_collective != of_collectives || one.least < cuts_least) continue;
        // A killed thread may have one use less than the other threads.
        if (one.most - one.least > 1) continue;
        if (of_collectives && one.threads != active_) continue;
        if (!best || std::pair(one.least, one.last_nanos) >
                         std::pair(uses_[*best].least, uses_[*best].last_nanos))
          best = number;
      }
      if (best) return best;
    }
    return best;
  }
  const Uses& use(std::uint32_t number) const { return uses_[number]; }

  /// Returns the times at which the last thread returned from an operation with the name `use`.
  /// Element 0 is the latest return of any thread from its first such operation, element 1 from its
  /// second, and so on.
  std::vector<std::int64_t> returns_of(std::uint32_t use) const {
    std::vector<std::int64_t> latest;
    for (std::uint32_t thread = 0; thread < moments_.threads(); ++thread) {
      std::size_t place = 0;
      for (const ThreadOperation& one : moments_.operations_of(thread)) {
        if (use_of_name_[one.name] != use) continue;
        if (place == latest.size()) latest.push_back(one.up_nanos);
        latest[place] = std::max(latest[place], one.up_nanos);
        ++place;
      }
    }
    return latest;
  }

  /// Returns the number of cuts in an iteration. After this number of cuts, the first thread
  /// repeats its operations. Returns 1 if the operations never repeat.
  std::size_t period_of(std::uint32_t use) const {
    const std::vector<std::uint64_t> words = words_between(use);
    for (std::size_t period = 1; period <= std::min(cuts_in_iteration_max, words.size() / 2);
         ++period) {
      std::size_t same = 0;
      const std::size_t all = words.size() - period;
      for (std::size_t place = 0; place < all; ++place)
        same += words[place] == words[place + period];
      if (static_cast<double>(same) >= repeated_share * static_cast<double>(all)) return period;
    }
    return 1;
  }

 private:
  void count_uses() {
    for (std::uint32_t thread = 0; thread < moments_.threads(); ++thread) {
      std::map<std::uint32_t, std::pair<std::uint64_t, std::int64_t>> counts;
      for (const ThreadOperation& one : moments_.operations_of(thread)) {
        auto& [count, last] = counts[use_of_name_[one.name]];
        ++count;
        last = std::max(last, one.up_nanos);
      }
      active_ += counts.empty() ? 0 : 1;
      for (const auto& [use, counted] : counts) {
        Uses& one = uses_[use];
        one.least = one.threads == 0 ? counted.first : std::min(one.least, counted.first);
        one.most = std::max(one.most, counted.first);
        if (one.threads++ == 0) one.last_nanos = counted.second;
      }
    }
  }

  /// Returns a hash for each section between two cuts. The hash covers the sequence of operations
  /// in the section, by the first thread that has cuts. The section before the first cut is left
  /// out, because programs often begin differently.
  std::vector<std::uint64_t> words_between(std::uint32_t use) const {
    for (std::uint32_t thread = 0; thread < moments_.threads(); ++thread) {
      std::vector<std::uint64_t> words;
      std::uint64_t word = 0;
      bool has_cut = false;
      for (const ThreadOperation& one : moments_.operations_of(thread)) {
        const std::uint32_t number = use_of_name_[one.name];
        word = (word ^ (number + 1)) * 0x100000001b3;
        if (number != use) continue;
        if (has_cut) words.push_back(word);
        has_cut = true;
        word = 0;
      }
      if (has_cut) return words;
    }
    return {};
  }

  const Moments& moments_;
  std::vector<Uses> uses_;
  std::vector<std::uint32_t> use_of_name_;
  std::uint64_t active_ = 0;
};

/// Times at which iterations may end.
struct Ends {
  std::string rule = "none";
  std::string cut_at;
  std::size_t each = 1;             // every `each`-th entry of `times` ends an iteration
  std::vector<std::int64_t> times;  // latest time of any thread at each end
};

Ends ends_by_operations(const Moments& moments) {
  const Finder finder(moments);
  const auto cut = finder.cut();
  if (!cut) return {};
  const Uses& use = finder.use(*cut);
  return {use.is_collective ? "collective" : "element", use.name, finder.period_of(*cut),
          finder.returns_of(*cut)};
}

/// Returns the times of iteration marks. Returns no times if threads set different numbers of
/// marks.
Ends ends_by_marks(const Moments& moments) {
  Ends ends{"mark", "", 1, {}};
  std::size_t least = 0;
  for (std::uint32_t thread = 0; thread < moments.threads(); ++thread) {
    const std::vector<std::int64_t>& marks = moments.marks_of(thread);
    if (marks.empty()) continue;
    least = least == 0 ? marks.size() : std::min(least, marks.size());
    if (ends.times.size() < marks.size()) ends.times.resize(marks.size(), marks.front());
    for (std::size_t place = 0; place < marks.size(); ++place)
      ends.times[place] = std::max(ends.times[place], marks[place]);
  }
  if (ends.times.size() - least > 1) ends.times.clear();
  return ends;
}

}  // namespace

IterationReport find_iterations(const Moments& moments, std::int64_t begin_nanos,
                                std::int64_t end_nanos) {
  IterationReport report;
  Ends ends = ends_by_marks(moments);
  if (ends.times.size() < 2) ends = ends_by_operations(moments);
  std::vector<std::int64_t> cuts;
  for (std::size_t place = ends.each - 1; place < ends.times.size(); place += ends.each)
    cuts.push_back(cuts.empty() ? ends.times[place] : std::max(cuts.back(), ends.times[place]));
  if (cuts.size() < 2) return report;
  Distribution lengths;
  for (std::size_t place = 1; place < cuts.size(); ++place)
    lengths.add(cuts[place] - cuts[place - 1]);
  // The time before the first cut counts as an iteration only if its length is similar to that of
  // an iteration. Otherwise it contains other work, such as preparation.
  const std::int64_t usual = lengths.quantile(0.5);
  const std::int64_t first = cuts[0] - begin_nanos;
  std::int64_t from = begin_nanos;
  if (first / 2 > usual || first < usual / 2) {
    report.beginning_nanos = first;
    from = cuts[0];
    cuts.erase(cuts.begin());
  }
  Distribution all;
  for (const std::int64_t at : cuts) {
    all.add(at - from);
    report.lengths.add(at - from);
    from = at;
  }
  report.ends = std::move(cuts);
  report.rule = ends.rule;
  report.cut_at = ends.cut_at;
  report.each = ends.each;
  report.count = all.count();
  report.length = all.summary();
  report.end_nanos = std::max<std::int64_t>(0, end_nanos - from);
  return report;
}

}  // namespace eventspace
