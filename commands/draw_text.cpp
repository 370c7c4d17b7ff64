// SPDX-License-Identifier: Apache-2.0
// commands/draw_text.cpp — text drawing of a plan.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "commands/drawing.hpp"

namespace commands {
namespace {

class TextDrawer {
 public:
  explicit TextDrawer(const Drawing& drawing) : drawing_(drawing) {}

  /// Draws a subtree. The wrappers of a chain are below each other in one column. A join has one
  /// branch for each path that enters it.
  void draw(std::size_t index, const std::string& first, const std::string& rest) {
    const Drawing::Node& node = drawing_.nodes[index];
    text += fmt::format("{}{}\n", first, line(node));
    if (node.above.size() == 1 && node.shape != Drawing::Shape::join) {
      draw(node.above.front(), rest, rest);
      return;
    }
    for (std::size_t place = 0; place < node.above.size(); ++place) {
      const bool last = place + 1 == node.above.size();
      draw(node.above[place], rest + (last ? "└─ " : "├─ "), rest + (last ? "   " : "│  "));
    }
  }

  std::string text;

 private:
  static std::string line(const Drawing::Node& node) {
    if (node.shape == Drawing::Shape::threads) return fmt::format("{} of {}", node.name, node.host);
    const std::string_view noun = node.shape == Drawing::Shape::element ? "element " : "";
    return fmt::format("{}{} on {}{}", noun, node.name, node.host,
                       node.details.empty() ? "" : " (" + node.details + ")");
  }

  const Drawing& drawing_;
};

/// Replaces each number in a graph's name by N: "rows.17.from_next" becomes "rows.N.from_next". A
/// config may declare one graph per thread, with names that differ only in the rank.
std::string without_numbers(const std::string& graph) {
  std::string pattern;
  std::size_t begin = 0;
  while (begin <= graph.size()) {
    const std::size_t end = std::min(graph.find('.', begin), graph.size());
    const std::string part = graph.substr(begin, end - begin);
    const bool is_number =
        !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
    pattern += (begin == 0 ? "" : ".") + (is_number ? std::string("N") : part);
    begin = end + 1;
  }
  return pattern;
}

void append_shape(const Drawing& drawing, std::size_t index, std::string& shape) {
  const Drawing::Node& node = drawing.nodes[index];
  shape += fmt::format("({}", static_cast<int>(node.shape));
  for (const std::size_t above : node.above) append_shape(drawing, above, shape);
  shape += ')';
}

/// Returns a key of the tree. Two trees have equal keys if they have the same shape, and the names
/// of their graphs differ only in numbers. Only the first tree with a given key is drawn. Returns
/// "" if the name of the graph contains no number; such a tree is always drawn.
std::string likeness(const Drawing& drawing, const Drawing::Tree& tree) {
  std::string pattern = without_numbers(tree.graph);
  if (pattern == tree.graph) return {};
  append_shape(drawing, tree.root, pattern);
  return pattern;
}

std::string hosts_text(const paths::Plan& plan) {
  std::string text;
  std::size_t width = 0;
  for (const auto& host : plan.hosts) width = std::max(width, host.name.size());
  for (std::uint32_t cluster = 0; cluster < plan.clusters.size(); ++cluster) {
    text += fmt::format("cluster {}\n", plan.clusters[cluster]);
    for (const auto& host : plan.hosts) {
      if (host.cluster != cluster) continue;
      const std::string threads = host.threads == 0   ? "no threads"
                                  : host.threads == 1 ? "1 thread"
                                                      : fmt::format("{} threads", host.threads);
      text += fmt::format("  {:<{}}  {:<11}  {}{}\n", host.name, width, threads, host.address,
                          host.speed == 1.0 ? "" : fmt::format("  speed {:.4g}", host.speed));
    }
  }
  return text;
}

}  // namespace

std::string draw_text(const paths::Plan& plan, const Drawing& drawing) {
  TextDrawer drawer(drawing);
  drawer.text = hosts_text(plan);
  std::map<std::string, std::size_t> alike;
  for (const Drawing::Tree& tree : drawing.trees) ++alike[likeness(drawing, tree)];
  std::string graph;
  for (const Drawing::Tree& tree : drawing.trees) {
    const std::string like = likeness(drawing, tree);
    const std::size_t others = like.empty() ? 0 : std::exchange(alike.at(like), 0);
    if (!like.empty() && others == 0) continue;  // a tree with an equal key was drawn before
    if (tree.graph != graph)
      drawer.text += fmt::format("\ngraph {}{}\n", tree.graph,
                                 others > 1 ? fmt::format(", and {} more like it, {}", others - 1,
                                                          without_numbers(tree.graph))
                                            : "");
    graph = tree.graph;
    drawer.draw(tree.root, "  ", "  ");
  }
  return std::move(drawer.text);
}

}  // namespace commands
