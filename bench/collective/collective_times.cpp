// SPDX-License-Identifier: Apache-2.0
// bench/collective/collective_times.cpp — synchronized calls, measurement and output of their times
#include "bench/collective/collective_times.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "base/link_model/measured_network.hpp"
#include "base/near_match.hpp"
#include "base/reduce.hpp"
#include "base/units.hpp"
#include "bench/collective/call_arrays.hpp"
#include "bench/support/compute.hpp"
#include "bench/support/output_files.hpp"
#include "bench/support/progress.hpp"
#include "bench/support/provenance.hpp"
#include "collectives/algorithms/all.hpp"
#include "collectives/cost/bound.hpp"
#include "collectives/cost/evaluator.hpp"
#include "groups/clocked_run.hpp"
#include "groups/selection/network_of.hpp"
#include "paths/host/host.hpp"

namespace bench {
namespace {

std::vector<collectives::Collective> read_collectives(const std::string& text) {
  std::vector<collectives::Collective> read;
  std::vector<std::string_view> known;
  for (const collectives::Collective one : collectives::all_collectives)
    known.push_back(name_of(one));
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const auto found = std::find(known.begin(), known.end(), word);
    if (found == known.end()) throw std::invalid_argument(base::not_one_of(word, known));
    read.push_back(collectives::all_collectives[found - known.begin()]);
    begin = end + 1;
  }
  return read;
}

/// Parses "SIZE" or "FIRST:LAST". "FIRST:LAST" gives the sizes FIRST, 2 * FIRST, 4 * FIRST and so
/// on, up to LAST. After a FIRST of 0 the next size is 8. Sizes consist of whole 8-byte values.
std::vector<std::uint64_t> read_sizes(const std::string& text) {
  const std::size_t colon = text.find(':');
  const auto least = base::parse_bytes(text.substr(0, colon));
  const auto most = colon == std::string::npos ? least : base::parse_bytes(text.substr(colon + 1));
  if (!least || !most || *least > *most)
    throw std::invalid_argument(fmt::format(
        "--message-size: expected SIZE or SIZE:SIZE, such as 8:32MiB, found '{}'", text));
  if (*least % sizeof(double) != 0)
    throw std::invalid_argument(
        fmt::format("--message-size: expected a multiple of 8 bytes, found '{}'", text));
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = *least; size <= *most; size *= 2) {
    sizes.push_back(size);
    if (size == 0) size = sizeof(double) / 2;
    if (size > *most / 2) break;
  }
  return sizes;
}

std::uint32_t read_root(const std::string& text, std::uint32_t threads) {
  const auto rank = base::parse_natural(text);
  if (!rank)
    throw std::invalid_argument(
        fmt::format("--root-rank: expected a rank or each, found '{}'", text));
  if (*rank >= threads)
    throw std::invalid_argument(
        fmt::format("--root-rank: expected one below {}, found {}", threads, *rank));
  return static_cast<std::uint32_t>(*rank);
}

}  // namespace

void CollectiveTimes::prepare(const paths::Plan& plan, const paths::RunOptions& run) {
  collectives_ = read_collectives(options_.collectives);
  sizes_ = read_sizes(options_.sizes);
  if (options_.schedule.empty()) options_.schedule = plan.decisions ? "tuned" : "best";
  if (options_.iterations == 0) throw std::invalid_argument("--iterations: expected at least one");
  if (options_.consecutive == 0)
    throw std::invalid_argument("--consecutive: expected at least one");
  if (options_.shares_arrays && options_.maps_arrays)
    throw std::invalid_argument("--mapped-arrays: expected no --shared-arrays");
  if (options_.shares_arrays && (options_.checks || run.clock != runtime::ClockKind::virtual_time))
    throw std::invalid_argument(
        "--shared-arrays: expected --clock virtual and no --validation, as there are no values");
  check_writable({{"--json", options_.json}});
  network_ = std::make_unique<pricing::Network>(groups::network_of(plan));
  participants_ = network_->topology->size();
  threads_ = 0;
  for (const auto& host : plan.hosts) threads_ += host.threads;
  if (options_.root != "each") root_ = read_root(options_.root, threads_);
  if (options_.prices_only && threads_ != participants_)
    throw std::invalid_argument(
        fmt::format("--prices: expected one thread on each host, found {} threads on {} hosts",
                    threads_, participants_));
  const auto participants = groups::participants_of(plan);
  // Only the process of the first host needs predicted times and the file of links.
  const bool has_first = !run.is_one_host || run.host == participants.front();
  if (has_first) interruption_.emplace();
  if (has_first && (options_.prices_only || groups::is_planned(options_.schedule))) {
    groups::TakenFiles taken;
    if (!options_.links.empty())
      taken.links = std::make_shared<const tuning::MeasuredNetwork>(
          tuning::load_measured_network(options_.links));
    selector_ = std::make_unique<groups::Selector>(plan, participants, taken);
  }
  check_operation(options_.operation);
  for (const collectives::Collective collective : collectives_)
    if (!groups::does(options_.schedule, collective))
      throw std::invalid_argument(fmt::format("--schedule: expected one that does {}, found {}",
                                              name_of(collective), options_.schedule));
}

void CollectiveTimes::check_operation(const std::string& name) {
  const base::ReduceOperation* const operation = base::reduce_operation(name);
  const bool takes_integers =
      operation != nullptr && !operation->located &&
      (operation->accepts == nullptr || operation->accepts(base::Scalar::i64));
  if (takes_integers) return;
  const auto known = base::reduce_operation_names();
  throw std::invalid_argument(fmt::format(
      "--operation: expected one of {} that takes integers, found '{}'{}", fmt::join(known, ", "),
      name, operation == nullptr ? base::did_you_mean(name, known) : ""));
}

std::pair<std::uint32_t, std::uint32_t> CollectiveTimes::roots(
    collectives::Collective collective) const {
  if (!has_root(collective)) return {0, 1};
  return root_ ? std::pair(*root_, *root_ + 1) : std::pair(0U, threads_);
}

void CollectiveTimes::measure(paths::Thread& thread, groups::Group& group,
                              collectives::Collective collective, std::uint64_t bytes) {
  TimesRow row{.collective = collective, .bytes = bytes};
  const auto [first, last] = roots(collective);
  const bool is_first = group.rank() == 0;
  const std::uint64_t each = options_.warmup + options_.iterations;
  Progress progress(fmt::format("{} of {} bytes: iteration", name_of(collective), bytes),
                    (last - first) * each, is_first);
  for (std::uint32_t root = first; root < last; ++root) {
    CallArrays arrays(options_, collective, bytes, group, root);
    std::string algorithm;
    base::Nanos before{0};  // time of the previous iteration
    for (std::uint64_t iteration = 0; iteration < options_.warmup + options_.iterations;
         ++iteration) {
      progress.at((root - first) * each + iteration);
      if (is_first) end_if_asked();
      if (options_.checks) arrays.fill(iteration);
      const groups::ClockedRun run = groups::run_clocked(
          thread, group,
          [&] {
            for (std::uint64_t i = 0; i < options_.consecutive; ++i) group.run(arrays.call);
            algorithm = group.last_algorithm();
          },
          before);
      before = run.time;
      if (iteration >= options_.warmup)
        row.times.push_back(run.time / static_cast<std::int64_t>(options_.consecutive));
      if (options_.checks) arrays.check();
    }
    if (options_.overlaps) {
      const auto last_ones = row.times.end() - static_cast<std::ptrdiff_t>(options_.iterations);
      const base::Nanos alone =
          std::max(base::Nanos(1), percentile({last_ones, row.times.end()}, 50));
      for (std::uint64_t iteration = 0; iteration < options_.iterations; ++iteration) {
        const groups::ClockedRun both = groups::run_clocked(thread, group, [&] {
          groups::Started started = group.start(arrays.call);
          occupy_processor(thread, alone, [] {});
          started.wait();
        });
        row.overlapped.push_back(milliseconds(both.time) / milliseconds(alone));
      }
    }
    row.algorithms.push_back(algorithm);
    if (group.rank() == 0 && group.size() == participants_) add_price(row, root);
  }
  progress.clear();
  if (is_first) show(std::move(row));
}

/// If the user pressed Ctrl-C, writes the results so far as JSON and ends the process. The table
/// needs no action, because each row was printed when it was complete.
void CollectiveTimes::end_if_asked() {
  if (!interruption_ || !interruption_->is_asked()) return;
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const TimesRow& row : rows_) results.push_back(json_of(row));
  if (!options_.json.empty())
    write_json(options_.json, {{"interrupted", true}, {"results", results}});
  const bool prints = !is_standard_output(options_.json);
  interruption_->end(
      prints ? fmt::format("# interrupted: the figures of {} sizes so far\n", rows_.size()) : "");
}

/// Calls measure(). If Ctrl-C ends other hosts before this host, measure() fails on this host. In
/// that case rank 0 writes the results so far.
void CollectiveTimes::measure_or_end(paths::Thread& thread, groups::Group& group,
                                     collectives::Collective collective, std::uint64_t bytes) {
  try {
    measure(thread, group, collective, bytes);
  } catch (const std::exception&) {
    if (group.rank() == 0) end_if_asked();
    throw;
  }
}

/// Returns the schedule that a group of all threads would select.
std::shared_ptr<const groups::Selection> CollectiveTimes::choose(collectives::Collective collective,
                                                                 std::uint64_t bytes,
                                                                 std::uint32_t root) const {
  const auto task = collectives::make_spec(collective, network_->topology, bytes / 8, root);
  groups::Call call;
  call.collective = collective;
  call.operation = options_.operation;
  call.scalar = base::Scalar::i64;
  call.algorithm = options_.schedule;
  return selector_->answer(groups::key_of(call, task, 8));
}

void CollectiveTimes::find_prices(collectives::Collective collective, std::uint64_t bytes) {
  TimesRow row{.collective = collective, .bytes = bytes};
  const auto [first, last] = roots(collective);
  for (std::uint32_t root = first; root < last; ++root) {
    row.algorithms.push_back(choose(collective, bytes, root)->text());
    add_price(row, root);
  }
  show(std::move(row));
}

void CollectiveTimes::show(TimesRow row) {
  row.bound /= std::max<std::int64_t>(static_cast<std::int64_t>(row.prices.size()), 1);
  if (!is_standard_output(options_.json)) print_row(options_, row);
  std::fflush(stdout);  // without fflush(), a pipe would delay the row
  rows_.push_back(std::move(row));
}

/// Adds the predicted time of the root `root` to a row. The prediction assumes that each host has
/// one thread. Operations in shared memory have no prediction.
void CollectiveTimes::add_price(TimesRow& row, std::uint32_t root) const {
  if (row.algorithms.back().starts_with(groups::shared_memory_name)) return;
  const auto task = collectives::make_spec(row.collective, network_->topology, row.bytes / 8, root);
  const pricing::Bytes element_bytes = row.collective == collectives::Collective::barrier ? 0 : 8;
  row.bound += pricing::bound_of(task, element_bytes, *network_).time;
  if (const auto choice = selector_ ? choose(row.collective, row.bytes, root) : nullptr;
      choice && choice->planned) {
    row.prices.push_back(pricing::price(*choice->algorithm, task, choice->parameters, element_bytes,
                                        *network_, choice->planned->execution));
    return;
  }
  const auto [name, words] = collectives::split_at_colon(row.algorithms.back());
  const auto& algorithm = collectives::algorithm_named(name);
  const auto parameters = algorithm.read(words);
  row.prices.push_back(pricing::price(algorithm, task, parameters, element_bytes, *network_,
                                      {.window = options_.window, .ports = ports_of(options_)}));
}

void CollectiveTimes::run(paths::Thread& thread) {
  if (options_.prices_only && thread.rank() > 0) return;
  groups::Group world(thread);
  if (!options_.links.empty() && !options_.prices_only) world.take_links(options_.links);
  for (const collectives::Collective collective : collectives_) {
    if (world.rank() == 0 && !is_standard_output(options_.json))
      print_head(options_, collective, world.size());
    const bool is_barrier = collective == collectives::Collective::barrier;
    for (const std::uint64_t size : is_barrier ? std::vector<std::uint64_t>{0} : sizes_)
      if (options_.prices_only)
        find_prices(collective, size);
      else
        measure_or_end(thread, world, collective, size);
  }
}

void CollectiveTimes::finish(const paths::RunSummary& run) {
  if (rows_.empty() || options_.json.empty()) return;
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const TimesRow& row : rows_) results.push_back(json_of(row));
  nlohmann::ordered_json json{{"results", results}};
  if (run.clock == runtime::ClockKind::virtual_time)
    json["simulation"] = {{"seconds", run.wall_seconds},
                          {"events", run.events},
                          {"events_per_second", static_cast<double>(run.events) / run.wall_seconds},
                          {"peak_memory_bytes", peak_memory_bytes()}};
  json["provenance"] = provenance();
  write_json(options_.json, json);
}

}  // namespace bench
