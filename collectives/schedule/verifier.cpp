// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/verifier.cpp — symbolic execution of schedules and checks of the results.
#include "collectives/schedule/verifier.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.hpp"
#include "collectives/schedule/cell_numbers.hpp"
#include "collectives/schedule/expressions.hpp"
#include "collectives/schedule/unbuffered.hpp"

namespace collectives {
namespace {

/// Content of a cell: a sum of one element from each of several contributors' vectors. `expression`
/// identifies the summed contributors and the order of their summation. `place` is the index of the
/// element, which is the same in all these vectors.
struct Value {
  Expressions::Id expression = Expressions::undefined;
  Count place = 0;
  bool is_unread = false;  // true = no step has read the cell since the last write
  bool is_defined() const { return expression != Expressions::undefined; }
  friend bool operator==(const Value& left, const Value& right) {
    return left.expression == right.expression && left.place == right.place;
  }
};

/// Values of a message that was sent (a range of under_way_), and the next message in its channel.
struct Sent {
  std::size_t first_value;
  std::size_t count;
  std::size_t next = Message::none;
};

/// The messages of one channel between two participants, in order.
struct Line {
  std::size_t next = Message::none;  // next message to receive
  std::size_t last = Message::none;
};

/// An exception that reports a mistake in the schedule and ends the verification.
struct Wrong {
  std::string what;
};

class Run {
 public:
  Run(const CollectiveSpec& task, const Schedule& schedule);
  void go();
  Expressions& expressions() { return expressions_; }
  const std::vector<Message>& messages() const { return messages_; }
  const CellNumbers& numbers() const { return numbers_; }
  /// Returns the contents of all cells of the participant's buffer `out`.
  std::span<const Value> result(Rank rank) const {
    const CellNumbers::Cells& cells = numbers_.of_buffer(rank, out);
    return std::span(cells_).subspan(cells.first, cells.count);
  }

 private:
  bool advance(Rank rank);
  bool execute(Rank rank, const Step& step);
  void send(Rank rank, const Step& step);
  bool receive(Rank rank, const Step& step);
  void compute(Rank rank, const Step& step);
  void read(Rank rank, std::span<const Block> blocks, std::vector<Value>& values);
  void add_up(const std::vector<Value>& right);
  void write(Rank rank, const Block& block, const Value* values);
  void check_operands(const Step& step) const;
  void check_ended() const;
  void check_read(Rank rank) const;
  void check_received() const;
  Line& line(Rank from, Rank to, Channel channel) {
    const std::uint64_t pair = std::uint64_t{from} * schedule_.size() + to;
    const std::uint32_t number = numbers_of_lines_.number(pair << 32 | channel);
    if (number == lines_.size()) lines_.emplace_back();
    return lines_[number];
  }

  const CollectiveSpec& task_;
  const Schedule& schedule_;
  Expressions expressions_;
  CellNumbers numbers_;
  std::vector<Value> cells_;
  std::vector<std::size_t> done_;  // number of executed steps of each participant
  Numbering numbers_of_lines_;     // number of each Line, by sender, receiver and channel
  std::vector<Line> lines_;
  std::vector<Message> messages_;
  std::vector<Sent> sent_;           // values of each message, indexed by message
  std::vector<Value> under_way_;     // values of all messages sent so far
  std::vector<Value> left_, right_;  // operands of the current reduction
};

Run::Run(const CollectiveSpec& task, const Schedule& schedule)
    : task_(task),
      schedule_(schedule),
      numbers_(task, schedule),
      cells_(numbers_.count()),
      done_(schedule.size()) {
  ENSURE(schedule.size() < (std::size_t{1} << 16));
  for (Rank rank = 0; rank < schedule.size(); ++rank) {
    const Buffer source = task.collective == Collective::broadcast ? out : in;
    const Count given = in_range(task, rank).end();
    Value* const cells = cells_.data() + numbers_.of_buffer(rank, source).first;
    for (Count cell = 0; cell < given; ++cell) cells[cell] = {expressions_.leaf(rank), cell};
  }
}

void Run::go() {
  for (bool moves = true; moves;) {
    moves = false;
    for (Rank rank = 0; rank < schedule_.size(); ++rank) moves = advance(rank) || moves;
  }
  check_ended();
}

/// Executes the steps of a participant in order, up to a receive whose message was not sent yet.
/// Returns whether it executed any step.
bool Run::advance(Rank rank) {
  std::size_t& done = done_[rank];
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
  if (step.peer >= schedule_.size()) throw Wrong{"has no peer"};
  if (step.action == Action::receive) return receive(rank, step);
  return send(rank, step), true;
}

void Run::send(Rank rank, const Step& step) {
  const std::size_t first = under_way_.size();
  read(rank, step.blocks, under_way_);
  Line& channel = line(rank, step.peer, step.channel);
  const std::size_t number = messages_.size();
  if (channel.last != Message::none) sent_[channel.last].next = number;
  if (channel.next == Message::none) channel.next = number;
  messages_.push_back({{rank, done_[rank]}, {}, channel.last});
  sent_.push_back({first, under_way_.size() - first});
  channel.last = number;
}

bool Run::receive(Rank rank, const Step& step) {
  Line& channel = line(step.peer, rank, step.channel);
  const std::size_t number = channel.next;
  if (number == Message::none) return false;
  const Sent& message = sent_[number];
  channel.next = message.next;
  if (step.elements() != message.count)
    throw Wrong{fmt::format("arrives with {} elements", message.count)};
  messages_[number].received = {rank, done_[rank]};
  const Value* values = under_way_.data() + message.first_value;
  for (const Block& block : step.blocks) {
    write(rank, block, values);
    values += block.cells.count;
  }
  return true;
}

/// Checks that operands have the length of the destination and do not overlap it. A reduction in
/// place is permitted.
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
  left_.clear();
  read(rank, step.blocks.subspan(1, 1), left_);
  if (step.action == Action::reduce) {
    right_.clear();
    read(rank, step.blocks.subspan(2, 1), right_);
    add_up(right_);
  }
  write(rank, step.blocks[0], left_.data());
}

/// Replaces each value of left_ by its sum with the value at the same index in `right`. Reuses the
/// last expression, because neighbouring cells mostly have the same expression.
void Run::add_up(const std::vector<Value>& right) {
  Expressions::Id left_id = Expressions::undefined, right_id = Expressions::undefined;
  Expressions::Id sum = Expressions::undefined;
  for (std::size_t index = 0; index < right.size(); ++index) {
    Value& left = left_[index];
    if (left.place != right[index].place) throw Wrong{"sums up different places"};
    if (left.expression != left_id || right[index].expression != right_id) {
      left_id = left.expression;
      right_id = right[index].expression;
      sum = expressions_.sum(left_id, right_id);
    }
    left.expression = sum;
  }
}

void Run::read(Rank rank, std::span<const Block> blocks, std::vector<Value>& values) {
  for (const Block& block : blocks) {
    Value* const cells = cells_.data() + numbers_.first(rank, block);
    for (Count index = 0; index < block.cells.count; ++index) {
      if (!cells[index].is_defined())
        throw Wrong{fmt::format("reads {}[{}], which is undefined", text(block.buffer),
                                block.cells.offset + index)};
      cells[index].is_unread = false;
    }
    values.insert(values.end(), cells, cells + block.cells.count);
  }
}

void Run::write(Rank rank, const Block& block, const Value* values) {
  if (block.buffer == in) throw Wrong{"writes `in`"};
  if (block.buffer == out && block.cells.end() > out_range(task_, rank).count)
    throw Wrong{"writes beyond the end of `out`"};
  Value* const cells = cells_.data() + numbers_.first(rank, block);
  for (Count index = 0; index < block.cells.count; ++index) {
    if (cells[index].is_unread) throw Wrong{"writes over what was never read"};
    cells[index] = values[index];
    cells[index].is_unread = true;
  }
}

void Run::check_ended() const {
  for (Rank rank = 0; rank < schedule_.size(); ++rank)
    if (done_[rank] < schedule_[rank].size())
      throw Wrong{fmt::format("participant {}, step {}, {}: waits forever", rank, done_[rank],
                              text(schedule_[rank][done_[rank]]))};
  for (Rank rank = 0; rank < schedule_.size(); ++rank) check_read(rank);
  check_received();
}

void Run::check_read(Rank rank) const {
  for (const CellNumbers::Cells& cells : numbers_.of(rank)) {
    if (cells.buffer == out) continue;
    for (Count cell = 0; cell < cells.count; ++cell)
      if (cells_[cells.first + cell].is_unread)
        throw Wrong{
            fmt::format("participant {} never reads {}[{}]", rank, text(cells.buffer), cell)};
  }
}

void Run::check_received() const {
  for (std::uint32_t number = 0; number < lines_.size(); ++number) {
    std::size_t left = 0;
    for (std::size_t next = lines_[number].next; next != Message::none; next = sent_[next].next)
      ++left;
    if (left == 0) continue;
    const std::uint64_t key = numbers_of_lines_.key(number);
    const std::uint64_t pair = key >> 32;
    throw Wrong{fmt::format(
        "participant {0} sent messages to {2} on channel {3} that are never received: {1}",
        pair / schedule_.size(), left, pair % schedule_.size(), static_cast<Channel>(key))};
  }
}

/// Checks that all participants have the right results, and determines the order of summation.
class Results {
 public:
  Results(const CollectiveSpec& task, Run& run) : task_(task), run_(run) {}
  Order check() {
    for (Rank rank = 0; rank < task_.size(); ++rank) {
      const Count count = out_range(task_, rank).count;
      const std::span<const Value> cells = run_.result(rank);
      if (task_.collective == Collective::alltoall) blocks_ = taken(task_, rank);
      scan_shape_ = last_checked_ = Expressions::undefined;
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

  /// Returns the value that a cell of `out` must have, if the collective only moves data.
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
      Rank owner = 0;
      while (blocks_[owner].end() <= cell) ++owner;
      return within(owner, given(task_, owner, rank).offset + cell - blocks_[owner].offset);
    }
    Rank owner = 0;
    while (task_.counts.block(owner).end() <= cell) ++owner;
    return within(owner, cell - task_.counts.block(owner).offset);
  }
  void check_moved(Rank rank, Count cell, const Value& value) {
    if (value != source(rank, cell)) fail(rank, cell, "is another cell");
  }

  /// Returns the number of contributors to the result of `rank`.
  std::size_t contributors(Rank rank) const {
    if (task_.collective == Collective::scan) return rank + std::size_t{1};
    if (task_.collective == Collective::exscan) return rank;
    return task_.size();
  }
  void check_sum(Rank rank, Count cell, const Value& value) {
    const Count offset =
        task_.collective == Collective::reduce_scatter ? task_.counts.block(rank).offset : Count{0};
    if (value.place != offset + cell) fail(rank, cell, "is the sum of another place");
    if (!is_checked(value.expression)) check_expression(rank, cell, value.expression);
    Expressions::Id& shape = is_scan() ? scan_shape_ : shape_;
    if (shape == Expressions::undefined) shape = value.expression;
    if (shape != value.expression) at_best(Order::by_block);
    check_agreement(rank, cell, value.expression);
  }
  /// Checks that a sum contains each expected contribution exactly once (barrier: at least once).
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
    if (found != sorted) fail(rank, cell, "does not have each contribution once");
    if (leaves != wanted) at_best(Order::permuted);
    if (!is_scan() || task_.group().is_in_order()) {
      if (expression != run_.expressions().canonical(task_.group(), expected))
        at_best(Order::in_order);
    }
    if (is_scan()) {
      last_checked_ = expression;
    } else {
      checked_.resize(std::max<std::size_t>(checked_.size(), expression + std::size_t{1}));
      checked_[expression] = true;
    }
  }
  /// Returns whether check_expression() has already checked this expression. In scans each
  /// participant has a different expression, so only the last checked expression is stored.
  bool is_checked(Expressions::Id expression) const {
    if (is_scan()) return expression == last_checked_;
    return expression < checked_.size() && checked_[expression];
  }
  void check_agreement(Rank rank, Count cell, Expressions::Id expression) {
    if (task_.collective != Collective::allreduce) return;
    if (rank == 0) first_.push_back(expression);
    if (first_[cell] != expression) at_best(Order::differs);
  }

  const CollectiveSpec& task_;
  Run& run_;
  Order order_ = Order::canonical;
  Expressions::Id shape_ = Expressions::undefined;
  Expressions::Id scan_shape_ = Expressions::undefined;
  // The expression that was checked last for the current participant; used in scans.
  Expressions::Id last_checked_ = Expressions::undefined;
  // Whether an expression was checked at any participant; indexed by number of the expression.
  std::vector<bool> checked_;
  std::vector<Expressions::Id> first_;  // expression of each result cell of participant 0
  std::vector<Range> blocks_;           // blocks that a participant receives in an alltoall
};

}  // namespace

Verdict verify(const CollectiveSpec& task, const Schedule& schedule) {
  Verdict verdict;
  try {
    Run run(task, schedule);
    run.go();
    verdict.order = Results(task, run).check();
    const auto window = least_window(schedule, run.numbers(), run.messages());
    if (!window) throw Wrong{"blocks forever without buffers"};
    verdict.least_window = *window;
  } catch (const Wrong& wrong) {
    verdict.mistake = wrong.what;
  }
  return verdict;
}

std::string wrong_order(const Algorithm& algorithm, const CollectiveSpec& task,
                        const Parameters& parameters, Order order) {
  if (!is_reduction(task.collective) || task.collective == Collective::barrier) return "";
  const Order declared = algorithm.order(task, parameters);
  if (order <= declared) return "";
  return fmt::format("sums up {}, and declares {}", name_of(order), name_of(declared));
}

Verdict verify(const Algorithm& algorithm, const CollectiveSpec& task,
               const Parameters& parameters) {
  Verdict verdict = verify(task, schedule_of(algorithm, task, parameters));
  if (verdict.holds()) verdict.mistake = wrong_order(algorithm, task, parameters, verdict.order);
  return verdict;
}

}  // namespace collectives
