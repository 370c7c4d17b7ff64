// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/longest_way.cpp — execution of a schedule with times in place of data.
#include "collectives/schedule/longest_way.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <stdexcept>
#include <tuple>

#include "collectives/schedule/cells.hpp"

namespace collectives {
namespace {

constexpr std::size_t no_message = static_cast<std::size_t>(-1);

/// Time at which data arrived, and the message that delivered them. A participant's own
/// contribution arrives at time 0.
struct Arrival {
  base::Nanos time{0};
  std::size_t message = no_message;
};

struct Passed {
  Rank from, to;
  Arrival before;  // arrival of the data that the message carries
};

class Walk {
 public:
  Walk(const Schedule& schedule, const HopTime& hop_time)
      : schedule_(schedule), hop_time_(hop_time), participants_(schedule.size()) {}

  void go() {
    for (bool moves = true; moves;) {
      moves = false;
      for (Rank rank = 0; rank < schedule_.size(); ++rank) moves = advance(rank) || moves;
    }
    for (Rank rank = 0; rank < schedule_.size(); ++rank)
      if (participants_[rank].done < schedule_[rank].size())
        throw std::invalid_argument("the schedule blocks forever");
  }

  Way longest() const {
    Way way;
    if (last_.message == no_message) return way;
    way.time = last_.time;
    way.hosts.push_back(passed_[last_.message].to);
    for (std::size_t at = last_.message; at != no_message; at = passed_[at].before.message)
      way.hosts.push_back(passed_[at].from);
    std::reverse(way.hosts.begin(), way.hosts.end());
    return way;
  }

 private:
  struct Participant {
    std::size_t done = 0;
    std::map<Buffer, Cells<Arrival>> buffers;
  };

  bool advance(Rank rank) {
    const std::size_t before = participants_[rank].done;
    std::size_t& done = participants_[rank].done;
    while (done < schedule_[rank].size() && execute(rank, schedule_[rank][done])) ++done;
    return done > before;
  }

  bool execute(Rank rank, const Step& step) {
    if (step.action == Action::receive) return receive(rank, step);
    const bool is_send = step.action == Action::send;
    const Arrival latest = read(rank, step.blocks.subspan(is_send ? 0 : 1));
    if (!is_send) {
      write(rank, step.blocks.first(1), latest);
      return true;
    }
    passed_.push_back({rank, step.peer, latest});
    under_way_[{rank, step.peer, step.channel}].push_back(passed_.size() - 1);
    return true;
  }

  bool receive(Rank rank, const Step& step) {
    auto& waiting = under_way_[{step.peer, rank, step.channel}];
    if (waiting.empty()) return false;
    const std::size_t message = waiting.front();
    waiting.pop_front();
    const Arrival arrival{passed_[message].before.time + hop_time_(step.peer, rank), message};
    write(rank, step.blocks, arrival);
    if (last_.message == no_message || arrival.time > last_.time) last_ = arrival;
    return true;
  }

  Arrival read(Rank rank, std::span<const Block> blocks) {
    Arrival latest;
    for (const Block& block : blocks)
      participants_[rank].buffers[block.buffer].for_each(block.cells, [&](const Arrival& one) {
        if (one.message != no_message && (latest.message == no_message || one.time > latest.time))
          latest = one;
      });
    return latest;
  }
  void write(Rank rank, std::span<const Block> blocks, const Arrival& arrival) {
    for (const Block& block : blocks)
      participants_[rank].buffers[block.buffer].assign(block.cells, arrival);
  }

  const Schedule& schedule_;
  const HopTime& hop_time_;
  std::vector<Participant> participants_;
  std::vector<Passed> passed_;
  std::map<std::tuple<Rank, Rank, Channel>, std::deque<std::size_t>> under_way_;
  Arrival last_;  // latest arrival of any message
};

}  // namespace

Way longest_way(const Schedule& schedule, const HopTime& hop_time) {
  Walk walk(schedule, hop_time);
  walk.go();
  return walk.longest();
}

}  // namespace collectives
