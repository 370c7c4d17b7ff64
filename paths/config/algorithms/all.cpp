// SPDX-License-Identifier: Apache-2.0
// paths/config/algorithms/all.cpp — lists of the words of the settings `algorithm` and `transfer`.
#include "paths/config/algorithm.hpp"

namespace paths {

AlgorithmWord sequential_word();
AlgorithmWord magpie_word();
AlgorithmWord exact_word();
AlgorithmWord conditional_word();
AlgorithmWord periodic_word();
AlgorithmWord lagged_word();
AlgorithmWord budget_word();
AlgorithmWord best_word();
AlgorithmWord tuned_word();

TransferWord pull_word();
TransferWord push_word();
TransferWord demand_word();
TransferWord subscribe_word();

const std::vector<AlgorithmWord>& algorithm_words() {
  static const std::vector<AlgorithmWord> words = {
      sequential_word(),   //
      magpie_word(),       //
      exact_word(),        //
      conditional_word(),  //
      periodic_word(),     //
      lagged_word(),       //
      budget_word(),       //
      best_word(),         //
      tuned_word(),
  };
  return words;
}

const std::vector<TransferWord>& transfer_words() {
  static const std::vector<TransferWord> words = {
      pull_word(),    //
      push_word(),    //
      demand_word(),  //
      subscribe_word(),
  };
  return words;
}

}  // namespace paths
