// SPDX-License-Identifier: Apache-2.0
// collectives/verifier.cpp — runs on symbols, and what their results must be.
#include "collectives/verifier.hpp"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <set>

#include "collectives/expressions.hpp"
#include "collectives/unbuffered.hpp"

namespace collectives {
namespace {

/// What a cell holds: whose elements, summed up how, and of which place in their vectors.
struct Value {
  Expressions::Id expression = Expressions::undefined;
  Count place = 0;
  bool is_unread = false;  // since it was written
  bool is_defined() const { return expression != Expressions::undefined; }
  friend bool operator==(const Value& left, const Value& right) {
    return left.expression == right.expression && left.place == right.place;
  }
};

struct Sent {
  std::size_t number;  // of its message
  std::vector<Value> values;
};

/// Between two participants, in order.
struct Line {
  std::deque<Sent> under_way;
  std::size_t last = Message::none;
};

struct Participant {
  std::size_t done = 0;  // steps
  std::map<Buffer, std::vector<Value>> buffers;
};

/// A mistake, on its way out of the run.
struct Wrong {
  std::string what;
};

class Run {
 public:
  Run(const Task& task, const Schedule& schedule);
  void go();
  Expressions& expressions() { return expressions_; }
  const std::vector<Message>& messages() const { return messages_; }
  const std::vector<Value>& result(Rank rank) { return participants_[rank].buffers[out]; }
  const Traffic& traffic() const { return traffic_; }

 private:
  bool advance(Rank rank);
  bool execute(Rank rank, const Step& step);
  void send(Rank rank, const Step& step);
  bool receive(Rank rank, const Step& step);
  void compute(Rank rank, const Step& step);
  std::vector<Value> read(Rank rank, std::span<const Block> blocks);
  void write(Rank rank, const Block& block, const Value* values);
  void check_operands(const Step& step) const;
  void check_ended() const;
  void count(Rank from, Rank to, Count elements);

  const Task& task_;
  const Schedule& schedule_;
  Expressions expressions_;
  std::vector<Participant> participants_;
  std::map<std::tuple<Rank, Rank, Channel>, Line> lines_;
  std::vector<Message> messages_;
  Traffic traffic_;
};

Run::Run(const Task& task, const Schedule& schedule)
    : task_(task), schedule_(schedule), participants_(schedule.size()) {
  const std::size_t clusters = task.group().clusters();
  traffic_.sent.resize(schedule.size());
  traffic_.received.resize(schedule.size());
  traffic_.crossing.resize(clusters * clusters);
  for (Rank rank = 0; rank < schedule.size(); ++rank) {
    const Range given = in_range(task, rank);
    std::vector<Value> values(given.end());
    for (Count cell = 0; cell < given.end(); ++cell) values[cell] = {expressions_.leaf(rank), cell};
    participants_[rank].buffers[task.collective == Collective::broadcast ? out : in] = values;
  }
}

void Run::go() {
  for (bool moves = true; moves;) {
    moves = false;
    for (Rank rank = 0; rank < schedule_.size(); ++rank) moves = advance(rank) || moves;
  }
  check_ended();
}

/// As far as it can go; whether it could at all.
bool Run::advance(Rank rank) {
  std::size_t& done = participants_[rank].done;
  const std::size_t before = done;
  try {
    while (done < schedule_[rank].size() && execute(rank, schedule_[rank][done])) ++done;
  } catch (const Wrong& wrong) {
    throw Wrong{fmt::format("participant {}, step {}, {}: {}", rank, done,
                            text(schedule_[rank][done]), wrong.what)};
  }
  return done > before;
}

bool Run::execute(Rank rank, const Step& step) {
  for (const Block& block : step.blocks)
    if (block.cells.count == 0) throw Wrong{"moves nothing"};
  if (!step.is_message()) return compute(rank, step), true;
  if (step.peer == rank) throw Wrong{"is a message to itself"};
  if (step.peer >= schedule_.size()) throw Wrong{"is with nobody"};
  if (step.action == Action::receive) return receive(rank, step);
  return send(rank, step), true;
}

void Run::count(Rank from, Rank to, Count elements) {
  const Topology& group = task_.group();
  const auto add = [&](Flow& flow) {
    ++flow.messages;
    flow.elements += elements;
  };
  add(traffic_.sent[from]);
  add(traffic_.received[to]);
  add(traffic_.all);
  if (group.cluster_of(from) == group.cluster_of(to)) return;
  add(traffic_.across);
  add(traffic_.crossing[group.cluster_of(from) * group.clusters() + group.cluster_of(to)]);
}

void Run::send(Rank rank, const Step& step) {
  Line& line = lines_[{rank, step.peer, step.channel}];
  std::vector<Value> values = read(rank, step.blocks);
  count(rank, step.peer, values.size());
  messages_.push_back({{rank, participants_[rank].done}, {}, line.last});
  line.last = messages_.size() - 1;
  line.under_way.push_back({line.last, std::move(values)});
}

bool Run::receive(Rank rank, const Step& step) {
  Line& line = lines_[{step.peer, rank, step.channel}];
  if (line.under_way.empty()) return false;
  const Sent message = std::move(line.under_way.front());
  line.under_way.pop_front();
  Count expected = 0;
  for (const Block& block : step.blocks) expected += block.cells.count;
  if (expected != message.values.size())
    throw Wrong{fmt::format("comes with {} elements", message.values.size())};
  messages_[message.number].received = {rank, participants_[rank].done};
  std::set<std::pair<Buffer, Count>> written;
  const Value* values = message.values.data();
  for (const Block& block : step.blocks) {
    for (Count cell = block.cells.offset; step.blocks.size() > 1 && cell < block.cells.end();
         ++cell)
      if (!written.emplace(block.buffer, cell).second) throw Wrong{"writes a cell twice"};
    write(rank, block, values);
    values += block.cells.count;
  }
  return true;
}

/// Operands have one length and are apart from what is written, or it in place.
void Run::check_operands(const Step& step) const {
  const Block& into = step.blocks[0];
  for (const Block& operand : step.blocks.subspan(1)) {
    if (operand.cells.count != into.cells.count) throw Wrong{"has operands of several lengths"};
    const bool touches =
        operand.buffer == into.buffer && overlap(operand.cells, into.cells).count > 0;
    const bool in_place = operand == into && step.action == Action::reduce;
    if (touches && !in_place) throw Wrong{"writes over a part of an operand"};
  }
}

void Run::compute(Rank rank, const Step& step) {
  check_operands(step);
  std::vector<Value> values = read(rank, step.blocks.subspan(1, 1));
  if (step.action == Action::reduce) {
    const std::vector<Value> right = read(rank, step.blocks.subspan(2, 1));
    for (std::size_t index = 0; index < values.size(); ++index) {
      if (values[index].place != right[index].place) throw Wrong{"sums up different places"};
      values[index].expression =
          expressions_.sum(values[index].expression, right[index].expression);
    }
  }
  write(rank, step.blocks[0], values.data());
}

std::vector<Value> Run::read(Rank rank, std::span<const Block> blocks) {
  std::vector<Value> values;
  for (const Block& block : blocks) {
    std::vector<Value>& cells = participants_[rank].buffers[block.buffer];
    for (Count cell = block.cells.offset; cell < block.cells.end(); ++cell) {
      if (cell >= cells.size() || !cells[cell].is_defined())
        throw Wrong{fmt::format("reads {}[{}], which is undefined", text(block.buffer), cell)};
      cells[cell].is_unread = false;
      values.push_back(cells[cell]);
    }
  }
  return values;
}

void Run::write(Rank rank, const Block& block, const Value* values) {
  if (block.buffer == in) throw Wrong{"writes `in`"};
  if (block.buffer == out && block.cells.end() > out_range(task_, rank).count)
    throw Wrong{"writes beyond the end of `out`"};
  std::vector<Value>& cells = participants_[rank].buffers[block.buffer];
  if (cells.size() < block.cells.end()) cells.resize(block.cells.end());
  for (Count index = 0; index < block.cells.count; ++index) {
    Value& cell = cells[block.cells.offset + index];
    if (cell.is_unread) throw Wrong{"writes over what was never read"};
    cell = values[index];
    cell.is_unread = true;
  }
}

void Run::check_ended() const {
  for (Rank rank = 0; rank < schedule_.size(); ++rank) {
    const std::size_t done = participants_[rank].done;
    if (done < schedule_[rank].size())
      throw Wrong{fmt::format("participant {}, step {}, {}: waits for ever", rank, done,
                              text(schedule_[rank][done]))};
  }
  for (Rank rank = 0; rank < schedule_.size(); ++rank)
    for (const auto& [buffer, cells] : participants_[rank].buffers)
      for (const Value& value : cells)
        if (buffer != out && value.is_unread)
          throw Wrong{fmt::format("participant {} never reads {}[{}]", rank, text(buffer),
                                  &value - cells.data())};
  for (const auto& [ends, line] : lines_)
    if (!line.under_way.empty())
      throw Wrong{fmt::format(
          "participant {} sent {} message(s) to {} on channel {} that nobody "
          "receives",
          std::get<0>(ends), line.under_way.size(), std::get<1>(ends), std::get<2>(ends))};
}

/// What results must be, and in which order they were summed up.
class Results {
 public:
  Results(const Task& task, Run& run) : task_(task), run_(run) {}
  Order check() {
    for (Rank rank = 0; rank < task_.size(); ++rank) {
      const Count count = out_range(task_, rank).count;
      const std::vector<Value>& cells = run_.result(rank);
      if (is_reduction(task_.collective)) scan_shape_ = Expressions::undefined;
      for (Count cell = 0; cell < count; ++cell) {
        const Value value = cell < cells.size() ? cells[cell] : Value{};
        if (!value.is_defined()) fail(rank, cell, "was never written");
        is_reduction(task_.collective) ? check_sum(rank, cell, value)
                                       : check_moved(rank, cell, value);
      }
    }
    return order_;
  }

 private:
  [[noreturn]] void fail(Rank rank, Count cell, const std::string& what) const {
    throw Wrong{fmt::format("out[{}] of participant {} {}", cell, rank, what)};
  }
  void at_best(Order order) { order_ = std::max(order_, order); }
  bool is_scan() const {
    return task_.collective == Collective::scan || task_.collective == Collective::exscan;
  }

  /// Whose cell it is.
  Value source(Rank rank, Count cell) {
    const auto within = [&](Rank owner, Count place) {
      return Value{run_.expressions().leaf(owner), place};
    };
    switch (task_.collective) {
      case Collective::broadcast: return within(task_.root, cell);
      case Collective::scatter: return within(task_.root, task_.counts.block(rank).offset + cell);
      default: break;
    }
    if (task_.collective == Collective::alltoall) {
      const std::vector<Range> blocks = taken(task_, rank);
      Rank owner = 0;
      while (blocks[owner].end() <= cell) ++owner;
      return within(owner, given(task_, owner, rank).offset + cell - blocks[owner].offset);
    }
    Rank owner = 0;
    while (task_.counts.block(owner).end() <= cell) ++owner;
    return within(owner, cell - task_.counts.block(owner).offset);
  }
  void check_moved(Rank rank, Count cell, const Value& value) {
    if (value != source(rank, cell)) fail(rank, cell, "is another cell");
  }

  /// Who contributes to what that participant gets.
  std::size_t contributors(Rank rank) const {
    if (task_.collective == Collective::scan) return rank + std::size_t{1};
    if (task_.collective == Collective::exscan) return rank;
    return task_.size();
  }
  void check_sum(Rank rank, Count cell, const Value& value) {
    const Count offset =
        task_.collective == Collective::reduce_scatter ? task_.counts.block(rank).offset : Count{0};
    if (value.place != offset + cell) fail(rank, cell, "is the sum of another place");
    if (value.expression != last_checked_) check_expression(rank, cell, value.expression);
    Expressions::Id& shape = is_scan() ? scan_shape_ : shape_;
    if (shape == Expressions::undefined) shape = value.expression;
    if (shape != value.expression) at_best(Order::by_block);
    check_agreement(rank, cell, value.expression);
  }
  /// Everybody has exactly once what it should have.
  void check_expression(Rank rank, Count cell, Expressions::Id expression) {
    const std::vector<Rank> leaves = run_.expressions().leaves(expression);
    const std::size_t expected = contributors(rank);
    std::vector<Rank> wanted(task_.group().order().begin(), task_.group().order().end());
    if (is_scan())
      for (Rank index = 0; index < wanted.size(); ++index) wanted[index] = index;
    wanted.resize(expected);
    std::vector<Rank> found = leaves;
    std::sort(found.begin(), found.end());
    if (task_.collective == Collective::barrier)
      found.erase(std::unique(found.begin(), found.end()), found.end());
    std::vector<Rank> sorted = wanted;
    std::sort(sorted.begin(), sorted.end());
    if (found != sorted) fail(rank, cell, "has not each contribution once");
    if (leaves != wanted) at_best(Order::permuted);
    if (!is_scan() || task_.group().is_in_order()) {
      if (expression != run_.expressions().canonical(task_.group(), expected))
        at_best(Order::in_order);
    }
    last_checked_ = is_scan() ? Expressions::undefined : expression;
  }
  void check_agreement(Rank rank, Count cell, Expressions::Id expression) {
    if (task_.collective != Collective::allreduce) return;
    if (rank == 0) first_.push_back(expression);
    if (first_[cell] != expression) at_best(Order::differs);
  }

  const Task& task_;
  Run& run_;
  Order order_ = Order::canonical;
  Expressions::Id shape_ = Expressions::undefined;
  Expressions::Id scan_shape_ = Expressions::undefined;
  Expressions::Id last_checked_ = Expressions::undefined;
  std::vector<Expressions::Id> first_;  // what participant 0 has, by cell
};

}  // namespace

Verdict verify(const Task& task, const Schedule& schedule) {
  Verdict verdict;
  try {
    Run run(task, schedule);
    run.go();
    verdict.traffic = run.traffic();
    verdict.order = Results(task, run).check();
    const auto window = least_window(schedule, run.messages());
    if (!window) throw Wrong{"sticks where nothing is buffered"};
    verdict.least_window = *window;
  } catch (const Wrong& wrong) {
    verdict.mistake = wrong.what;
  }
  return verdict;
}

Verdict verify(const Algorithm& algorithm, const Task& task, const Parameters& parameters) {
  Verdict verdict = verify(task, schedule_of(algorithm, task, parameters));
  if (!verdict.holds() || !is_reduction(task.collective)) return verdict;
  const Order declared = algorithm.order(task, parameters);
  if (verdict.order > declared && task.collective != Collective::barrier)
    verdict.mistake =
        fmt::format("sums up {}, and declares {}", name_of(verdict.order), name_of(declared));
  return verdict;
}

}  // namespace collectives
