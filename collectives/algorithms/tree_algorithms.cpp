// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/tree_algorithms.cpp — algorithms that use tree_program().
#include "collectives/algorithms/tree_algorithms.hpp"

#include "collectives/schedule/tree_program.hpp"

namespace collectives {
namespace {

Tree one_level(const CollectiveSpec& task, const Parameters& parameters) {
  return Tree::of_one_level(task.group(), shape_named(parameters.word("shape"), parameters),
                            root_of(task));
}

Tree all_levels(const CollectiveSpec& task, const Parameters& parameters) {
  std::vector<Shape> shapes;
  for (const std::string& word : parameters.words("shapes"))
    shapes.push_back(shape_named(word, parameters));
  return {task.group(), std::move(shapes), root_of(task)};
}

Tree tournament(const CollectiveSpec& task) {
  return Tree::of_one_level(task.group(), Shape{}, root_of(task));
}

std::vector<Parameter> with_shapes(Parameter shapes) {
  std::vector<Parameter> parameters = shape_parameters(shapes.is_list);
  shapes.words = shape_words();
  if (shapes.is_list) shapes.words.emplace_back(no_shape);
  parameters.insert(parameters.begin(), std::move(shapes));
  return parameters;
}

std::string last_shape_missing(const CollectiveSpec&, const Parameters& parameters) {
  return parameters.words("shapes").back() == no_shape
             ? "shapes: expected a shape for the innermost level, found none"
             : "";
}

}  // namespace

Algorithm tree_algorithm() {
  return {
      .name = "tree",
      .help = "One tree over all participants in the order of the config.",
      .collectives = tree_collectives(),
      .parameters =
          with_shapes({.name = "shape", .help = "Shape of the tree.", .fallback = "binomial"}),
      .order = [](const CollectiveSpec& task,
                  const Parameters& parameters) { return tree_order(one_level(task, parameters)); },
      .refusal = {},
      .program =
          [](const CollectiveSpec& task, const Parameters& parameters, Rank me) {
            return tree_program(task, one_level(task, parameters), segments_of(parameters), me);
          }};
}

Algorithm multilevel_algorithm() {
  return {
      .name = "multilevel",
      .help =
          "A tree at each level of the topology, groups represented by one member (Karonis et "
          "al. 2002).",
      .collectives = tree_collectives(),
      .parameters =
          with_shapes({.name = "shapes",
                       .help = "Shapes of the trees, outermost level first; none = no such level.",
                       .fallback = "flat/binomial",
                       .is_list = true}),
      .order =
          [](const CollectiveSpec& task, const Parameters& parameters) {
            return tree_order(all_levels(task, parameters));
          },
      .refusal = last_shape_missing,
      .program =
          [](const CollectiveSpec& task, const Parameters& parameters, Rank me) {
            return tree_program(task, all_levels(task, parameters), segments_of(parameters), me);
          }};
}

Algorithm tournament_algorithm() {
  return {.name = "tournament",
          .help =
              "The loser of each pair notifies the winner, and the champion wakes all: a binomial "
              "tree, up and down.",
          .collectives = {Collective::barrier},
          .parameters = {},
          .order = [](const CollectiveSpec& task,
                      const Parameters&) { return tree_order(tournament(task)); },
          .refusal = {},
          .program = [](const CollectiveSpec& task, const Parameters&,
                        Rank me) { return tree_program(task, tournament(task), {}, me); }};
}

}  // namespace collectives
