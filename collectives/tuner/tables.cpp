// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/tables.cpp — choice of a configuration for each size of a collective, from
// searches at some of the sizes.
#include "collectives/tuner/tables.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "collectives/tuner/begin.hpp"

namespace tuner {
namespace {

using base::Nanos;

constexpr std::uint64_t between_searches = 8;  // least ratio of consecutive sizes with a search
constexpr double octaves_of_weight = 4;
constexpr double check_margin = 1.15;
constexpr std::size_t check_runs = 3;
constexpr std::size_t most_checked = 4;
constexpr double hysteresis = 1.03;
constexpr std::size_t larger_runs = 5;

double octave_of(std::uint64_t bytes) { return std::log2(static_cast<double>(bytes)); }
double count_of(Nanos time) { return static_cast<double>(time.count()); }
bool is_at_most(Nanos time, double factor, Nanos other) {
  return count_of(time) <= factor * count_of(other);
}

/// State of the search at one size.
struct SizeSearch {
  std::uint64_t bytes = 0;
  Space space = {};
  Space corrected = {};  // `space` with corrected predictions; empty until all searches are done
  Outcome outcome = {};
  bool is_from_larger = false;  // see SizeChoice::is_from_larger
};

/// Adds the samples of a later search at the same size to `outcome`. If the later search has chosen
/// a configuration, that choice replaces the earlier choice.
void add_outcome(Outcome& outcome, const Outcome& later) {
  for (const Sampled& one : later.sampled) {
    const auto before = std::find_if(
        outcome.sampled.begin(), outcome.sampled.end(),
        [&](const Sampled& other) { return other.configuration == one.configuration; });
    if (before == outcome.sampled.end()) {
      outcome.sampled.push_back(one);
      continue;
    }
    before->samples.insert(before->samples.end(), one.samples.begin(), one.samples.end());
    if (!before->samples.empty()) before->statistic = lower_half_mean(before->samples);
  }
  if (later.chosen) {
    outcome.chosen = later.chosen;
    outcome.statistic = later.statistic;
  }
  outcome.runs += later.runs;
  outcome.void_runs += later.void_runs;
  outcome.time_spent += later.time_spent;
  outcome.was_cancelled = outcome.was_cancelled || later.was_cancelled;
}

/// Returns the configuration of `family` at this size whose length is nearest to `length`. Ignores
/// configurations without a predicted time. Returns nullopt if no length is within a factor of 2.
std::optional<Configuration> find_row(const SizeSearch& size, const std::string& family,
                                      std::uint64_t length) {
  const auto& families = size.corrected.families;
  const auto found = std::find_if(families.begin(), families.end(),
                                  [&](const Family& one) { return one.name == family; });
  if (found == families.end()) return std::nullopt;
  std::optional<Configuration> nearest;
  double distance = 1.01;  // largest permitted log2 of the ratio of the lengths
  for (std::size_t member = 0; member < found->members.size(); ++member) {
    const Member& one = found->members[member];
    if (!one.predicted) continue;
    const bool is_whole = length == 0 || length >= size.bytes;
    double apart = is_whole == (one.length == 0) ? 0 : 2;
    if (!is_whole && one.length != 0) apart = std::abs(octave_of(one.length) - octave_of(length));
    if (apart >= distance) continue;
    distance = apart;
    nearest = {static_cast<std::size_t>(found - families.begin()), member};
  }
  return nearest;
}

std::optional<Nanos> measured_of(const SizeSearch& size, Configuration one) {
  for (const Sampled& sampled : size.outcome.sampled)
    if (sampled.configuration == one) return sampled.statistic;
  return std::nullopt;
}

/// Makes the choices of all sizes, step by step. Each size has a different seed, so that the order
/// of runs differs between sizes.
class TableSearch {
 public:
  TableSearch(const TableTask& task, const Search& search, const Options& options)
      : task_(task), search_(search), options_(options) {}

  /// Searches at some of the sizes. Returns false if the search was cancelled.
  bool search_some();
  /// Corrects all predicted times by the times that the searches measured.
  void correct();
  /// Chooses a configuration at each size that was not searched (check()). Returns false if the
  /// search was cancelled.
  bool check_others();
  /// Compares the time of each size with that of the next larger size. If the larger size takes
  /// less time, also runs the configuration of the larger size at the smaller size. Returns false
  /// if the search was cancelled.
  bool compare_with_larger();
  /// Keeps rows of the earlier table that are nearly as fast as the choices.
  void keep_old_rows();
  /// Returns the choice of each size, with its evidence.
  std::vector<SizeChoice> choices() const;

  const std::vector<SizeSearch>& sizes() const { return sizes_; }

 private:
  Run run_of(std::uint64_t bytes) const {
    return [this, bytes](Configuration one) { return task_.run_at(bytes, one); };
  }
  bool check(SizeSearch& size);

  const TableTask& task_;
  const Search& search_;
  const Options& options_;
  std::vector<SizeSearch> sizes_;
  std::vector<bool> is_searched_;
  Corrections corrections_;
  bool has_measured_ = false;
};

bool TableSearch::search_some() {
  std::optional<std::uint64_t> last;
  for (const std::uint64_t bytes : task_.sizes) {
    SizeSearch& size = sizes_.emplace_back(SizeSearch{bytes, task_.space_of(bytes)});
    is_searched_.push_back(task_.searches_all || !last || bytes / between_searches >= *last);
    if (!is_searched_.back()) continue;
    last = bytes;
    Options options = options_;
    options.seed += sizes_.size();
    if (task_.partial_at) options.partial = task_.partial_at(bytes);
    size.outcome = search_.choose(size.space, run_of(bytes), options);
    for (const Sampled& one : size.outcome.sampled) {
      has_measured_ = has_measured_ || one.statistic;
      const auto predicted = member_of(size.space, one.configuration).predicted;
      if (one.statistic && predicted)
        corrections_.add(bytes, size.space.families[one.configuration.family].name, *predicted,
                         *one.statistic);
    }
    if (size.outcome.was_cancelled) return false;
  }
  return true;
}

void TableSearch::correct() {
  for (SizeSearch& size : sizes_) {
    size.corrected = size.space;
    for (Family& family : size.corrected.families)
      for (Member& member : family.members)
        if (member.predicted)
          member.predicted = corrections_.corrected(size.bytes, family.name, *member.predicted);
  }
}

bool TableSearch::check_others() {
  for (std::size_t i = 0; i < sizes_.size(); ++i)
    if (!sizes_[i].outcome.chosen && !check(sizes_[i])) return false;
  return true;
}

/// Chooses the configuration of one size among the fastest configurations of the families. If the
/// searches have measured times, first runs the configurations whose corrected times are close to
/// the least corrected time. Returns false if the search was cancelled.
bool TableSearch::check(SizeSearch& size) {
  std::vector<Configuration> best;
  check_space(size.corrected);
  for (std::size_t family = 0; family < size.corrected.families.size(); ++family)
    if (const auto one = fastest_predicted(size.corrected, family)) best.push_back(*one);
  if (best.empty())
    throw std::invalid_argument("expected predicted times for a table; a size has none");
  const auto time = [&](Configuration one) { return *member_of(size.corrected, one).predicted; };
  std::stable_sort(best.begin(), best.end(), [&](Configuration left, Configuration right) {
    return time(left) != time(right) ? time(left) < time(right)
                                     : is_simpler(size.corrected, left, right);
  });
  const Nanos least = time(best.front());
  std::erase_if(best,
                [&](Configuration one) { return !is_at_most(time(one), check_margin, least); });
  best.resize(std::min(best.size(), most_checked));
  if (best.size() > 1 && has_measured_) {
    Experiment experiment(size.corrected, run_of(size.bytes), options_.seed + size.bytes,
                          options_.is_cancelled);
    experiment.run_each(best, options_.is_exact ? 1 : check_runs);
    size.outcome = experiment.choose_among(best);
  }
  if (!size.outcome.chosen) size.outcome.chosen = best[0];
  return !size.outcome.was_cancelled;
}

bool TableSearch::compare_with_larger() {
  for (std::size_t i = sizes_.size(); i-- > 1;) {
    SizeSearch& size = sizes_[i - 1];
    const SizeSearch& larger = sizes_[i];
    const auto time = size.outcome.statistic, larger_time = larger.outcome.statistic;
    if (!time || !larger_time || is_at_most(*time, hysteresis, *larger_time)) continue;
    const Configuration chosen = *larger.outcome.chosen;
    const auto other = find_row(size, larger.space.families[chosen.family].name,
                                member_of(larger.space, chosen).length);
    if (!other || other == size.outcome.chosen) continue;
    const std::array both = {*size.outcome.chosen, *other};
    Experiment experiment(size.corrected, run_of(size.bytes), options_.seed + size.bytes + 1,
                          options_.is_cancelled);
    experiment.run_each(both, options_.is_exact ? 1 : larger_runs);
    add_outcome(size.outcome, experiment.choose_among(both));
    size.is_from_larger = size.outcome.chosen == other;
    if (size.outcome.was_cancelled) return false;
  }
  return true;
}

void TableSearch::keep_old_rows() {
  if (task_.before.empty()) return;
  for (SizeSearch& size : sizes_) {
    const Row& row = row_for(task_.before, size.bytes);
    const auto kept = find_row(size, row.family, row.length);
    if (!kept) continue;
    const Configuration chosen = *size.outcome.chosen;
    auto old_time = measured_of(size, *kept), new_time = measured_of(size, chosen);
    if (!old_time || !new_time) {
      old_time = member_of(size.corrected, *kept).predicted;
      new_time = member_of(size.corrected, chosen).predicted;
    }
    if (!is_at_most(*old_time, hysteresis, *new_time)) continue;
    size.is_from_larger = size.is_from_larger && size.outcome.chosen == kept;
    size.outcome.chosen = kept;
    size.outcome.statistic = measured_of(size, *kept);
  }
}

std::vector<SizeChoice> TableSearch::choices() const {
  std::vector<SizeChoice> all;
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    const SizeSearch& size = sizes_[i];
    SizeChoice& choice = all.emplace_back(SizeChoice{.bytes = size.bytes,
                                                     .measured = size.outcome.statistic,
                                                     .is_searched = is_searched_[i],
                                                     .evidence = size.outcome,
                                                     .is_from_larger = size.is_from_larger});
    if (!size.outcome.chosen) continue;
    const std::size_t family = size.outcome.chosen->family;
    const Member& member = member_of(size.space, *size.outcome.chosen);
    choice.family = size.space.families[family].name;
    choice.length = member.length;
    choice.predicted = member.predicted.value_or(Nanos(0));
    for (const Sampled& one : size.outcome.sampled) {
      if (!one.statistic || one.configuration.family == family) continue;
      if (!choice.next.empty() && choice.next_measured <= *one.statistic) continue;
      choice.next = size.space.families[one.configuration.family].name;
      choice.next_measured = *one.statistic;
    }
  }
  return all;
}

/// Returns whether the row can also cover `size`. It can if the choice for `size` has the family of
/// the row, and the row's length takes little more time than the chosen length. `last_size` is the
/// largest size of the row so far.
bool can_join(const Row& row, std::uint64_t last_size, const SizeSearch& size) {
  const Configuration chosen = *size.outcome.chosen;
  const Member& own = member_of(size.corrected, chosen);
  if (size.corrected.families[chosen.family].name != row.family) return false;
  if (own.length == row.length) return true;
  // If the row is without segmentation, lengths of at least the row's largest size can join it,
  // because such a length does not segment any vector of the row either.
  if (row.length == 0) return own.length >= last_size;
  const auto joined = find_row(size, row.family, row.length);
  if (!joined) return false;
  return own.length != 0 &&
         is_at_most(*member_of(size.corrected, *joined).predicted, hysteresis, *own.predicted);
}

/// Returns the boundary between two rows: a size between the sizes of `left` and `right`. It is the
/// size at which the corrected times of the rows are equal, interpolated in logarithms. If the
/// times do not cross, it is the geometric mean of the two sizes.
std::uint64_t boundary_of(const SizeSearch& left, const Row& row, const SizeSearch& right,
                          const Row& next) {
  const double first = octave_of(left.bytes), last = octave_of(right.bytes);
  const auto log_ratio = [&](const SizeSearch& size) -> std::optional<double> {
    const auto one = find_row(size, row.family, row.length);
    const auto other = find_row(size, next.family, next.length);
    if (!one || !other) return std::nullopt;
    return std::log(count_of(*member_of(size.corrected, *one).predicted) /
                    count_of(*member_of(size.corrected, *other).predicted));
  };
  const auto before = log_ratio(left), after = log_ratio(right);
  double share = 0.5;
  if (before && after && *before < 0 && *after > 0) share = *before / (*before - *after);
  const auto bytes = static_cast<std::uint64_t>(std::exp2(first + share * (last - first)));
  return std::clamp(bytes, left.bytes, right.bytes - 1);
}

std::vector<Row> rows_of(const std::vector<SizeSearch>& sizes) {
  std::vector<Row> rows;
  std::vector<std::size_t> first_sizes;  // index in `sizes` of the first size of each row
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Configuration chosen = *sizes[i].outcome.chosen;
    const std::uint64_t length = member_of(sizes[i].corrected, chosen).length;
    if (!rows.empty() && can_join(rows.back(), sizes[i - 1].bytes, sizes[i])) {
      if (rows.back().length == 0) rows.back().length = length;
      continue;
    }
    rows.push_back({any_size, sizes[i].corrected.families[chosen.family].name, length});
    first_sizes.push_back(i);
  }
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    const std::size_t next = first_sizes[i + 1];
    rows[i].up_to = boundary_of(sizes[next - 1], rows[i], sizes[next], rows[i + 1]);
  }
  return rows;
}

}  // namespace

const Row& row_for(const std::vector<Row>& rows, std::uint64_t bytes) {
  return *std::lower_bound(rows.begin(), rows.end(), bytes,
                           [](const Row& row, std::uint64_t size) { return row.up_to < size; });
}

void Corrections::add(std::uint64_t bytes, const std::string& family, Nanos predicted,
                      Nanos measured) {
  if (predicted <= Nanos(0) || measured <= Nanos(0)) return;
  const Figure figure{octave_of(bytes), std::log(count_of(measured) / count_of(predicted))};
  by_family_[family].push_back(figure);
  all_.push_back(figure);
}

Nanos Corrections::corrected(std::uint64_t bytes, const std::string& family,
                             Nanos predicted) const {
  const auto found = by_family_.find(family);
  const double ratio = mean_at(octave_of(bytes), found == by_family_.end() ? all_ : found->second);
  return Nanos(std::llround(count_of(predicted) * std::exp(ratio)));
}

double Corrections::mean_at(double octave, const std::vector<Figure>& figures) {
  double sum = 0, weights = 0;
  for (const Figure& figure : figures) {
    const double weight = std::exp(-std::abs(figure.octave - octave) / octaves_of_weight);
    sum += weight * figure.ratio;
    weights += weight;
  }
  return weights > 0 ? sum / weights : 0;
}

Table tune_table(const TableTask& task, const Search& search, const Options& options) {
  TableSearch tables(task, search, options);
  Table table;
  table.was_cancelled = !tables.search_some();
  if (!table.was_cancelled) {
    tables.correct();
    table.was_cancelled = !tables.check_others() || !tables.compare_with_larger();
  }
  if (!table.was_cancelled) {
    tables.keep_old_rows();
    table.rows = rows_of(tables.sizes());
  }
  table.choices = tables.choices();
  for (const SizeChoice& choice : table.choices) {
    table.runs += choice.evidence.runs;
    table.time_spent += choice.evidence.time_spent;
  }
  return table;
}

}  // namespace tuner
