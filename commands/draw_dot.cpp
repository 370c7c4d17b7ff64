// SPDX-License-Identifier: Apache-2.0
// commands/draw_dot.cpp — drawing of a plan in the Graphviz language.
#include <fmt/format.h>

#include <map>

#include "commands/drawing.hpp"

namespace commands {
namespace {

std::string escaped_for_dot(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') out += '\\';
    out += letter;
  }
  return out;
}

std::string_view style(Drawing::Shape shape) {
  switch (shape) {
    case Drawing::Shape::element: return "shape=cylinder";
    case Drawing::Shape::join: return "shape=ellipse";
    case Drawing::Shape::threads: return "shape=circle";
    case Drawing::Shape::wrapper: break;
  }
  return "shape=box";
}

}  // namespace

std::string draw_dot(const Drawing& drawing) {
  std::string text = "digraph paths {\n  compound=true;\n  node [fontname=\"sans\"];\n";
  std::map<std::string, std::map<std::string, std::vector<std::size_t>>> places;
  for (std::size_t index = 0; index < drawing.nodes.size(); ++index)
    places[drawing.nodes[index].cluster][drawing.nodes[index].host].push_back(index);
  for (const auto& [cluster, hosts] : places) {
    text += fmt::format("  subgraph \"cluster_{0}\" {{\n    label=\"{0}\";\n",
                        escaped_for_dot(cluster));
    for (const auto& [host, nodes] : hosts) {
      text += fmt::format("    subgraph \"cluster_{}/{}\" {{\n      label=\"{}\";\n",
                          escaped_for_dot(cluster), escaped_for_dot(host), escaped_for_dot(host));
      for (const std::size_t index : nodes) {
        const Drawing::Node& node = drawing.nodes[index];
        text +=
            fmt::format("      n{} [{}, label=\"{}\", tooltip=\"{}\"];\n", index, style(node.shape),
                        escaped_for_dot(node.name), escaped_for_dot(node.details));
      }
      text += "    }\n";
    }
    text += "  }\n";
  }
  for (std::size_t below = 0; below < drawing.nodes.size(); ++below)
    for (const std::size_t above : drawing.nodes[below].above)
      text += fmt::format("  n{} -> n{};\n", above, below);
  return text + "}\n";
}

}  // namespace commands
