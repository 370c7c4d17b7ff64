// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/goal.cpp — labels and tags of GOAL, and the steps that each step requires.
#include "collectives/schedule/goal.hpp"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <ostream>
#include <set>
#include <stdexcept>
#include <utility>

#include "collectives/schedule/cells.hpp"

namespace collectives {
namespace {

/// Calls `use` for each step of a participant in order. Only one portion of steps is in memory at
/// a time.
template <class Use>
void for_each_step(const Program& program, Use&& use) {
  Steps steps;
  std::size_t number = 0;
  for (Count portion = 0; portion < program.portions(); ++portion) {
    steps.clear();
    program.append(portion, steps);
    for (std::size_t index = 0; index < steps.size(); ++index) use(number++, steps[index]);
  }
}

struct Pair {
  Rank from, to;
  auto operator<=>(const Pair&) const = default;
};

/// Assigns tags to the messages of a pair of participants. Messages of the first channel have the
/// first tags, messages of the second channel have the next tags, and so on.
class Tags {
 public:
  void count(Rank from, const Step& step) { ++channels_[{from, step.peer}][step.channel]; }
  /// Replaces each channel's number of messages by the tag of the channel's first message.
  void finish() {
    for (auto& [pair, channels] : channels_) {
      Count next = 0;
      for (auto& [channel, tag] : channels) next += std::exchange(tag, next);
    }
  }
  Count first(Pair pair, Channel channel) const { return channels_.at(pair).at(channel); }

 private:
  std::map<Pair, std::map<Channel, Count>> channels_;
};

/// Steps that wrote or read an element of a buffer, and for which later steps may have to wait.
struct Uses {
  std::set<std::size_t> writer, readers;  // indexes of steps; `writer` has at most one element
};

/// Finds the earlier steps for which each step must wait.
class Hazards {
 public:
  std::set<std::size_t> of(std::size_t number, const Step& step) {
    std::set<std::size_t> required;
    for (std::size_t index = 0; index < step.blocks.size(); ++index)
      if (!step.writes(index)) read(number, step.blocks[index], required);
    for (std::size_t index = 0; index < step.blocks.size(); ++index)
      if (step.writes(index)) write(number, step.blocks[index], required);
    required.erase(number);
    return required;
  }

 private:
  void read(std::size_t number, const Block& block, std::set<std::size_t>& required) {
    buffers_[block.buffer].for_each(block.cells, [&](Uses& uses) {
      required.insert(uses.writer.begin(), uses.writer.end());
      uses.readers.insert(number);
    });
  }
  void write(std::size_t number, const Block& block, std::set<std::size_t>& required) {
    Cells<Uses>& cells = buffers_[block.buffer];
    cells.for_each(block.cells, [&](const Uses& uses) {
      required.insert(uses.writer.begin(), uses.writer.end());
      required.insert(uses.readers.begin(), uses.readers.end());
    });
    cells.assign(block.cells, {{number}, {}});
  }

  std::map<Buffer, Cells<Uses>> buffers_;
};

class GoalWriter {
 public:
  GoalWriter(std::ostream& into, const CollectiveSpec& task, Count element_bytes, const Tags& tags)
      : into_(into),
        is_barrier_(task.collective == Collective::barrier),
        element_bytes_(element_bytes),
        tags_(tags) {}

  void write(Rank me, const Program& program) {
    into_ << fmt::format("\nrank {} {{\n", me);
    Hazards hazards;
    std::map<std::pair<Pair, Channel>, Count> passed;
    for_each_step(program, [&](std::size_t number, const Step& step) {
      into_ << fmt::format("l{}: ", number);
      if (step.is_message()) {
        const bool is_send = step.action == Action::send;
        const Pair pair = is_send ? Pair{me, step.peer} : Pair{step.peer, me};
        const Count tag = tags_.first(pair, step.channel) + passed[{pair, step.channel}]++;
        into_ << fmt::format("{} {}b {} {} tag {}\n", is_send ? "send" : "recv", bytes(step),
                             is_send ? "to" : "from", step.peer, tag);
      } else {
        into_ << "calc 0\n";
      }
      for (const std::size_t required : hazards.of(number, step))
        into_ << fmt::format("l{} requires l{}\n", number, required);
    });
    into_ << "}\n";
  }

 private:
  Count bytes(const Step& step) const {
    if (is_barrier_) return 1;
    const Count elements = step.elements();
    if (elements > std::numeric_limits<Count>::max() / element_bytes_)
      throw std::invalid_argument("a message has more bytes than 64 bits can hold");
    return elements * element_bytes_;
  }

  std::ostream& into_;
  bool is_barrier_;
  Count element_bytes_;
  const Tags& tags_;
};

}  // namespace

void write_goal(std::ostream& into, const Algorithm& algorithm, const CollectiveSpec& task,
                const Parameters& parameters, Count element_bytes) {
  Tags tags;
  for (Rank me = 0; me < task.size(); ++me)
    for_each_step(algorithm.program(task, parameters, me), [&](std::size_t, const Step& step) {
      if (step.action == Action::send) tags.count(me, step);
    });
  tags.finish();
  into << fmt::format("num_ranks {}\n", task.size());
  GoalWriter writer(into, task, element_bytes, tags);
  for (Rank me = 0; me < task.size(); ++me)
    writer.write(me, algorithm.program(task, parameters, me));
}

}  // namespace collectives
