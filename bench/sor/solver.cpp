// SPDX-License-Identifier: Apache-2.0
// bench/sor/solver.cpp — iterations of a thread: relax, exchange borders, reduce
#include "bench/sor/solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/say.hpp"
#include "bench/support/compute.hpp"
#include "paths/host/deployment.hpp"
#include "paths/run/command_line.hpp"

namespace bench {

using base::Nanos;

SorThread::SorThread(paths::Thread& thread, const SorTask& task)
    : thread_(thread),
      task_(task),
      rows_(task.blocks[thread.rank()]),
      block_(task.data, rows_, task.omega, thread.rank() > 0, thread.rank() + 1 < thread.threads()),
      work_(thread, task.cost),
      sum_(thread.path(task.collective)) {
  if (thread.rank() > 0) meet_neighbour(true);
  if (thread.rank() + 1 < thread.threads()) meet_neighbour(false);
}

void SorThread::meet_neighbour(bool is_above) {
  const std::uint32_t rank = thread_.rank();
  const auto path = [this](const std::string& inbox) -> paths::Path& {
    return thread_.path(inbox);
  };
  Side side;
  if (is_above) {
    side.channel =
        std::make_unique<RowChannel>(thread_, path(inbox_from_next(task_.exchange, rank - 1)),
                                     path(inbox_from_previous(task_.exchange, rank)));
    side.our_row = rows_.begin;
    side.their_row = rows_.begin - 1;
  } else {
    side.channel =
        std::make_unique<RowChannel>(thread_, path(inbox_from_previous(task_.exchange, rank + 1)),
                                     path(inbox_from_next(task_.exchange, rank)));
    side.our_row = rows_.end - 1;
    side.their_row = rows_.end;
  }
  side.neighbour = make_neighbour(*side.channel, is_above);
  sides_.push_back(std::move(side));
}

std::unique_ptr<Neighbour> SorThread::make_neighbour(RowChannel& channel, bool is_above) {
  const std::uint32_t above = is_above ? thread_.rank() - 1 : thread_.rank();
  const auto border = std::find_if(task_.far_borders.begin(), task_.far_borders.end(),
                                   [above](const auto& one) { return one.above == above; });
  if (task_.halo.kind == HaloChoice::Kind::plain || border == task_.far_borders.end())
    return std::make_unique<PlainNeighbour>(channel);
  const HaloDepth depth = depth_of(*border, channel);
  halo_ = std::max(halo_, depth.latency);
  return std::make_unique<FarNeighbour>(channel, work_, task_.data, task_.omega, rows_, is_above,
                                        depth);
}

/// Returns the halo depth, which is the same on both sides of the border.
HaloDepth SorThread::depth_of(const FarBorder& border, RowChannel& channel) {
  if (task_.halo.kind == HaloChoice::Kind::given)
    return {task_.halo.iterations, task_.halo.iterations};
  FarBorder::Pace pace;
  if (const auto& times = task_.iteration_times; !times.empty()) {
    pace.of_all = *std::max_element(times.begin(), times.end());
    pace.of_border = std::max(times[border.above], times[border.above + 1]);
  } else {
    const auto ours = static_cast<double>(measured_iteration().count());
    channel.send(std::span(&ours, 1));
    const double theirs = channel.receive(1).front();
    pace.of_all = pace.of_border = Nanos(static_cast<std::int64_t>(std::max(ours, theirs)));
  }
  const HaloDepth depth = border.hiding(pace);
  if (thread_.rank() == border.above && !border.hides(depth, pace))
    base::say(fmt::format(
        "sor: --halo {}, the most that the blocks of threads {} and {} have rows for, does not "
        "hide {} of latency and {} for each row while an iteration takes {}\n",
        depth.latency, border.above, border.above + 1, base::format_time(border.latency),
        base::format_time(border.row_passage), base::format_time(pace.of_border)));
  return depth;
}

/// Returns the duration of an iteration on this thread's rows when the rows are in the cache. It is
/// the shortest of several tries, because other programs disturbed the shortest try least.
Nanos SorThread::measured_iteration() {
  constexpr int tries = 4;
  Block block(task_.data, rows_, task_.omega, false, false);
  Nanos shortest = Nanos::max();
  for (int i = 0; i < tries; ++i) {
    const Nanos begin = processor_time();
    block.relax_inside();
    shortest = std::min(shortest, processor_time() - begin);
  }
  const double speed = task_.cost.kind == WorkCost::Kind::measured ? thread_.speed() : 1;
  return Nanos(static_cast<std::int64_t>(static_cast<double>(shortest.count()) / speed) + 1);
}

SorPart SorThread::solve() {
  SorPart part;
  std::vector<Nanos> durations;
  const Nanos start = thread_.now();
  Nanos begin = start;
  const bool is_watched = thread_.rank() == 0 && task_.watch;
  for (bool goes_on = true; goes_on && part.iterations < task_.iterations_max;) {
    if (is_watched) task_.watch(durations);
    try {
      iterate(part.iterations);
      goes_on = reduce(part);
    } catch (const std::exception&) {
      if (is_watched) task_.watch(durations);
      throw;
    }
    const Nanos end = thread_.now();
    durations.push_back(end - begin);
    begin = end;
  }
  part.figures.rank = thread_.rank();
  part.figures.elapsed = begin - start;
  if (thread_.rank() == 0) part.durations = durations;
  part.figures.spread = spread_of(std::move(durations));
  finish(part);
  return part;
}

void SorThread::iterate(std::uint64_t iteration) {
  const std::uint64_t red = 2 * iteration, black = red + 1;
  for (Side& side : sides_) side.neighbour->begin(iteration, block_);
  if (iteration > 0) exchange(red - 1, true);
  work_.run([this] { return block_.relax_border(Colour::red); });
  exchange(red, false);
  work_.run([this] { return block_.relax_inside(); });
  exchange(red, true);
  work_.run([this] { return block_.relax_border(Colour::black); });
  exchange(black, false);
}

/// After a half-sweep: sends this thread's border rows to the neighbours. If `asks` is true, reads
/// the border rows of the neighbours instead.
void SorThread::exchange(std::uint64_t sweep, bool asks) {
  const Colour colour = sweep % 2 == 0 ? Colour::red : Colour::black;
  for (Side& side : sides_) {
    if (asks)
      side.neighbour->ask(sweep, block_.cells().half(side.their_row, colour));
    else
      side.neighbour->tell(sweep, block_.cells().half(side.our_row, colour));
  }
}

/// Contributes this thread's sum of changes to the collective. Returns false if the result ends the
/// run.
bool SorThread::reduce(SorPart& part) {
  const double change = block_.change();
  if (task_.keeps_changes) part.changes.push_back(change);
  const Nanos begin = thread_.now();
  const paths::Result result = sum_.move_value(change);
  part.figures.allreduce += thread_.now() - begin;
  part.figures.proved += result.proved ? 1 : 0;
  ++part.iterations;
  part.figures.decisions.add(part.iterations, 0, result);
  conditions_.add(std::as_bytes(std::span(&result.condition, 1)));
  if (result.condition == paths::Condition::unchecked) return true;
  const bool is_stop = result.condition == paths::Condition::holds;
  if (thread_.rank() == 0) part.decisions.push_back({result.sequence, is_stop});
  if (is_stop) part.stop_iteration = result.sequence + 1;
  return !is_stop;
}

void SorThread::finish(SorPart& part) {
  part.figures.compute = work_.took();
  part.figures.conditions = conditions_.value();
  part.halo = halo_;
  part.rows = rows_;
  part.half_rows = part.iterations * 2 * rows_.size();
  const std::size_t size = task_.data.size();
  std::vector<double> row(size);
  if (task_.keeps_cells) part.cells.reserve(rows_.size() * size);
  for (std::size_t number = rows_.begin; number < rows_.end; ++number) {
    block_.cells().get_row(number, row);
    part.row_digests.push_back(base::digest_of(std::as_bytes(std::span(row))));
    if (task_.keeps_cells) part.cells.insert(part.cells.end(), row.begin(), row.end());
  }
  for (Side& side : sides_) {
    part.exchange += side.channel->waited();
    part.redundant_half_rows += side.neighbour->redundant_half_rows();
    if (!task_.asks_for_traffic) continue;
    for (const auto& [host, wan] : side.channel->to().traffic(side.channel->to().graph()))
      part.exchange_wan[static_cast<std::uint32_t>(host)] += wan;
  }
}

}  // namespace bench
