// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/step.cpp — compact storage and text form of steps.
#include "collectives/schedule/step.hpp"

#include <fmt/format.h>

#include <array>

namespace collectives {

Count Step::elements() const {
  Count count = 0;
  for (const Block& block : blocks) count += block.cells.count;
  return count;
}

void Steps::add(Action action, Rank peer, Channel channel, std::span<const Block> blocks) {
  steps_.push_back(
      {action, peer, channel, static_cast<std::uint32_t>(blocks.size()), blocks_.size()});
  blocks_.insert(blocks_.end(), blocks.begin(), blocks.end());
}

void Steps::send(Rank to, const Ref& what, Channel channel) {
  if (!what.blocks().empty()) add(Action::send, to, channel, what.blocks());
}

void Steps::receive(Rank from, const Ref& what, Channel channel) {
  if (!what.blocks().empty()) add(Action::receive, from, channel, what.blocks());
}

void Steps::send(Rank to, Block what, Channel channel) {
  if (what.cells.count > 0) add(Action::send, to, channel, {&what, 1});
}

void Steps::receive(Rank from, Block what, Channel channel) {
  if (what.cells.count > 0) add(Action::receive, from, channel, {&what, 1});
}

void Steps::reduce(Block into, Block left, Block right) {
  if (into.cells.count > 0) add(Action::reduce, 0, 0, std::array{into, left, right});
}

void Steps::copy(Block into, Block from) {
  if (into.cells.count > 0 && into != from) add(Action::copy, 0, 0, std::array{into, from});
}

Step Steps::operator[](std::size_t index) const {
  const Compact& step = steps_[index];
  return {step.action, step.peer, step.channel,
          std::span(blocks_).subspan(step.first_block, step.blocks)};
}

void Steps::clear() {
  steps_.clear();
  blocks_.clear();
}

void Steps::append(const Step& step) { add(step.action, step.peer, step.channel, step.blocks); }

std::string text(const Step& step) {
  if (step.action == Action::reduce)
    return fmt::format("{}={} op {}", text(step.blocks[0]), text(step.blocks[1]),
                       text(step.blocks[2]));
  if (step.action == Action::copy)
    return fmt::format("{}={}", text(step.blocks[0]), text(step.blocks[1]));
  std::string line =
      fmt::format("{}{} ", step.action == Action::send ? "send>" : "recv<", step.peer);
  for (std::size_t index = 0; index < step.blocks.size(); ++index)
    line += (index > 0 ? "+" : "") + text(step.blocks[index]);
  if (step.channel > 0) line += fmt::format(" #{}", step.channel);
  return line;
}

std::string text(const Steps& steps) {
  std::string line;
  for (std::size_t index = 0; index < steps.size(); ++index)
    line += (index > 0 ? "; " : "") + text(steps[index]);
  return line;
}

}  // namespace collectives
