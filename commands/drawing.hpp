// SPDX-License-Identifier: Apache-2.0
// commands/drawing.hpp — a plan as trees to draw: elements at the roots, threads at the leaves.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "paths/plan/plan.hpp"
#include "paths/wrapper_kind.hpp"

namespace commands {

/// A value made of a plan; every drawer reads only this.
struct Drawing {
  enum class Shape { element, wrapper, join, threads };
  struct Node {
    Shape shape = Shape::wrapper;
    std::string host;
    std::string cluster;
    std::string name;                ///< "sum.join", "store", "threads 0-3"
    std::string details;             ///< "allreduce of 2; operation: sum", "10ms"
    std::vector<std::size_t> above;  ///< who comes down to it, in the order of slots
  };
  struct Tree {
    std::string graph;
    std::size_t root;  ///< a node
  };
  std::vector<Node> nodes;
  std::vector<Tree> trees;  ///< of one graph together
};

Drawing make_drawing(const paths::Plan& plan, const paths::WrapperKinds& kinds);

/// Each returns the whole document.
std::string draw_text(const paths::Plan& plan, const Drawing& drawing);
std::string draw_dot(const Drawing& drawing);
std::string draw_svg(const Drawing& drawing);
std::string draw_json(const paths::Plan& plan, const paths::WrapperKinds& kinds);

}  // namespace commands
