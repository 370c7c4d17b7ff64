// SPDX-License-Identifier: Apache-2.0
// commands/drawing.hpp — drawings of a plan as trees from elements to threads.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "paths/plan/plan.hpp"
#include "paths/wrapper_kind.hpp"

namespace commands {

/// A plan as trees of nodes. draw_text(), draw_dot() and draw_svg() draw these trees.
struct Drawing {
  enum class Shape { element, wrapper, join, threads };
  struct Node {
    Shape shape = Shape::wrapper;
    std::string host;
    std::string cluster;
    std::string name;                ///< text such as "sum.join", "store", "threads 0-3"
    std::string details;             ///< text such as "allreduce of 2; operation: sum", "10ms"
    std::vector<std::size_t> above;  ///< indexes of nodes whose paths lead to this node, by slot
  };
  struct Tree {
    std::string graph;
    std::size_t root;  ///< index in `nodes` of the tree's element or last wrapper
  };
  std::vector<Node> nodes;
  std::vector<Tree> trees;  ///< trees of the same graph are adjacent
};

Drawing make_drawing(const paths::Plan& plan, const paths::WrapperKinds& kinds);

/// Return the drawing as a complete document in the named format.
std::string draw_text(const paths::Plan& plan, const Drawing& drawing);
std::string draw_dot(const Drawing& drawing);
std::string draw_svg(const Drawing& drawing);
std::string draw_json(const paths::Plan& plan, const paths::WrapperKinds& kinds);

}  // namespace commands
