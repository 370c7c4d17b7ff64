// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/search.cpp — list of the searches.
#include "collectives/tuner/search.hpp"

#include <algorithm>

#include "collectives/tuner/exhaustive.hpp"
#include "collectives/tuner/golden.hpp"
#include "collectives/tuner/halving.hpp"
#include "collectives/tuner/mgd.hpp"
#include "collectives/tuner/pipeline.hpp"
#include "collectives/tuner/predict.hpp"
#include "collectives/tuner/race.hpp"
#include "collectives/tuner/smgd.hpp"

namespace tuner {

const std::vector<Search>& all_searches() {
  static const std::vector<Search> searches{
      {"race", "runs of the configurations with the least predicted times, fewer each round", race},
      {"mgd", "descent from the longest messages of each family (Vadhiyar et al. 2004)", mgd},
      {"smgd", "descent in the most promising family (Vadhiyar et al. 2004)", smgd},
      {"pipeline", "lengths of trees by runs of their longest path (Vadhiyar et al. 2004)",
       pipeline},
      {"golden", "golden section over the lengths of messages of each family", golden},
      {"halving", "runs of all configurations, of the faster half twice as often each round",
       halving},
      {"exhaustive", "runs of all configurations, equally often", exhaustive},
      {"predict", "least predicted time, without a run", predict},
  };
  return searches;
}

const Search* search_named(std::string_view name) {
  const std::vector<Search>& all = all_searches();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Search& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::vector<Configuration> configurations_of(const Space& space) {
  std::vector<Configuration> all;
  for (std::size_t family = 0; family < space.families.size(); ++family)
    for (std::size_t member = 0; member < space.families[family].members.size(); ++member)
      all.push_back({family, member});
  return all;
}

}  // namespace tuner
