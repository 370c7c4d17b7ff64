// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/exchange_parameters.cpp — checks whether selected exchanges are possible.
// Also returns their orders of summation.
#include "collectives/schedule/exchange_parameters.hpp"

#include <fmt/format.h>

#include "collectives/schedule/exchange.hpp"

namespace collectives {
namespace {

/// Returns the name of the selected exchange algorithm that works only if the number of members is
/// a power of two. Returns "" if no selected algorithm has this limit.
std::string needy_word(const CollectiveSpec& task, const Parameters& parameters) {
  for (const char* name : {"reduce_scatter", "allgather"}) {
    if (task.collective == Collective::reduce && name == std::string("allgather")) continue;
    if (parameters.has(name) && needs_power_of_two(parameters.word(name)))
      return parameters.word(name);
  }
  return "";
}

}  // namespace

Parameter allgather_parameter(const std::string& fallback, std::vector<Collective> only_for) {
  return {.name = "allgather",
          .help = "How pieces are gathered; doubling for powers of two only.",
          .fallback = fallback,
          .words = allgather_words(),
          .only_for = std::move(only_for)};
}

Parameter reduce_scatter_parameter() {
  return {.name = "reduce_scatter",
          .help = "How pieces are summed up; halving for powers of two only.",
          .fallback = "halving",
          .words = reduce_scatter_words()};
}

std::string wrong_for_all(const CollectiveSpec& task, const Parameters& parameters) {
  const std::string word = needy_word(task, parameters);
  if (word.empty() || is_power_of_two(task.size())) return "";
  return fmt::format("{} needs as many participants as a power of two, not {}", word, task.size());
}

std::string wrong_for_clusters(const CollectiveSpec& task, const Parameters& parameters) {
  const std::string word = needy_word(task, parameters);
  for (std::size_t number = 0; !word.empty() && number < task.group().clusters(); ++number) {
    const std::size_t size = task.group().cluster(number).size();
    if (!is_power_of_two(size))
      return fmt::format("{} needs clusters of as many participants as a power of two; {} has {}",
                         word, number, size);
  }
  return "";
}

Order order_of_sums(const CollectiveSpec&, const Parameters& parameters) {
  if (parameters.word("reduce_scatter") == "ring") return Order::by_block;
  return parameters.word("reduce_scatter") == "halving" ? Order::permuted : Order::canonical;
}

}  // namespace collectives
