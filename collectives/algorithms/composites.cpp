// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/composites.cpp — sequences of two collectives on the same buffers.
#include "collectives/algorithms/composites.hpp"

#include <fmt/format.h>

#include "collectives/schedule/exchange.hpp"
#include "collectives/schedule/exchange_parameters.hpp"
#include "collectives/schedule/fold.hpp"
#include "collectives/schedule/tree_program.hpp"

namespace collectives {
namespace {

constexpr Buffer gathered{Storage::subtree};

// --- gather, then operate ---

/// Cuts the vectors of all participants into the same stretches. Then gathers and sums the vectors,
/// one stretch after the other.
Program gather_operate(const CollectiveSpec& task, const Parameters& parameters, Rank me) {
  const Stretches stretches(task.vector(), parameters.number("segment"));
  return {stretches.count(), [=, &task](Count portion, Steps& steps) {
            const Topology& group = task.group();
            const Range cells = stretches[portion];
            const Range scratch = stretches.scratch(cells);
            const bool is_reduce = task.collective == Collective::reduce;
            const std::size_t first = is_reduce ? group.position(task.root) : 0;
            const std::size_t size = group.size();
            const std::vector<Rank> members = rotated(group.order(), first);
            const Team team{members, (group.position(me) + size - first) % size};
            const auto place = [&](std::size_t position) {
              return Range{position * stretches.room() + scratch.offset, scratch.count};
            };
            std::vector<Range> vectors;
            for (const Rank rank : members) vectors.push_back(place(group.position(rank)));
            const Gathering gathering{team, vectors, gathered};
            steps.copy({gathered, vectors[team.me]}, {in, cells});
            if (is_reduce)
              gather_binomial(steps, gathering);
            else
              allgather(parameters.word("allgather"), steps, gathering);
            if (is_reduce && me != task.root) return;
            std::vector<Block> operands;
            for (std::size_t position = 0; position < size; ++position)
              operands.push_back({gathered, place(position)});
            const Block result{out, cells};
            steps.copy(result,
                       fold_by_groups(steps, group, group.order(), operands, result, scratch));
          }};
}

std::string wrong_for_operate(const CollectiveSpec& task, const Parameters& parameters) {
  const Count most = std::numeric_limits<Count>::max();
  if (Stretches(task.vector(), parameters.number("segment")).room() > most / task.size())
    return "the vectors of all have together more elements than 64 bits can hold";
  return task.collective == Collective::allreduce ? wrong_for_all(task, parameters) : "";
}

// --- gather, then broadcast ---

/// The specs of a gather and of the broadcast that follows it. The programs refer to these specs,
/// so the specs must outlive the programs.
struct Halves {
  CollectiveSpec gather, broadcast;
};

Program gather_broadcast(const CollectiveSpec& task, const Parameters& parameters, Rank me) {
  const Rank root = root_of(task);
  auto halves = std::make_shared<Halves>(
      Halves{{Collective::gather, task.topology, task.counts, root},
             {Collective::broadcast, task.topology, Counts::each(task.counts.total(), 1), root}});
  std::vector<Shape> shapes;
  for (const std::string& word : parameters.words("shapes"))
    shapes.push_back(shape_named(word, parameters));
  const Tree tree(task.group(), std::move(shapes), root);
  const Segments segments = segments_of(parameters);
  const Program up = tree_program(halves->gather, tree, segments, me);
  const Program down = tree_program(halves->broadcast, tree, segments, me);
  return {up.portions() + down.portions(), [halves, up, down](Count portion, Steps& steps) {
            portion < up.portions() ? up.append(portion, steps)
                                    : down.append(portion - up.portions(), steps);
          }};
}

// --- gather, then scatter ---

Program gather_scatter(const CollectiveSpec& task, const Parameters& parameters, Rank me) {
  return {1, [&task, segment = parameters.number("segment"), me](Count, Steps& steps) {
            const Team team = everybody(task.group(), me);
            const std::size_t size = team.size();
            const auto row = [&](Rank rank) {
              const Count begin = task.counts.block(std::size_t{rank} * size).offset;
              return Range{begin, in_range(task, rank).count};
            };
            std::vector<Range> rows;
            for (const Rank rank : team.members) rows.push_back(row(rank));
            steps.copy({gathered, rows[team.me]}, {in, in_range(task, me)});
            gather_binomial(steps, {team, rows, gathered, 0, segment});
            if (team.me > 0) {
              for (const Ref& message : Ref({out, out_range(task, me)}).in_segments(segment))
                steps.receive(team[0], message);
              return;
            }
            for (std::size_t next = 1; next < size; ++next) {
              Ref column;
              for (Rank source = 0; source < size; ++source)
                column.add({gathered, task.counts.block(source * size + team[next])});
              for (const Ref& message : column.in_segments(segment))
                steps.send(team[next], message);
            }
            const std::vector<Range> results = taken(task, me);
            for (Rank source = 0; source < size; ++source)
              steps.copy({out, results[source]}, {gathered, task.counts.block(source * size + me)});
          }};
}

std::string too_many_root_blocks(const CollectiveSpec& task, const Parameters&) {
  constexpr std::size_t most = 256;
  if (task.size() <= most) return "";
  return fmt::format("the root would split the blocks of {} participants for each; at most {}",
                     task.size(), most);
}

}  // namespace

Algorithm gather_operate_algorithm() {
  return {
      .name = "gather_operate",
      .help = "Gathers all vectors where the sum is needed, and adds them there.",
      .collectives = {Collective::reduce, Collective::allreduce},
      .parameters = {allgather_parameter("direct", {Collective::allreduce}),
                     {.name = "segment",
                      .help =
                          "Number of elements of each vector to gather and add at once; 0 = all.",
                      .fallback = "0",
                      .is_piece = true}},
      .order = [](const CollectiveSpec&, const Parameters&) { return Order::canonical; },
      .refusal = wrong_for_operate,
      .program = gather_operate};
}

Algorithm gather_broadcast_algorithm() {
  std::vector<Parameter> parameters = shape_parameters(true);
  parameters.insert(parameters.begin(), {.name = "shapes",
                                         .help = "Shapes of the trees, outermost level first.",
                                         .fallback = "flat/binomial",
                                         .words = shape_words(),
                                         .is_list = true});
  return {.name = "gather_broadcast",
          .help = "Gathers at the first participant up a multilevel tree, and broadcasts down it.",
          .collectives = {Collective::allgather},
          .parameters = std::move(parameters),
          .order = {},
          .refusal = {},
          .program = gather_broadcast};
}

Algorithm gather_scatter_algorithm() {
  return {.name = "gather_scatter",
          .help = "Gathers at the first participant, and scatters from there.",
          .collectives = {Collective::alltoall},
          .parameters = {{.name = "segment",
                          .help = "Greatest number of elements in a message; 0 = all in one.",
                          .fallback = "0",
                          .is_piece = true}},
          .order = {},
          .refusal = too_many_root_blocks,
          .program = gather_scatter};
}

}  // namespace collectives
