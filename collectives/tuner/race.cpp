// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/race.cpp — race between the configurations with the least predicted times.
#include "collectives/tuner/race.hpp"

#include <algorithm>

#include "collectives/tuner/begin.hpp"

namespace tuner {
namespace {

using base::Nanos;

constexpr std::size_t most_entrants = 10;
constexpr std::size_t most_entrants_of_poor_model = 16;
constexpr double delta_of_poor_model = 1;
constexpr double drop_margin = 0.10;  // margin after round 1; after round i it is 0.10 / i
constexpr double walk_margin = 1.6;
constexpr std::size_t walks = 2;

bool is_within(Nanos time, double factor, Nanos least) {
  return static_cast<double>(time.count()) <= factor * static_cast<double>(least.count());
}

class Race {
 public:
  Race(const Space& space, const Run& run, const Options& options)
      : space_(space), options_(options), experiment_(begin_experiment(space, run, options)) {
    enter();
  }

  Outcome finish() {
    // If runs are exact, each configuration is run only once. The second round therefore only adds
    // neighbours.
    const std::vector<std::size_t> rounds =
        options_.is_exact ? std::vector<std::size_t>{1, 0} : std::vector<std::size_t>{2, 2, 3, 5};
    for (std::size_t round = 0; round < rounds.size(); ++round) {
      if (!experiment_.run_each(live_, rounds[round])) break;
      runs_of_each_ += rounds[round];
      drop(round);
      if (round < walks && !walk(round)) break;
      if (live_.size() <= 1 && round >= 1) break;
    }
    return experiment_.choose_among(live_);
  }

 private:
  /// Fills the list of configurations in the race, in the order of their predicted times.
  void enter();
  /// Drops the configurations whose statistic exceeds the least statistic by more than the margin
  /// of the round.
  void drop(std::size_t round);
  /// For each configuration in the race, adds the configurations with the next longer and the next
  /// shorter messages, and runs the added configurations. Then drops slow configurations. Returns
  /// false if the search was cancelled.
  bool walk(std::size_t round);
  /// Appends the configuration `member` of the family of `from` to `added`. Appends nothing if that
  /// configuration was run before, or if its predicted time exceeds walk_margin times the predicted
  /// time of `from`.
  void add_neighbour(Configuration from, std::size_t member, std::vector<Configuration>& added);

  const Space& space_;
  const Options& options_;
  Experiment experiment_;
  std::vector<Configuration> live_;
  std::size_t runs_of_each_ = 0;
};

void Race::enter() {
  for (std::size_t family = 0; family < space_.families.size(); ++family)
    if (const auto one = fastest_predicted(space_, family)) live_.push_back(*one);
  if (live_.empty())
    throw std::invalid_argument("expected predicted times for a race; the space has none");
  const auto time = [&](Configuration one) { return *member_of(space_, one).predicted; };
  std::stable_sort(live_.begin(), live_.end(), [&](Configuration left, Configuration right) {
    return time(left) < time(right);
  });
  const Nanos least = time(live_.front());
  std::erase_if(
      live_, [&](Configuration one) { return !is_within(time(one), 1 + options_.delta, least); });
  const bool is_poor = options_.delta >= delta_of_poor_model;
  live_.resize(std::min(live_.size(), is_poor ? most_entrants_of_poor_model : most_entrants));
}

void Race::drop(std::size_t round) {
  const auto fastest = experiment_.fastest_of(live_);
  const double margin = options_.is_exact ? 0 : drop_margin / static_cast<double>(1 + round);
  std::erase_if(live_, [&](Configuration one) {
    const auto time = experiment_.statistic(one);
    return !time || !is_within(*time, 1 + margin, *experiment_.statistic(*fastest));
  });
}

bool Race::walk(std::size_t round) {
  std::vector<Configuration> added;
  for (const Configuration one : live_) {
    if (one.member > 0) add_neighbour(one, one.member - 1, added);
    add_neighbour(one, one.member + 1, added);
  }
  live_.insert(live_.end(), added.begin(), added.end());
  if (!experiment_.run_each(added, runs_of_each_)) return false;
  drop(round);
  return true;
}

void Race::add_neighbour(Configuration from, std::size_t member,
                         std::vector<Configuration>& added) {
  if (member >= space_.families[from.family].members.size()) return;
  const Configuration one{from.family, member};
  const auto predicted = member_of(space_, one).predicted;
  const auto origin = member_of(space_, from).predicted;
  if (experiment_.has_run(one) || !predicted || !origin) return;
  if (!is_within(*predicted, walk_margin, *origin)) return;
  if (std::find(added.begin(), added.end(), one) == added.end()) added.push_back(one);
}

}  // namespace

Outcome race(const Space& space, const Run& run, const Options& options) {
  return Race(space, run, options).finish();
}

}  // namespace tuner
