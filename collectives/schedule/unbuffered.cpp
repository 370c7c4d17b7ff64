// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/unbuffered.cpp — graph of messages and local steps, ordered by hazards.
#include "collectives/schedule/unbuffered.hpp"

#include <array>

namespace collectives {
namespace {

using Node = std::uint32_t;
constexpr Node nobody = ~Node{0};

/// Keeps for each cell the last writer, and the readers since that write.
class CellUses {
 public:
  explicit CellUses(std::size_t cells) : cells_(cells) {}

  /// Record that `node` (a message or local step) reads or writes the cell. Call `see` for each
  /// earlier node for which `node` must wait. A read waits for the last write of the cell. A write
  /// also waits for all reads since that write.
  template <class See>
  void read(std::size_t cell, Node node, const See& see) {
    Uses& uses = cells_[cell];
    if (uses.writer != nobody) see(uses.writer);
    if (uses.last_reader != none && readers_[uses.last_reader].node == node) return;
    readers_.push_back({node, uses.last_reader});
    uses.last_reader = static_cast<std::uint32_t>(readers_.size() - 1);
  }
  template <class See>
  void write(std::size_t cell, Node node, const See& see) {
    Uses& uses = cells_[cell];
    if (uses.writer != nobody) see(uses.writer);
    for (std::uint32_t at = uses.last_reader; at != none; at = readers_[at].before)
      see(readers_[at].node);
    uses = {node, none};
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Uses {
    Node writer = nobody;
    std::uint32_t last_reader = none;
  };
  struct Reader {
    Node node;
    std::uint32_t before;
  };
  std::vector<Uses> cells_;
  std::vector<Reader> readers_;
};

/// A graph of dependencies. Each node is a unit of execution: a local step, or a message with both
/// of its steps.
class Graph {
 public:
  Graph(const Schedule& schedule, const CellNumbers& numbers, const std::vector<Message>& messages);
  std::optional<std::size_t> least_window();

 private:
  struct Edge {
    Node from, to;
  };
  void number_nodes(const Schedule& schedule, const std::vector<Message>& messages);
  void add_hazards(const Steps& steps, const CellNumbers& numbers, Rank rank, CellUses& uses);
  void sort_edges();
  /// Adds an edge, unless the last edge that starts at `from` also ends at `to`. That prevents most
  /// duplicates, because most cells of a step wait for the same node.
  void add_edge(Node from, Node to) {
    if (from == to || last_told_[from] == to) return;
    last_told_[from] = to;
    edges_.push_back({from, to});
    ++waits_[to];
  }
  void admit(std::size_t rank);
  void let_go(Node node) {
    if (--waits_[node] == 0) ready_.push_back(node);
  }

  // Number of each step's node. The steps are sorted by participant, then by index.
  std::vector<Node> nodes_;
  // Index in nodes_ of each participant's first step. The last entry is the size of nodes_.
  std::vector<std::size_t> begins_;
  std::vector<Edge> edges_;
  std::vector<Node> next_;  // targets of all edges, sorted by the edge's source
  // Index in next_ of the first edge that starts at each node. The last entry is the size of next_.
  std::vector<std::uint32_t> firsts_;
  std::vector<Node> last_told_;
  // For each node: number of events that must happen before it can be executed. These events are:
  // the ends of the earlier nodes for which the node waits, and the admission of each of the node's
  // steps into the window of the step's participant.
  std::vector<std::uint32_t> waits_;
  std::vector<std::array<Rank, 2>> owners_;  // participants whose steps form the node
  std::vector<Node> ready_;
  std::vector<std::size_t> admitted_;    // number of admitted steps of each participant
  std::vector<std::size_t> unfinished_;  // number of admitted steps that are unfinished
  std::size_t window_ = 1;
};

constexpr Rank no_owner = ~Rank{0};

Graph::Graph(const Schedule& schedule, const CellNumbers& numbers,
             const std::vector<Message>& messages)
    : admitted_(schedule.size(), 0), unfinished_(schedule.size(), 0) {
  number_nodes(schedule, messages);
  for (const auto& owners : owners_) waits_.push_back(owners[1] == no_owner ? 1 : 2);
  last_told_.assign(owners_.size(), nobody);
  for (std::size_t number = 0; number < messages.size(); ++number)
    if (messages[number].before != Message::none)
      add_edge(static_cast<Node>(messages[number].before), static_cast<Node>(number));
  CellUses uses(numbers.count());
  for (Rank rank = 0; rank < schedule.size(); ++rank)
    add_hazards(schedule[rank], numbers, rank, uses);
  sort_edges();
}

void Graph::number_nodes(const Schedule& schedule, const std::vector<Message>& messages) {
  begins_.push_back(0);
  for (const Steps& steps : schedule) begins_.push_back(begins_.back() + steps.size());
  nodes_.assign(begins_.back(), nobody);
  owners_.reserve(nodes_.size());
  for (const Message& message : messages) {
    const auto node = static_cast<Node>(owners_.size());
    nodes_[begins_[message.sent.rank] + message.sent.step] = node;
    nodes_[begins_[message.received.rank] + message.received.step] = node;
    owners_.push_back({message.sent.rank, message.received.rank});
  }
  for (Rank rank = 0; rank < schedule.size(); ++rank)
    for (std::size_t at = begins_[rank]; at < begins_[rank + 1]; ++at)
      if (nodes_[at] == nobody) {
        nodes_[at] = static_cast<Node>(owners_.size());
        owners_.push_back({rank, no_owner});
      }
}

void Graph::add_hazards(const Steps& steps, const CellNumbers& numbers, Rank rank, CellUses& uses) {
  for (std::size_t index = 0; index < steps.size(); ++index) {
    const Step step = steps[index];
    const Node node = nodes_[begins_[rank] + index];
    const auto wait_for = [&](Node earlier) { add_edge(earlier, node); };
    // Records the reads of a step before its writes. Otherwise a step that reads cells and also
    // writes them would wait for its own write.
    for (const bool is_write : {false, true})
      for (std::size_t block = 0; block < step.blocks.size(); ++block) {
        if (step.writes(block) != is_write) continue;
        const std::size_t first = numbers.first(rank, step.blocks[block]);
        const std::size_t end = first + step.blocks[block].cells.count;
        for (std::size_t cell = first; cell < end; ++cell)
          is_write ? uses.write(cell, node, wait_for) : uses.read(cell, node, wait_for);
      }
  }
}

void Graph::sort_edges() {
  firsts_.assign(owners_.size() + 1, 0);
  for (const Edge& edge : edges_) ++firsts_[edge.from];
  std::uint32_t end = 0;
  for (std::uint32_t& first : firsts_) first = end += first;
  next_.resize(edges_.size());
  for (const Edge& edge : edges_) next_[--firsts_[edge.from]] = edge.to;
}

void Graph::admit(std::size_t rank) {
  const std::size_t steps = begins_[rank + 1] - begins_[rank];
  while (unfinished_[rank] < window_ && admitted_[rank] < steps) {
    ++unfinished_[rank];
    let_go(nodes_[begins_[rank] + admitted_[rank]++]);
  }
}

/// Executes the graph with window 1. If no node can be executed, continues with a window that is
/// larger by 1. The execution need not start again, because a graph that blocks with one window
/// also blocks with every smaller window.
std::optional<std::size_t> Graph::least_window() {
  const std::size_t participants = admitted_.size();
  std::size_t open = owners_.size();
  while (true) {
    for (std::size_t rank = 0; rank < participants; ++rank) admit(rank);
    while (!ready_.empty()) {
      const Node node = ready_.back();
      ready_.pop_back();
      --open;
      for (std::uint32_t at = firsts_[node]; at < firsts_[node + 1]; ++at) let_go(next_[at]);
      for (const Rank rank : owners_[node])
        if (rank != no_owner) --unfinished_[rank];
      for (const Rank rank : owners_[node])
        if (rank != no_owner) admit(rank);
    }
    if (open == 0) return window_;
    bool can_admit = false;
    for (std::size_t rank = 0; rank < participants; ++rank)
      can_admit = can_admit || admitted_[rank] < begins_[rank + 1] - begins_[rank];
    if (!can_admit) return std::nullopt;
    ++window_;
  }
}

}  // namespace

std::optional<std::size_t> least_window(const Schedule& schedule, const CellNumbers& numbers,
                                        const std::vector<Message>& messages) {
  return Graph(schedule, numbers, messages).least_window();
}

}  // namespace collectives
