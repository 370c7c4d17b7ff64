// SPDX-License-Identifier: Apache-2.0
// bench/sor/halo.cpp — cost of sending border rows, from the links that a plan emulates
#include "bench/sor/halo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/link_model/read_link_model.hpp"
#include "base/settings.hpp"

namespace bench {
namespace {

using base::Nanos;

constexpr std::string_view link_kind = "emulate_link", row_template = "f64[]";
// Index of the role `down` of `emulate_link`. Stages in the role `down` delay data. Stages in the
// other role delay replies.
constexpr std::uint32_t role_down = 0;
constexpr std::uint64_t iterations_max = 1'000'000'000;
// Number of rows that a block needs for each iteration of latency. A state has 2 * (latency +
// period) rows (HaloDepth::rows()), and the period is assumed to equal the latency.
constexpr std::size_t rows_per_iteration_of_latency = 4;

/// The assumed latency and rate of a recorded link are such that the link is slower in only this
/// share of the time.
constexpr double slower_share = 0.01;

/// Latency, and time to transfer one row, summed over the links along a path.
struct Way {
  Nanos latency{0};
  Nanos row_passage{0};
};

Way way_of(const paths::Plan& plan, const paths::Plan::PlanPath& path, std::size_t row_bytes) {
  Way way;
  for (auto id = path.stage; id != paths::no_stage; id = plan.stages[id].below) {
    const auto& stage = plan.stages[id];
    const auto& wrapper = plan.wrappers[stage.wrapper];
    if (wrapper.kind != link_kind || stage.role != role_down) continue;
    base::Mistakes mistakes;
    base::MapReader reader(wrapper.settings, mistakes, wrapper.kind);
    const tuning::LinkSample link = tuning::read_link_model(reader).worst_but(slower_share);
    reader.finish();
    mistakes.throw_if_any();
    way.latency += link.latency;
    if (link.bits_per_second > 0)
      way.row_passage +=
          Nanos(std::llround(std::min(8e9 * static_cast<double>(row_bytes) / link.bits_per_second,
                                      static_cast<double>(base::time_max.count()))));
  }
  return way;
}

/// Returns the path of a thread to the element `graph`; nullptr if the thread has none.
const paths::Plan::PlanPath* path_of(const paths::Plan& plan, std::uint32_t rank,
                                     const std::string& graph) {
  const auto found = std::find_if(plan.paths.begin(), plan.paths.end(), [&](const auto& path) {
    const std::uint32_t first = plan.hosts[path.host].first_thread + path.first_thread;
    return path.graph == graph && first <= rank && rank < first + path.threads;
  });
  return found == plan.paths.end() ? nullptr : &*found;
}

std::vector<std::uint32_t> cluster_by_rank(const paths::Plan& plan) {
  std::vector<std::uint32_t> clusters;
  for (const auto& host : plan.hosts) clusters.insert(clusters.end(), host.threads, host.cluster);
  return clusters;
}

/// Checks that the template of the exchange permits arrays of any length. This is necessary because
/// a halo that hides latency sends several rows in one tuple.
void check_template(const paths::Plan& plan, const std::string& exchange,
                    const std::string& inbox) {
  const auto element = std::find_if(plan.elements.begin(), plan.elements.end(),
                                    [&](const auto& one) { return one.name == inbox; });
  if (element == plan.elements.end() || element->tuple_template.text() == row_template) return;
  throw std::invalid_argument(
      fmt::format("--exchange: expected {} of template \"{}\", found \"{}\"", exchange,
                  row_template, element->tuple_template.text()));
}

void check_exchange(const paths::Plan& plan, const std::string& exchange, std::uint32_t rank) {
  for (const auto& [who, inbox] : {std::pair(rank, inbox_from_previous(exchange, rank + 1)),
                                   std::pair(rank + 1, inbox_from_next(exchange, rank))}) {
    check_template(plan, exchange, inbox);
    const auto graph = plan.graph_named(inbox);
    const bool is_of_it = graph && plan.graphs[*graph].of == exchange;
    if (!is_of_it || path_of(plan, who, inbox) == nullptr)
      throw std::invalid_argument(fmt::format(
          "--exchange: the config has no exchange '{0}', or thread {1} has no path of it: expected "
          "exchanges: {{{0}: {{template: \"{2}\"}}}}",
          exchange, who, row_template));
  }
}

}  // namespace

std::string inbox_from_previous(const std::string& exchange, std::uint32_t rank) {
  return fmt::format("{}.{}.from_previous", exchange, rank);
}
std::string inbox_from_next(const std::string& exchange, std::uint32_t rank) {
  return fmt::format("{}.{}.from_next", exchange, rank);
}

bool FarBorder::hides(HaloDepth depth, Pace pace) const {
  const auto state = static_cast<std::int64_t>(depth.rows());
  const auto redundant = static_cast<std::int64_t>(depth.redundant_rows());
  const Nanos border =
      pace.of_border + pace.of_border * redundant / static_cast<std::int64_t>(rows);
  const Nanos passes = std::max(pace.of_all, border) * static_cast<std::int64_t>(depth.latency);
  return latency + row_passage * state <= passes;
}

HaloDepth FarBorder::hiding(Pace pace) const {
  std::uint64_t iterations = 1;
  while (iterations < latency_max && !hides({iterations, iterations}, pace)) ++iterations;
  iterations = std::min(iterations + 1, latency_max);
  return {iterations, iterations};
}

HaloChoice HaloChoice::parse(const std::string& text) {
  HaloChoice choice;
  if (text == "plain") return choice;
  choice.kind = Kind::hidden;
  if (text == "hidden") return choice;
  choice.kind = Kind::given;
  choice.iterations = base::parse_natural(text).value_or(0);
  if (choice.iterations == 0 || choice.iterations > iterations_max)
    throw std::invalid_argument(
        fmt::format("--halo: expected plain, hidden, or how many iterations a border may be on its "
                    "way, found '{}'",
                    text));
  return choice;
}

std::string HaloChoice::text() const {
  if (kind == Kind::given) return std::to_string(iterations);
  return kind == Kind::plain ? "plain" : "hidden";
}

std::vector<FarBorder> far_borders(const paths::Plan& plan, const std::string& exchange,
                                   const std::vector<RowRange>& blocks, std::size_t size) {
  const std::vector<std::uint32_t> clusters = cluster_by_rank(plan);
  const std::size_t row_bytes = size * sizeof(double);
  std::vector<FarBorder> borders;
  for (std::uint32_t rank = 0; rank + 1 < clusters.size(); ++rank) {
    check_exchange(plan, exchange, rank);
    if (clusters[rank] == clusters[rank + 1]) continue;
    const Way down =
        way_of(plan, *path_of(plan, rank, inbox_from_previous(exchange, rank + 1)), row_bytes);
    const Way up =
        way_of(plan, *path_of(plan, rank + 1, inbox_from_next(exchange, rank)), row_bytes);
    FarBorder border;
    border.above = rank;
    border.latency = std::max(down.latency, up.latency);
    border.row_passage = std::max(down.row_passage, up.row_passage);
    border.rows = std::max(blocks[rank].size(), blocks[rank + 1].size());
    border.latency_max =
        std::min(blocks[rank].size(), blocks[rank + 1].size()) / rows_per_iteration_of_latency;
    borders.push_back(border);
  }
  return borders;
}

void check_halo(const HaloChoice& choice, const std::vector<FarBorder>& borders) {
  if (choice.kind == HaloChoice::Kind::plain) return;
  for (const FarBorder& border : borders) {
    const std::uint64_t iterations = choice.kind == HaloChoice::Kind::given ? choice.iterations : 1;
    if (iterations > border.latency_max)
      throw std::invalid_argument(fmt::format(
          "--halo: {} iteration{} of halo take {} rows of the blocks of threads {} and {}; the "
          "largest possible is {}",
          iterations, iterations == 1 ? "" : "s", iterations * rows_per_iteration_of_latency,
          border.above, border.above + 1,
          border.latency_max == 0 ? "none: use plain, or fewer threads"
                                  : std::to_string(border.latency_max)));
  }
}

}  // namespace bench
