// SPDX-License-Identifier: Apache-2.0
// commands/draw_svg.cpp — SVG drawing of a plan: elements on the left, threads on the right.
#include <fmt/format.h>

#include <algorithm>

#include "commands/drawing.hpp"

namespace commands {
namespace {

constexpr int row_pixels = 44;
constexpr int gap_pixels = 28;
constexpr int box_pixels = 34;
constexpr int margin_pixels = 20;
constexpr double letter_pixels = 6.6;

std::string escaped_for_svg(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '&')
      out += "&amp;";
    else if (letter == '<')
      out += "&lt;";
    else if (letter == '>')
      out += "&gt;";
    else if (letter == '"')
      out += "&quot;";
    else
      out += letter;
  }
  return out;
}

std::string_view fill(Drawing::Shape shape) {
  switch (shape) {
    case Drawing::Shape::element: return "#cfe3f7";
    case Drawing::Shape::join: return "#fbdca5";
    case Drawing::Shape::threads: return "#d6efcb";
    case Drawing::Shape::wrapper: break;
  }
  return "#f1f1f1";
}

/// Returns the SVG element of a node's tooltip; "" if the node has no details.
std::string title(const Drawing::Node& node) {
  return node.details.empty() ? ""
                              : fmt::format("<title>{}</title>", escaped_for_svg(node.details));
}

/// Draws trees. Each leaf has a row of its own. An inner node is at the middle of its children.
class SvgDrawer {
 public:
  explicit SvgDrawer(const Drawing& drawing) : drawing_(drawing) {}

  std::string draw() {
    std::string graph;
    for (const Drawing::Tree& tree : drawing_.trees) {
      if (tree.graph != graph) {
        body_ += fmt::format("<text x=\"{}\" y=\"{}\" font-weight=\"bold\">graph {}</text>\n",
                             margin_pixels, top_ + 18, escaped_for_svg(tree.graph));
        top_ += row_pixels;
      }
      graph = tree.graph;
      place(tree.root, margin_pixels);
      top_ += gap_pixels;
    }
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
        "height=\"{1}\" role=\"img\" aria-label=\"the trees of a config\" "
        "font-family=\"sans-serif\" font-size=\"11\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{2}</svg>\n",
        right_ + margin_pixels, top_ + margin_pixels, body_);
  }

 private:
  static int width(const Drawing::Node& node) {
    const std::size_t letters = std::max(node.name.size(), node.host.size());
    return 16 + static_cast<int>(letter_pixels * static_cast<double>(letters));
  }

  /// Draws a subtree. Returns the y coordinate of the middle of the subtree's root.
  int place(std::size_t index, int left) {
    const Drawing::Node& node = drawing_.nodes[index];
    const int right = left + width(node);
    right_ = std::max(right_, right);
    std::vector<int> middles;
    for (const std::size_t above : node.above) middles.push_back(place(above, right + gap_pixels));
    int middle = top_ + box_pixels / 2;
    if (middles.empty())
      top_ += row_pixels;
    else
      middle = (middles.front() + middles.back()) / 2;
    for (const int from : middles)
      body_ += fmt::format(
          "<path d=\"M{} {} C{} {} {} {} {} {}\" fill=\"none\" "
          "stroke=\"#777\"/>\n",
          right + gap_pixels, from, right + gap_pixels / 2, from, right + gap_pixels / 2, middle,
          right, middle);
    const int corner = node.shape == Drawing::Shape::join ? box_pixels / 2 : 4;
    body_ += fmt::format(
        "<g>{}<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
        "rx=\"{}\" fill=\"{}\" stroke=\"#555\"/>"
        "<text x=\"{}\" y=\"{}\">{}</text>"
        "<text x=\"{}\" y=\"{}\" fill=\"#666\">{}</text></g>\n",
        title(node), left, middle - box_pixels / 2, width(node), box_pixels, corner,
        fill(node.shape), left + 8, middle - 2, escaped_for_svg(node.name), left + 8, middle + 12,
        escaped_for_svg(node.host));
    return middle;
  }

  const Drawing& drawing_;
  std::string body_;
  int top_ = margin_pixels;
  int right_ = 0;
};

}  // namespace

std::string draw_svg(const Drawing& drawing) { return SvgDrawer(drawing).draw(); }

}  // namespace commands
