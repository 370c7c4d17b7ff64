// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/tree_program.cpp — reduce, broadcast, gather and scatter on a tree.
#include "collectives/schedule/tree_program.hpp"

#include "base/errors.hpp"
#include "collectives/schedule/fold.hpp"
#include "collectives/schedule/stretches.hpp"

namespace collectives {
namespace {

using Node = Tree::Node;

/// Ranks whose sums are folded together, in config order: this participant, and its children at
/// one level of the tree.
using Folded = std::vector<Rank>;

struct Place {
  Rank me;
  bool is_root;
  Node node;
  std::vector<Folded> folds;  // operands of each fold, innermost level first
};

/// Returns the operands of each fold of this participant, innermost level first. The operands at a
/// level are the participant's sum so far and the sums of its children at that level, in config
/// order. At the root, children with lower positions come before the root's own sum.
std::vector<Folded> folds_of(const Topology& topology, Rank me, const Node& node) {
  std::vector<Folded> folds;
  const std::vector<Tree::Child>& children = node.children;
  for (std::size_t end = children.size(); end > 0;) {
    std::size_t begin = end - 1;
    while (begin > 0 && children[begin - 1].level == children[end - 1].level) --begin;
    Folded& ranks = folds.emplace_back(Folded{me});
    for (std::size_t at = begin; at < end; ++at) ranks.push_back(children[at].rank);
    std::sort(ranks.begin(), ranks.end(), [&](Rank left, Rank right) {
      return topology.position(left) < topology.position(right);
    });
    end = begin;
  }
  return folds;
}

/// The segments of a vector that is sent along one edge of the tree, and the next segment to send.
class Edge {
 public:
  Edge(Range cells, Count segment) : segments_(cells, segment) {}
  /// Calls `see` for each segment that begins before element `end` and was not passed to `see` yet.
  template <class See>
  void beginning_before(Count end, const See& see) {
    for (; next_ < segments_.count() && segments_[next_].offset < end; ++next_)
      see(segments_[next_]);
  }
  /// Calls `see` for each segment that ends at or before element `end` and was not passed to `see`
  /// yet.
  template <class See>
  void ending_by(Count end, const See& see) {
    for (; next_ < segments_.count() && segments_[next_].end() <= end; ++next_)
      see(segments_[next_]);
  }

 private:
  Stretches segments_;
  Count next_ = 0;
};

std::vector<Edge> edges_to_children(const Place& place, Range cells, const Segments& segments) {
  std::vector<Edge> edges;
  edges.reserve(place.node.children.size());
  for (const Tree::Child& child : place.node.children)
    edges.emplace_back(cells, segments.at(child.level));
  return edges;
}

/// Appends the steps that forward elements to the children. A segment is forwarded as soon as all
/// of its elements have arrived. The length of a segment depends on the level of the edge to the
/// child.
void send_down(Steps& steps, const Place& place, Range cells, const Segments& segments) {
  std::vector<Edge> edges = edges_to_children(place, cells, segments);
  const Stretches parts(cells, place.is_root ? segments.least() : segments.at(place.node.level));
  for (Count next = 0; next < parts.count(); ++next) {
    if (!place.is_root) steps.receive(place.node.parent, Block{out, parts[next]});
    for (std::size_t child = 0; child < edges.size(); ++child)
      edges[child].ending_by(parts[next].end(), [&](Range segment) {
        steps.send(place.node.children[child].rank, Block{out, segment});
      });
  }
}

/// Appends the steps that add the sums of this participant's children to its own contribution.
/// Returns the block with the result.
Block sum_of_subtree(Steps& steps, const Place& place, Range cells, Range scratch) {
  Block sum{in, cells};
  std::vector<Block> operands;
  std::uint32_t folded = 0;
  for (const Folded& ranks : place.folds) {
    operands.clear();
    operands.reserve(ranks.size());
    for (const Rank rank : ranks)
      operands.push_back(rank == place.me ? sum : Block{{Storage::child, rank}, scratch});
    const bool is_last = place.is_root && folded + 1 == place.folds.size();
    sum = fold(steps, operands,
               is_last ? Block{out, cells} : Block{{Storage::folded, ++folded}, scratch});
  }
  return sum;
}

void send_up(Steps& steps, const Place& place, Range cells, const Stretches& stretches,
             const Segments& segments) {
  std::vector<Edge> edges = edges_to_children(place, cells, segments);
  Edge up(cells, segments.at(place.node.level));
  const Stretches parts(cells, segments.least());
  for (Count next = 0; next < parts.count(); ++next) {
    const Range cells_here = parts[next];
    for (std::size_t child = 0; child < edges.size(); ++child)
      edges[child].beginning_before(cells_here.end(), [&](Range segment) {
        const Rank rank = place.node.children[child].rank;
        steps.receive(rank, Block{{Storage::child, rank}, stretches.scratch(segment)});
      });
    const Block sum = sum_of_subtree(steps, place, cells_here, stretches.scratch(cells_here));
    if (place.is_root) {
      steps.copy({out, cells_here}, sum);
      continue;
    }
    up.ending_by(cells_here.end(), [&](Range segment) {
      const bool is_own = sum.buffer.storage == Storage::in;
      steps.send(place.node.parent,
                 Block{sum.buffer, is_own ? segment : stretches.scratch(segment)});
    });
  }
}

/// Returns the blocks of the subtree of `top`. The block of `top` is in the buffer `own`. The other
/// blocks are in the buffer `others`, at the positions that the collective gives them.
Ref blocks_of(const CollectiveSpec& task, const Tree& tree, Rank top, Buffer own, Buffer others) {
  Ref blocks;
  for (const Rank rank : tree.subtree(top)) {
    const Range block = task.counts.block(rank);
    const bool is_apart = rank == top && own != others;
    blocks.add(is_apart ? Block{own, {0, block.count}} : Block{others, block});
  }
  return blocks;
}

Program gather_program(const CollectiveSpec& task, const Tree& tree, const Segments& segments,
                       Rank me) {
  return {1, [&task, tree, segments, me](Count, Steps& steps) {
            const bool is_root = me == tree.root();
            const Buffer others = is_root ? out : Buffer{Storage::subtree};
            const Node node = tree.node(me);
            if (is_root) steps.copy({out, task.counts.block(me)}, {in, in_range(task, me)});
            for (const Tree::Child& child : node.children)
              for (const Ref& message : blocks_of(task, tree, child.rank, others, others)
                                            .in_segments(segments.at(child.level)))
                steps.receive(child.rank, message);
            if (is_root) return;
            for (const Ref& message :
                 blocks_of(task, tree, me, in, others).in_segments(segments.at(node.level)))
              steps.send(node.parent, message);
          }};
}

Program scatter_program(const CollectiveSpec& task, const Tree& tree, const Segments& segments,
                        Rank me) {
  return {1, [&task, tree, segments, me](Count, Steps& steps) {
            const bool is_root = me == tree.root();
            const Buffer others = is_root ? in : Buffer{Storage::subtree};
            const Node node = tree.node(me);
            if (!is_root)
              for (const Ref& message :
                   blocks_of(task, tree, me, out, others).in_segments(segments.at(node.level)))
                steps.receive(node.parent, message);
            for (const Tree::Child& child : node.children)
              for (const Ref& message : blocks_of(task, tree, child.rank, others, others)
                                            .in_segments(segments.at(child.level)))
                steps.send(child.rank, message);
            if (is_root) steps.copy({out, out_range(task, me)}, {in, task.counts.block(me)});
          }};
}

}  // namespace

Count Segments::largest() const {
  Count largest = 0;
  for (const Count size : sizes) {
    if (size == 0) return 0;
    largest = std::max(largest, size);
  }
  return largest;
}

Count Segments::least() const {
  Count least = 0;
  for (const Count size : sizes)
    if (size > 0 && (least == 0 || size < least)) least = size;
  return least;
}

Program tree_program(const CollectiveSpec& task, const Tree& tree, const Segments& segments,
                     Rank me) {
  if (task.collective == Collective::gather) return gather_program(task, tree, segments, me);
  if (task.collective == Collective::scatter) return scatter_program(task, tree, segments, me);
  const bool goes_up = task.collective != Collective::broadcast;
  const bool goes_down = task.collective != Collective::reduce;
  const Stretches stretches(task.vector(), segments.largest());
  Place place{me, me == tree.root(), tree.node(me), {}};
  if (goes_up) place.folds = folds_of(task.group(), me, place.node);
  return {stretches.count(), [=, place = std::move(place)](Count portion, Steps& steps) {
            const Range cells = stretches[portion];
            if (goes_up) send_up(steps, place, cells, stretches, segments);
            if (goes_down) send_down(steps, place, cells, segments);
          }};
}

std::vector<Collective> tree_collectives() {
  return {Collective::broadcast, Collective::reduce, Collective::allreduce,
          Collective::barrier,   Collective::gather, Collective::scatter};
}

Rank root_of(const CollectiveSpec& task) {
  return has_root(task.collective) ? task.root : task.group().order().front();
}

Order tree_order(const Tree& tree) {
  if (tree.is_canonical()) return Order::canonical;
  return tree.keeps_order() ? Order::in_order : Order::permuted;
}

std::vector<Parameter> shape_parameters(bool has_levels) {
  return {{.name = "arity",
           .help = "Children of a node in kary; base of knomial.",
           .fallback = "2",
           .least = 2,
           .only_with = {"kary", "knomial"}},
          {.name = "latency",
           .help = "Latency of postal: number of sends that take as long as one arrival.",
           .fallback = "4",
           .least = 1,
           .only_with = {"postal"}},
          {.name = "segment",
           .help = has_levels
                       ? "Greatest number of elements in a message, outermost level first; 0 = all."
                       : "Greatest number of elements in a message; 0 = all in one.",
           .fallback = "0",
           .is_list = has_levels,
           .is_piece = true}};
}

Shape shape_named(const std::string& name, const Parameters& parameters) {
  return {name, parameters.number("arity"), parameters.number("latency")};
}

Segments segments_of(const Parameters& parameters) { return {parameters.numbers("segment")}; }

}  // namespace collectives
