// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/step.hpp — steps of one participant in a collective.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "collectives/schedule/block.hpp"

namespace collectives {

enum class Action : std::uint8_t { send, receive, reduce, copy };

/// One step. A send gathers its blocks into a message; a receive scatters a message into its
/// blocks. `reduce` has three blocks: destination, left and right operand. `copy` has destination
/// and source.
struct Step {
  Action action = Action::send;
  Rank peer = 0;  ///< rank of the other participant of a message
  /// Channel of a message; messages on a channel arrive in the order of sending.
  Channel channel = 0;
  std::span<const Block> blocks;

  bool is_message() const { return action == Action::send || action == Action::receive; }
  /// Whether the step writes the block with this index; otherwise it reads the block.
  bool writes(std::size_t block) const {
    return action == Action::receive || (action != Action::send && block == 0);
  }
  Count elements() const;  ///< number of elements of all blocks
};

/// Returns for example "send>1 out[2:4] #1" or "part[2:4]=rt0[2:4] op in[2:4]".
std::string text(const Step& step);

/// Steps of one participant, in order. The result is that of executing the steps one by one, with
/// buffered sends and blocking receives. An executor may reorder steps, unless they make
/// conflicting accesses to a cell (element of a buffer). Steps without elements are omitted. A
/// message without elements is omitted by its sender and by its receiver.
///
/// Why: Explicit order (rounds, lists of dependencies) can be forgotten or wrong. Order that
///      follows from the data cannot.
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
  /// Removes all steps. Keeps the memory for later steps.
  void clear();

  /// Appends a copy of a step of another list. Tests use it to make wrong schedules.
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

/// Joins the texts of the steps with "; ".
std::string text(const Steps& steps);

}  // namespace collectives
