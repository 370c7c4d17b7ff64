// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/step.hpp — what one participant of a collective does, step by step.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "collectives/schedule/block.hpp"

namespace collectives {

enum class Action : std::uint8_t { send, receive, reduce, copy };

/// One step. A message has the blocks that it gathers or scatters; `reduce` has what it writes, the
/// left and the right operand; `copy` what it writes and what it reads.
struct Step {
  Action action = Action::send;
  Rank peer = 0;        ///< of a message
  Channel channel = 0;  ///< of a message: the k-th sent on it is the k-th received on it
  std::span<const Block> blocks;

  bool is_message() const { return action == Action::send || action == Action::receive; }
};

/// "send>1 out[2:4] #1", "part[2:4]=rt0[2:4] op in[2:4]".
std::string text(const Step& step);

/// Steps of one participant, in order. They mean what they do one by one, sends buffered and
/// receives blocking; whoever runs them may take any order that keeps reads and writes of the same
/// cells in theirs.
///
/// Why: everything else that orders steps (rounds, lists of dependencies) can be forgotten or be
///      wrong; what follows from the data cannot.
/// What moves no element is no step: who sends and who receives drop it by the same rule.
class Steps {
 public:
  void send(Rank to, const Ref& what, Channel channel = 0);
  void receive(Rank from, const Ref& what, Channel channel = 0);
  void send(Rank to, Block what, Channel channel = 0);
  void receive(Rank from, Block what, Channel channel = 0);
  void reduce(Block into, Block left, Block right);
  void copy(Block into, Block from);

  std::size_t size() const { return steps_.size(); }
  Step operator[](std::size_t index) const;
  /// Forgets them, and keeps the memory for the next ones.
  void clear();

  /// For mutations: the same steps with one changed.
  void append(const Step& step);

 private:
  struct Compact {
    Action action;
    Rank peer;
    Channel channel;
    std::uint32_t blocks;
    std::size_t first_block;
  };
  void add(Action action, Rank peer, Channel channel, std::span<const Block> blocks);

  std::vector<Compact> steps_;
  std::vector<Block> blocks_;
};

/// "; " between them.
std::string text(const Steps& steps);

}  // namespace collectives
