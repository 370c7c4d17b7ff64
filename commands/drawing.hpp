// SPDX-License-Identifier: Apache-2.0
// commands/drawing.hpp — drawings of a plan as trees from elements to threads.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "paths/plan/plan.hpp"
#include "paths/wrapper_kind.hpp"

namespace commands {

/// A plan as trees of nodes, from which most of the functions below draw.
struct Drawing {
  enum class Shape { element, wrapper, join, threads };
  struct Node {
    Shape shape = Shape::wrapper;
    std::string host;
    std::string cluster;
    std::string name;                ///< text such as "sum.join", "store", "threads 0-3"
    std::string details;             ///< text such as "allreduce of 2; operation: sum", "10ms"
    std::vector<std::size_t> above;  ///< indexes of nodes from which paths lead here, in slot order
  };
  struct Tree {
    std::string graph;
    std::size_t root;  ///< index of a node
  };
  std::vector<Node> nodes;
  std::vector<Tree> trees;  ///< trees of the same graph are adjacent
};

Drawing make_drawing(const paths::Plan& plan, const paths::WrapperKinds& kinds);

/// Each of these functions returns the drawing as a whole document.
std::string draw_text(const paths::Plan& plan, const Drawing& drawing);
std::string draw_dot(const Drawing& drawing);
std::string draw_svg(const Drawing& drawing);
std::string draw_json(const paths::Plan& plan, const paths::WrapperKinds& kinds);

}  // namespace commands
