// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/smgd.cpp — scanning modified gradient descent.
#include "collectives/tuner/smgd.hpp"

#include <algorithm>

#include "collectives/tuner/begin.hpp"

namespace tuner {
namespace {

constexpr double first_ratio = 0.75;  // assumed time of second length / time of first length
constexpr double flat_ratio = 0.97;
constexpr double hopeless_if_flat = 1.25;

/// The search within one family, from its longest to its shortest messages.
class Scan {
 public:
  explicit Scan(std::size_t family) : next_{family, 0} {}

  Configuration next() const { return next_; }
  double best() const { return best_; }
  /// Returns the predicted time of next() in ns.
  double forecast() const { return last_ * ratio_; }
  /// Records the time of next() and moves on to the next shorter length. nullopt means that all
  /// runs of next() were void (disturbed), and ends the scan.
  void record(std::optional<base::Nanos> statistic);
  bool is_finished(const Space& space, const Options& options, double best_of_all) const;

 private:
  Configuration next_;
  double last_ = 0;  // time of the latest length that was run, in ns
  double best_ = std::numeric_limits<double>::infinity();
  double ratio_ = first_ratio;
  std::size_t without_gain_ = 0;
  bool is_void_ = false;
};

void Scan::record(std::optional<base::Nanos> statistic) {
  is_void_ = !statistic;
  if (is_void_) return;
  const auto time = static_cast<double>(statistic->count());
  if (next_.member > 0 && last_ > 0) ratio_ = time / last_;
  without_gain_ = time < best_ ? 0 : without_gain_ + 1;
  best_ = std::min(best_, time);
  last_ = time;
  ++next_.member;
}

bool Scan::is_finished(const Space& space, const Options& options, double best_of_all) const {
  const bool is_hopeless = ratio_ > flat_ratio && best_ > hopeless_if_flat * best_of_all;
  return is_void_ || without_gain_ >= options.patience || is_hopeless ||
         next_.member >= space.families[next_.family].members.size() ||
         best_ > options.theta * best_of_all;
}

}  // namespace

Outcome smgd(const Space& space, const Run& run, const Options& options) {
  Experiment experiment = begin_experiment(space, run, options);
  std::vector<Scan> scans;
  std::vector<Configuration> next;
  for (std::size_t family = 0; family < space.families.size(); ++family) {
    scans.emplace_back(family);
    next.push_back({family, 0});
  }
  double best_of_all = std::numeric_limits<double>::infinity();
  while (experiment.run_each(next, options.runs_of_each())) {
    for (const Configuration one : next) {
      scans[one.family].record(experiment.statistic(one));
      best_of_all = std::min(best_of_all, scans[one.family].best());
    }
    const Scan* promising = nullptr;
    for (const Scan& scan : scans)
      if (!scan.is_finished(space, options, best_of_all) &&
          (promising == nullptr || scan.forecast() < promising->forecast()))
        promising = &scan;
    if (promising == nullptr) break;
    next = {promising->next()};
  }
  return experiment.choose_among(experiment.all_run());
}

}  // namespace tuner
