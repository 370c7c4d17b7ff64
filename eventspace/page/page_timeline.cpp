// SPDX-License-Identifier: Apache-2.0
// eventspace/page/page_timeline.cpp — a few complete iterations, for the timeline of the page.
#include "eventspace/page/page_timeline.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <utility>

#include "eventspace/analysis/input/plausible.hpp"
#include "eventspace/analysis/input/rounds.hpp"
#include "eventspace/analysis/input/shape.hpp"
#include "eventspace/analysis/report/distribution.hpp"

namespace eventspace {
namespace {

constexpr std::size_t context = 2;  // rounds that are kept before and after a slow round
constexpr std::size_t stretches_max = 24;
constexpr std::size_t stretch_rounds = 2 * context + 1;
// A slow round takes this multiple of the median of the first rounds.
constexpr double slow_factor = 1.02;
constexpr std::uint32_t samples_per_block = 32;

/// Returns the sum, limited to plausible times. The difference of two such sums does not overflow.
std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t time_max = std::int64_t{1} << 61;
  add_to(a, b);
  return std::clamp(a, -time_max, time_max);
}

/// Offset between the clocks of two hosts, from the message with the least two-way time in the
/// latest rounds.
class Apart {
 public:
  struct Sample {
    std::int64_t two_way = std::numeric_limits<std::int64_t>::max();
    std::int64_t offset = 0;  // addend for times of the receiving host
  };
  void add(const Sample& sample) {
    if (++count_ % samples_per_block == 0) before_ = std::exchange(now_, {});
    if (sample.two_way < now_.two_way) now_ = sample;
  }
  const Sample& best() const { return now_.two_way < before_.two_way ? now_ : before_; }
  bool is_known() const { return count_ > 0; }

 private:
  Sample now_, before_;
  std::uint32_t count_ = 0;
};

struct KeptRound {
  PageTimelineReport::Round round;
  std::int64_t nanos = 0;  // computation and operation of the slowest thread
};
using Kept = std::shared_ptr<const KeptRound>;

struct Clock {
  std::int64_t offset = 0;
  std::int64_t error = -1;
};

/// A run of consecutive iterations.
struct Stretch {
  std::vector<Kept> rounds;
  Kept slowest;
  std::vector<Clock> clocks;  // indexed by host, at the end of the iterations
  bool is_beginning = false;

  void add(const Kept& round) {
    rounds.push_back(round);
    if (!slowest || round->nanos > slowest->nanos) slowest = round;
  }
};

/// Kept rounds of a tree. Trees of one graph may be at very different rounds, for example if a
/// condition needs no values of other clusters. Therefore each tree has its own slow rounds.
struct TreeState {
  Stretch beginning;
  std::size_t beginning_max = 1;
  bool has_begun = false;
  std::int64_t usual_nanos = 0;  // median of the rounds in the beginning
  std::deque<Kept> recent;
  Stretch current;
  std::size_t wanted = 0;  // rounds that `current` still needs
  std::vector<Stretch> slow;
  std::size_t slow_max = 1;
};

}  // namespace

struct PageTimeline::Parts {
  Parts(const Structure& structure, const PageTimelineOptions& given);

  void add(std::uint32_t host, const EventRecord& record);
  void add_round(const Round& round);
  void compare_clocks(const Round& round);
  void keep(TreeState& tree, const Kept& round);
  void end_beginning(TreeState& tree);
  void keep_slow(TreeState& tree, const Kept& round);
  void close(TreeState& tree);
  std::vector<Clock> clocks() const;
  PageTimelineReport::Stretch report(const Stretch& stretch) const;
  void add_first_computation(std::uint32_t leaf, PageTimelineReport::Passed& pass) const;
  void align(PageTimelineReport::Stretch& stretch, const std::vector<Clock>& clocks) const;

  PageTimelineOptions options;
  Shape shape;
  RoundTable rounds;
  PageGroups groups;
  struct Life {  // times of a thread
    std::optional<std::int64_t> begin;
    std::optional<std::int64_t> first_down;
    std::optional<std::int64_t> last_up;
  };
  std::vector<Life> lives;
  std::vector<Apart> apart;  // indexed by Lane; used only for Lanes before a `forward`
  std::vector<TreeState> trees;
};

PageTimeline::Parts::Parts(const Structure& structure, const PageTimelineOptions& given)
    : options(given),
      shape(structure),
      rounds(shape, given.open_rounds_bytes, [this](const Round& round) { add_round(round); }),
      lives(structure.thread_count()),
      apart(shape.lanes.size()),
      trees(shape.trees.size()) {
  std::size_t passes = 1;  // passes of one round of all trees
  std::size_t joining = 0;
  for (const Tree& tree : shape.trees) {
    if (!tree.has_joins()) continue;
    passes += tree.lanes.size();
    ++joining;
  }
  const std::size_t half = options.passes / passes / 2;
  const std::size_t stretches = stretches_max / std::max<std::size_t>(1, joining);
  for (TreeState& tree : trees) {
    tree.beginning.is_beginning = true;
    tree.beginning_max =
        std::clamp<std::size_t>(half, 3, std::max<std::size_t>(3, options.iterations));
    tree.slow_max =
        std::clamp<std::size_t>(half / stretch_rounds, 1, std::max<std::size_t>(3, stretches));
  }
}

PageTimeline::PageTimeline(const Structure& structure, const PageTimelineOptions& options)
    : parts_(std::make_unique<Parts>(structure, options)) {}

PageTimeline::~PageTimeline() = default;

void PageTimeline::add(std::uint32_t host, std::span<const EventRecord> records) {
  for (const EventRecord& record : records) parts_->add(host, record);
}

/// Ignores records that an analysis would not use.
void PageTimeline::Parts::add(std::uint32_t host, const EventRecord& record) {
  if (!is_plausible(record)) return;
  const auto& structure = shape.structure;
  if (is_of_group(record)) {
    const bool is_stranger = is(record, GroupEvent::member) && record.place >= lives.size();
    if (!is_stranger) groups.add(record);
    return;
  }
  if (record.kind == static_cast<std::uint64_t>(EventKind::thread)) {
    if (record.place < lives.size()) lives[record.place].begin = +record.down_nanos;
    return;
  }
  if (record.place >= structure.stages.size()) return;
  if (structure.host_of(record.place) != host) return;
  if (!is_operation(record)) return;
  const std::uint32_t lane = shape.lane_of(record.place, record.slot);
  if (lane == none) return;
  std::int64_t computation = -1;
  const std::uint32_t leaf = shape.lanes[lane].leaf;
  if (leaf != none && shape.leaves[leaf].thread < lives.size()) {
    Life& life = lives[shape.leaves[leaf].thread];
    if (life.last_up && +record.down_nanos >= *life.last_up)
      computation = record.down_nanos - *life.last_up;
    if (!life.first_down) life.first_down = +record.down_nanos;
    life.last_up = +record.up_nanos;
  }
  rounds.add(lane, record, computation);
}

void PageTimeline::Parts::compare_clocks(const Round& round) {
  if (options.has_common_clock || round.is_one_way) return;
  const auto& lanes = shape.trees[round.tree].lanes;
  for (const std::uint32_t number : lanes) {
    const Lane& lane = shape.lanes[number];
    if (lane.below == none || shape.hops[lane.hop].kind != HopKind::crossing) continue;
    const Pass& near = round.passes[lane.place];
    const Pass& far = round.passes[shape.lanes[lane.below].place];
    if (!near.is_here || !far.is_here) continue;
    const std::int64_t two_way =
        (near.up_nanos - near.down_nanos) - (far.up_nanos - far.down_nanos);
    const std::int64_t offset =
        (near.down_nanos - far.down_nanos) / 2 + (near.up_nanos - far.up_nanos) / 2;
    if (two_way >= 0) apart[number].add({two_way, offset});
  }
}

void PageTimeline::Parts::add_round(const Round& round) {
  compare_clocks(round);
  if (round.kind != move_operation || round.has_failed || !shape.trees[round.tree].has_joins())
    return;
  TreeState& tree = trees[round.tree];
  auto kept = std::make_shared<KeptRound>();
  kept->round = {round.tree, round.sequence, {}};
  kept->round.passes.reserve(round.passes.size());
  for (const Pass& pass : round.passes) {
    kept->round.passes.push_back(
        {pass.down_nanos, pass.up_nanos, pass.computation_nanos, pass.is_here});
    if (pass.computation_nanos >= 0)
      kept->nanos = std::max(kept->nanos, pass.computation_nanos + pass.up_nanos - pass.down_nanos);
  }
  keep(tree, std::move(kept));
}

void PageTimeline::Parts::keep(TreeState& tree, const Kept& round) {
  if (tree.has_begun) {
    keep_slow(tree, round);
    return;
  }
  tree.beginning.add(round);
  if (tree.beginning.rounds.size() == tree.beginning_max) end_beginning(tree);
}

void PageTimeline::Parts::end_beginning(TreeState& tree) {
  if (std::exchange(tree.has_begun, true) || tree.beginning.rounds.empty()) return;
  std::vector<std::int64_t> nanos;
  for (const Kept& round : tree.beginning.rounds) nanos.push_back(round->nanos);
  std::nth_element(nanos.begin(), nanos.begin() + static_cast<std::ptrdiff_t>(nanos.size() / 2),
                   nanos.end());
  tree.usual_nanos = nanos[nanos.size() / 2];
  tree.beginning.clocks = clocks();
}

/// Keeps a slow round together with the rounds around it. If a slower round follows soon, also
/// keeps the rounds around that one.
void PageTimeline::Parts::keep_slow(TreeState& tree, const Kept& round) {
  if (tree.wanted > 0) {
    const bool goes_on = round->nanos > tree.current.slowest->nanos &&
                         tree.current.rounds.size() < 2 * stretch_rounds;
    tree.current.add(round);
    tree.wanted = goes_on ? context : tree.wanted - 1;
    if (tree.wanted == 0) close(tree);
    return;
  }
  const double least = slow_factor * static_cast<double>(tree.usual_nanos);
  const bool is_slow = static_cast<double>(round->nanos) > least;
  const bool has_room = tree.slow.size() < tree.slow_max;
  if (is_slow && (has_room || std::any_of(tree.slow.begin(), tree.slow.end(), [&](const auto& one) {
                    return one.slowest->nanos < round->nanos;
                  }))) {
    for (const Kept& before : tree.recent) tree.current.add(before);
    tree.recent.clear();  // a round must be in at most one Stretch
    tree.current.add(round);
    tree.wanted = context;
    return;
  }
  tree.recent.push_back(round);
  if (tree.recent.size() > context) tree.recent.pop_front();
}

void PageTimeline::Parts::close(TreeState& tree) {
  tree.wanted = 0;
  if (tree.current.rounds.empty()) return;
  tree.current.clocks = clocks();
  tree.slow.push_back(std::exchange(tree.current, {}));
  if (tree.slow.size() <= tree.slow_max) return;
  tree.slow.erase(std::min_element(
      tree.slow.begin(), tree.slow.end(),
      [](const Stretch& a, const Stretch& b) { return a.slowest->nanos < b.slowest->nanos; }));
}

/// Returns the offset of each host's clock from the clock of the first host. The offsets are found
/// along messages, those with the least two-way time first.
std::vector<Clock> PageTimeline::Parts::clocks() const {
  std::vector<Clock> clocks(shape.structure.hosts.size());
  if (options.has_common_clock) {
    for (Clock& clock : clocks) clock.error = 0;
    return clocks;
  }
  struct Edge {
    std::int64_t error;
    std::uint32_t near, far;
    std::int64_t offset;
  };
  std::vector<Edge> edges;
  for (std::uint32_t number = 0; number < apart.size(); ++number) {
    if (!apart[number].is_known()) continue;
    const Lane& lane = shape.lanes[number];
    const auto& best = apart[number].best();
    edges.push_back({best.two_way / 2, shape.structure.host_of(lane.stage),
                     shape.structure.host_of(shape.lanes[lane.below].stage), best.offset});
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& a, const Edge& b) { return a.error < b.error; });
  if (!clocks.empty()) clocks[0].error = 0;
  bool has_changed = true;
  while (std::exchange(has_changed, false)) {
    for (const Edge& edge : edges) {
      Clock& near = clocks[edge.near];
      Clock& far = clocks[edge.far];
      if ((near.error < 0) == (far.error < 0)) continue;
      has_changed = true;
      if (far.error < 0) {
        far = {sum_of(near.offset, edge.offset), sum_of(near.error, edge.error)};
      } else {
        near = {sum_of(far.offset, -edge.offset), sum_of(far.error, edge.error)};
      }
    }
  }
  return clocks;
}

PageTimelineReport PageTimeline::finish() {
  Parts& parts = *parts_;
  parts.rounds.finish();
  PageTimelineReport report;
  report.groups = parts.groups.finish();
  report.has_common_clock = parts.options.has_common_clock;
  Stretch beginning;
  beginning.is_beginning = true;
  std::vector<Stretch> slow;
  for (TreeState& tree : parts.trees) {
    parts.end_beginning(tree);
    parts.close(tree);
    for (const Kept& round : tree.beginning.rounds) beginning.add(round);
    if (!tree.beginning.clocks.empty()) beginning.clocks = tree.beginning.clocks;
    for (Stretch& stretch : tree.slow) slow.push_back(std::move(stretch));
    tree = {};
  }
  std::stable_sort(slow.begin(), slow.end(), [](const Stretch& a, const Stretch& b) {
    return a.slowest->round.sequence < b.slowest->round.sequence;
  });
  if (!beginning.rounds.empty()) report.stretches.push_back(parts.report(beginning));
  for (const Stretch& stretch : slow) report.stretches.push_back(parts.report(stretch));
  return report;
}

PageTimelineReport::Stretch PageTimeline::Parts::report(const Stretch& stretch) const {
  PageTimelineReport::Stretch one;
  one.is_beginning = stretch.is_beginning;
  one.slowest = stretch.slowest->round.sequence;
  one.slowest_nanos = stretch.slowest->nanos;
  for (const Kept& kept : stretch.rounds) {
    one.rounds.push_back(kept->round);
  }
  align(one, stretch.clocks);
  return one;
}

/// Sets the computation before a thread's first operation, which is unknown when add() sees the
/// operation.
void PageTimeline::Parts::add_first_computation(std::uint32_t leaf,
                                                PageTimelineReport::Passed& pass) const {
  if (leaf == none || shape.leaves[leaf].thread >= lives.size() || !pass.is_here) return;
  const Life& life = lives[shape.leaves[leaf].thread];
  if (life.begin && life.first_down == pass.down_nanos && *life.begin <= pass.down_nanos)
    pass.computation_nanos = pass.down_nanos - *life.begin;
}

/// Converts the times of a run of iterations to one clock. A host may have no messages that connect
/// it with the first host. Its offset is then chosen so that its first round ends at the same time
/// as that of the first host.
void PageTimeline::Parts::align(PageTimelineReport::Stretch& stretch,
                                const std::vector<Clock>& known) const {
  std::vector<Clock> clocks = known;
  std::optional<std::int64_t> first_end;
  for (const auto& round : stretch.rounds) {
    const auto& lanes = shape.trees[round.tree].lanes;
    for (std::size_t place = 0; place < lanes.size(); ++place) {
      const auto& pass = round.passes[place];
      Clock& clock = clocks[shape.structure.host_of(shape.lanes[lanes[place]].stage)];
      if (!pass.is_here) continue;
      if (!first_end) first_end = sum_of(pass.up_nanos, clock.offset);
      if (clock.error < 0 && clock.offset == 0) clock.offset = sum_of(*first_end, -pass.up_nanos);
    }
  }
  const auto move = [&](std::uint32_t stage, std::int64_t& down, std::int64_t& up) {
    const Clock& clock = clocks[shape.structure.host_of(stage)];
    down = sum_of(down, clock.offset);
    up = sum_of(up, clock.offset);
    if (clock.error < 0) stretch.error_nanos = -1;
    if (stretch.error_nanos >= 0) stretch.error_nanos = std::max(stretch.error_nanos, clock.error);
  };
  for (auto& round : stretch.rounds) {
    const auto& lanes = shape.trees[round.tree].lanes;
    for (std::size_t place = 0; place < lanes.size(); ++place) {
      auto& pass = round.passes[place];
      add_first_computation(shape.lanes[lanes[place]].leaf, pass);
      if (pass.is_here) move(shape.lanes[lanes[place]].stage, pass.down_nanos, pass.up_nanos);
    }
  }
}

}  // namespace eventspace
