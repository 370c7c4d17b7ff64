// SPDX-License-Identifier: Apache-2.0
// collectives/unbuffered.cpp — a graph of messages and local steps, ordered by hazards.
#include "collectives/unbuffered.hpp"

#include <map>

namespace collectives {
namespace {

using Node = std::uint32_t;

/// What can only be done as one: a local step, or a message with both of its steps.
class Graph {
 public:
  Graph(const std::vector<Steps>& schedule, const std::vector<Message>& messages);
  std::optional<std::size_t> least_window();

 private:
  void add_edge(Node from, Node to) {
    next_[from].push_back(to);
    ++waits_[to];
  }
  void add_hazards(const Steps& steps, std::size_t rank);
  void admit(std::size_t rank);
  void let_go(Node node) {
    if (--waits_[node] == 0) ready_.push_back(node);
  }

  std::vector<std::vector<Node>> nodes_;  // by participant and step
  std::vector<std::vector<Node>> next_;
  std::vector<std::size_t> waits_;                // for earlier nodes, and to be admitted
  std::vector<std::vector<std::size_t>> owners_;  // whose steps it has
  std::vector<Node> ready_;
  std::vector<std::size_t> admitted_;    // by participant: steps so far
  std::vector<std::size_t> unfinished_;  // of them
  std::size_t window_ = 1;
};

/// Who wrote a cell last, and who has read it since.
struct Uses {
  static constexpr Node nobody = static_cast<Node>(-1);
  Node writer = nobody;
  std::vector<Node> readers;
};

bool writes(const Step& step, std::size_t block) {
  return step.action == Action::receive || (step.action != Action::send && block == 0);
}

Graph::Graph(const std::vector<Steps>& schedule, const std::vector<Message>& messages)
    : nodes_(schedule.size()), admitted_(schedule.size(), 0), unfinished_(schedule.size(), 0) {
  constexpr Node unknown = Uses::nobody;
  for (std::size_t rank = 0; rank < schedule.size(); ++rank)
    nodes_[rank].assign(schedule[rank].size(), unknown);
  for (const Message& message : messages) {
    const auto node = static_cast<Node>(owners_.size());
    nodes_[message.sent.rank][message.sent.step] = node;
    nodes_[message.received.rank][message.received.step] = node;
    owners_.push_back({message.sent.rank, message.received.rank});
  }
  for (std::size_t rank = 0; rank < schedule.size(); ++rank)
    for (Node& node : nodes_[rank])
      if (node == unknown) {
        node = static_cast<Node>(owners_.size());
        owners_.push_back({rank});
      }
  next_.resize(owners_.size());
  for (const auto& owners : owners_) waits_.push_back(owners.size());
  for (std::size_t number = 0; number < messages.size(); ++number)
    if (messages[number].before != Message::none)
      add_edge(static_cast<Node>(messages[number].before), static_cast<Node>(number));
  for (std::size_t rank = 0; rank < schedule.size(); ++rank) add_hazards(schedule[rank], rank);
}

void Graph::add_hazards(const Steps& steps, std::size_t rank) {
  std::map<Buffer, std::vector<Uses>> buffers;
  for (std::size_t index = 0; index < steps.size(); ++index) {
    const Step step = steps[index];
    const Node node = nodes_[rank][index];
    // Reads first: a step that reads what it writes waits for nobody but those before it.
    for (const bool is_write : {false, true})
      for (std::size_t block = 0; block < step.blocks.size(); ++block) {
        if (writes(step, block) != is_write) continue;
        const Block& touched = step.blocks[block];
        std::vector<Uses>& cells = buffers[touched.buffer];
        if (cells.size() < touched.cells.end()) cells.resize(touched.cells.end());
        for (Count cell = touched.cells.offset; cell < touched.cells.end(); ++cell) {
          Uses& uses = cells[cell];
          if (uses.writer != Uses::nobody && uses.writer != node) add_edge(uses.writer, node);
          if (!is_write) {
            uses.readers.push_back(node);
            continue;
          }
          for (const Node reader : uses.readers)
            if (reader != node) add_edge(reader, node);
          uses.readers.clear();
          uses.writer = node;
        }
      }
  }
}

void Graph::admit(std::size_t rank) {
  while (unfinished_[rank] < window_ && admitted_[rank] < nodes_[rank].size()) {
    ++unfinished_[rank];
    let_go(nodes_[rank][admitted_[rank]++]);
  }
}

/// Wherever it sticks with a window, it would have stuck there with a smaller one: so the window
/// grows under way.
std::optional<std::size_t> Graph::least_window() {
  std::size_t open = owners_.size();
  while (true) {
    for (std::size_t rank = 0; rank < nodes_.size(); ++rank) admit(rank);
    while (!ready_.empty()) {
      const Node node = ready_.back();
      ready_.pop_back();
      --open;
      for (const Node next : next_[node]) let_go(next);
      for (const std::size_t rank : owners_[node]) --unfinished_[rank];
      for (const std::size_t rank : owners_[node]) admit(rank);
    }
    if (open == 0) return window_;
    bool can_admit = false;
    for (std::size_t rank = 0; rank < nodes_.size(); ++rank)
      can_admit = can_admit || admitted_[rank] < nodes_[rank].size();
    if (!can_admit) return std::nullopt;
    ++window_;
  }
}

}  // namespace

std::optional<std::size_t> least_window(const std::vector<Steps>& schedule,
                                        const std::vector<Message>& messages) {
  return Graph(schedule, messages).least_window();
}

}  // namespace collectives
