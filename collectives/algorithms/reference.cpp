// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/reference.cpp — algorithm descriptions as Markdown.
#include "collectives/algorithms/reference.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "collectives/algorithms/all.hpp"

namespace collectives {
namespace {

std::string values_of(const Parameter& parameter) {
  if (!parameter.words.empty())
    return fmt::format("{}{}", parameter.is_list ? "some of " : "",
                       fmt::join(parameter.words, ", "));
  const char* const some = parameter.is_list ? "some " : "";
  if (parameter.most == std::numeric_limits<Count>::max())
    return fmt::format("{}from {}", some, parameter.least);
  return fmt::format("{}{} to {}", some, parameter.least, parameter.most);
}

std::string names_of(const std::vector<Collective>& collectives) {
  std::vector<std::string_view> names;
  for (const Collective collective : collectives) names.push_back(name_of(collective));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string help_of(const Parameter& parameter) {
  std::string help = parameter.help;
  if (!parameter.only_with.empty())
    help += fmt::format(" With {} only.", fmt::join(parameter.only_with, " or "));
  if (!parameter.only_for.empty())
    help += fmt::format(" For {} only.", names_of(parameter.only_for));
  return help;
}

/// Returns a paragraph with the order of sums of each reduction that the algorithm supports, such
/// as "Sums: allreduce canonical." Returns "" if the algorithm supports no reduction.
std::string sums_of(const Algorithm& algorithm) {
  const auto group = std::make_shared<const Topology>(Topology::clustered({4, 4}));
  std::vector<std::string> sums;
  for (const Collective collective : algorithm.collectives)
    if (is_reduction(collective) && collective != Collective::barrier)
      sums.push_back(fmt::format(
          "{} {}", name_of(collective),
          name_of(algorithm.order(make_spec(collective, group, 8), algorithm.read("")))));
  return sums.empty() ? "" : fmt::format("\n\nSums: {}.", fmt::join(sums, "; "));
}

std::string described(const Algorithm& algorithm) {
  return fmt::format("## {}\n\n{} For {}.{}\n\n{}", algorithm.name, algorithm.help,
                     names_of(algorithm.collectives), sums_of(algorithm),
                     parameter_table(algorithm.parameters));
}

}  // namespace

std::string parameter_table(const std::vector<Parameter>& parameters) {
  if (parameters.empty()) return "";
  std::string text = "| parameter | values | default | |\n| --- | --- | --- | --- |\n";
  for (const Parameter& parameter : parameters)
    text += fmt::format("| `{}` | {} | {} | {} |\n", parameter.name, values_of(parameter),
                        parameter.fallback, help_of(parameter));
  return text + "\n";
}

std::string algorithm_reference() {
  std::string text;
  for (const Algorithm& algorithm : all_algorithms()) text += described(algorithm);
  return text;
}

}  // namespace collectives
