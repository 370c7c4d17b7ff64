// SPDX-License-Identifier: Apache-2.0
// bench/sor/sor.cpp — a run of the solver, from its options to its files
#include "bench/sor/sor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "base/say.hpp"
#include "bench/sor/grid_files.hpp"
#include "bench/sor/reference.hpp"
#include "bench/sor/report.hpp"
#include "bench/support/compute.hpp"
#include "bench/support/output_files.hpp"
#include "bench/support/provenance.hpp"
#include "bench/support/report_element.hpp"
#include "paths/host/host.hpp"
#include "paths/run/command_line.hpp"
#include "paths/run/needs.hpp"

namespace bench {
namespace {

// Maximum declared cost of a row. With this limit, the time of all rows fits into Nanos.
constexpr base::Nanos cost_max = std::chrono::hours(1);
constexpr double epsilon_may_differ_by = 1e-3;

void check_collective(const Collective& collective) {
  if (collective.reduction.operation->name != "sum" ||
      collective.reduction.shape.scalar != base::Scalar::f64)
    throw std::invalid_argument(
        fmt::format("--collective: expected one that sums an f64 of each thread, but {} is not",
                    collective.name));
}

std::optional<double> constant_of(const Collective& collective) {
  if (!collective.condition) return std::nullopt;
  const auto* constant = std::get_if<double>(&collective.condition->constant);
  return constant == nullptr ? std::nullopt : std::optional(*constant);
}

/// Warns if the constant of the config's stop condition seems to be made for a grid of a different
/// size.
void warn_of_epsilon(const Collective& collective, const DataSet& data) {
  const auto constant = constant_of(collective);
  if (!constant || std::abs(*constant - data.epsilon()) <= epsilon_may_differ_by * data.epsilon())
    return;
  base::say(fmt::format(
      "sor: the condition of {} has the constant {}; the paper's for {} x {} cells is {:.4g}\n",
      collective.name, *constant, data.size(), data.size(), data.epsilon()));
}

std::vector<base::Nanos> declared_iterations(const paths::Plan& plan, const SorTask& task) {
  std::vector<base::Nanos> times;
  for (const auto& host : plan.hosts)
    for (std::uint32_t i = 0; i < host.threads; ++i) {
      const auto rows = static_cast<std::int64_t>(task.blocks[times.size()].size());
      times.push_back(at_speed(task.cost.per_row * rows, host.speed));
    }
  return times;
}

std::vector<ReferenceThread> reference_threads(const paths::Plan& plan,
                                               const std::vector<RowRange>& blocks) {
  std::vector<ReferenceThread> threads;
  for (std::size_t host = 0; host < plan.hosts.size(); ++host)
    for (std::uint32_t i = 0; i < plan.hosts[host].threads; ++i) {
      const RowRange rows = blocks[threads.size()];
      threads.push_back({plan.hosts[host].cluster, host, rows.begin, rows.end});
    }
  return threads;
}

}  // namespace

// ---- before the run -----------------------------------------------------------------------------

void Sor::prepare(const paths::Plan& plan, const paths::RunOptions& run) {
  is_virtual_ = run.clock == runtime::ClockKind::virtual_time;
  is_split_ = run.is_one_host && plan.hosts.size() > 1;
  is_ours_ = !run.is_one_host || run.host == first_host(plan);
  collective_ = find_collective(plan, options_.collective);
  check_collective(collective_);
  check_report(plan);
  DataSet data(options_.data, options_.size, options_.data_seed);
  task_ = std::make_unique<SorTask>(SorTask{.data = data,
                                            .omega = data.omega(options_.omega),
                                            .collective = collective_.name,
                                            .exchange = options_.exchange,
                                            .blocks = row_blocks(data.size(), plan.thread_count()),
                                            .far_borders = {},
                                            .halo = HaloChoice::parse(options_.halo),
                                            .cost = {}});
  task_->keeps_cells = !options_.image.empty() || !options_.raw.empty();
  check_grid(plan, run);
  choose_iterations();
  choose_cost();
  if (task_->cost.kind == WorkCost::Kind::declared)
    task_->iteration_times = declared_iterations(plan, *task_);
  task_->far_borders = far_borders(plan, options_.exchange, task_->blocks, data.size());
  check_halo(task_->halo, task_->far_borders);
  task_->keeps_changes = !options_.values.empty();
  task_->asks_for_traffic = is_split_;
  if (!is_ours_) return;
  check_files();
  watch();
  warn_of_epsilon(collective_, data);
}

void Sor::watch() {
  interruption_.emplace();
  const std::uint64_t all = options_.iterations.value_or(0);
  progress_.emplace("iteration", all);
  task_->watch = [this, all](const std::vector<Nanos>& durations) {
    progress_->at(durations.size());
    end_if_asked(*interruption_, "sor", durations, all, options_.json);
  };
}

/// Checks that the rows fit into memory. The solver needs its rows once, and once more if an output
/// file is written. The option --check also needs the whole grid.
void Sor::check_grid(const paths::Plan& plan, const paths::RunOptions& run) const {
  std::uint64_t rows = 0;
  const auto& host = plan.hosts[run.host];
  for (std::uint32_t rank = 0; rank < task_->blocks.size(); ++rank)
    if (!run.is_one_host || rank - host.first_thread < host.threads)
      rows += task_->blocks[rank].size();
  rows *= task_->keeps_cells ? 2 : 1;
  rows += options_.check ? options_.size : 0;
  paths::check_memory(rows * options_.size * sizeof(double),
                      fmt::format("--size: a grid of {0} x {0} cells", options_.size));
}

/// If an option needs the whole grid, checks that all threads have a path to the element `report`.
void Sor::check_report(const paths::Plan& plan) const {
  if (!is_split_) return;
  check_report_element(plan);
  if (do_all_report(plan)) return;
  for (const auto& [option, is_given] : {std::pair("--raw", !options_.raw.empty()),
                                         {"--image", !options_.image.empty()},
                                         {"--values", !options_.values.empty()},
                                         {"--check", options_.check}})
    if (is_given)
      throw std::invalid_argument(fmt::format(
          "{0}: hosts that are processes need an element to tell thread 0 their parts, expected "
          "elements: {{{1}: {{host: {2}, template: bytes, reach: all}}}}, found none that all "
          "reach",
          option, report_element, plan.hosts[first_host(plan)].name));
}

void Sor::choose_iterations() {
  constexpr std::uint64_t iterations_max = 1'000'000'000;
  if (!options_.iterations && !collective_.condition)
    throw std::invalid_argument(fmt::format(
        "--iterations: expected a number, because {} has no condition that would say stop",
        collective_.name));
  task_->iterations_max = options_.iterations.value_or(iterations_max);
  if (task_->iterations_max == 0)
    throw std::invalid_argument("--iterations: expected 1 or more, found 0");
}

void Sor::choose_cost() {
  WorkCost& cost = task_->cost;
  if (!is_virtual_ && !options_.compute.empty())
    throw std::invalid_argument(fmt::format(
        "--compute {}: on the steady clock computing takes the time it takes", options_.compute));
  if (!is_virtual_) return;
  const std::string kind = options_.compute.empty() ? "declared" : options_.compute;
  if (kind != "declared" && kind != "measured")
    throw std::invalid_argument(
        fmt::format("--compute: expected declared or measured, found '{}'", kind));
  cost.kind = kind == "declared" ? WorkCost::Kind::declared : WorkCost::Kind::measured;
  const auto per_row = base::parse_time(options_.cost_per_row);
  if (!per_row || *per_row <= base::Nanos(0) || *per_row > cost_max)
    throw std::invalid_argument(
        fmt::format("--cost-per-row: expected a time such as 10us, at most an hour, found '{}'",
                    options_.cost_per_row));
  cost.per_row = *per_row;
}

void Sor::check_files() const {
  check_writable({{"--json", options_.json},
                  {"--raw", options_.raw},
                  {"--image", options_.image},
                  {"--values", options_.values}});
}

// ---- the run ------------------------------------------------------------------------------------

void Sor::run(paths::Thread& thread) {
  add_part(thread.rank(), SorThread(thread, *task_).solve());
  if (is_split_ && thread.index() == 0 && thread.has_path(report_element)) report(thread);
}

void Sor::add_part(std::uint32_t rank, SorPart part) {
  runtime::DeferredWakes wakes;
  runtime::Lock lock(mutex_);
  parts_[rank] = std::move(part);
  ended_.wake_all(wakes);
}

void Sor::report(paths::Thread& thread) {
  wait_for_siblings(thread);
  const paths::Plan& plan = thread.host().plan();
  paths::Path& path = thread.path(report_element);
  path.enter(part_template());
  if (thread.rank() == 0) {
    for (const std::uint32_t host : reporting_hosts(plan)) {
      if (host == thread.host().index()) continue;
      for (std::uint32_t i = 0; i < plan.hosts[host].threads; ++i) {
        const pastset::Stored tuple = path.observe();
        SorPart part = decode_part(tuple.payload);
        path.axe(tuple.number);
        add_part(part.figures.rank, std::move(part));
      }
    }
    return;
  }
  for (std::uint32_t i = 0; i < plan.hosts[thread.host().index()].threads; ++i) {
    SorPart& part = parts_.at(thread.rank() + i);  // complete, since its thread has ended
    if (i == 0)
      for (const auto& [host, wan] : path.traffic(collective_.name))
        part.collective_wan[static_cast<std::uint32_t>(host)] = wan;
    path.move(encode_part(part));
  }
}

void Sor::wait_for_siblings(paths::Thread& thread) {
  const paths::Host& host = thread.host();
  const auto& entry = host.plan().hosts[host.index()];
  const auto deadline = host.deadline();
  runtime::Lock lock(mutex_);
  const auto have_ended = [&] {
    for (std::uint32_t i = 0; i < entry.threads; ++i)
      if (parts_.find(entry.first_thread + i) == parts_.end()) return false;
    return true;
  };
  while (!have_ended())
    if (ended_.wait(lock, deadline, {"the threads of host", host.name()}) ==
        runtime::Woken::expired)
      throw std::runtime_error(
          fmt::format("the threads of host {} did not end in time to report", host.name()));
}

// ---- after the run ------------------------------------------------------------------------------

nlohmann::ordered_json Sor::figures(const paths::RunSummary& summary) const {
  return sor_figures({options_.data, options_.data_seed, *task_, collective_}, parts_, summary);
}

void Sor::fill_row(std::size_t row, std::span<double> cells) const {
  for (const auto& [rank, part] : parts_) {
    if (!part.rows.contains(row)) continue;
    const auto kept = std::span(part.cells).subspan((row - part.rows.begin) * cells.size());
    std::copy_n(kept.begin(), cells.size(), cells.begin());
    return;
  }
  task_->data.fill_row(row, cells);  // row on the grid's edge
}

void Sor::write_files() const {
  const FillRow fill = [this](std::size_t row, std::span<double> cells) { fill_row(row, cells); };
  if (!options_.raw.empty()) write_raw(options_.raw, options_.size, fill);
  if (!options_.image.empty()) write_image(options_.image, options_.size, fill);
  if (options_.values.empty()) return;
  std::vector<std::span<const double>> by_rank;
  for (const auto& [rank, part] : parts_) by_rank.push_back(part.changes);
  write_values(options_.values,
               fmt::format("sor --data {} --size {} --data-seed {}: a row for each iteration, a "
                           "column for each thread",
                           options_.data, options_.size, options_.data_seed),
               by_rank);
}

/// Compares the results with those of an independent solver. Returns "" if the cells are equal, and
/// if rank 0 received the same outcomes of the stop condition as this solver has. Otherwise returns
/// a text about the first difference.
std::string Sor::check(const paths::Plan& plan) const {
  const SorPart& ours = parts_.at(0);
  ReferenceSolver reference(task_->data, task_->omega, reference_threads(plan, task_->blocks));
  std::vector<bool> says_stop;
  for (std::uint64_t i = 0; i < ours.iterations; ++i) {
    const double sum = reference.iterate();
    says_stop.push_back(
        collective_.condition &&
        paths::holds(*collective_.condition, std::as_bytes(std::span<const double, 1>(&sum, 1))));
  }
  for (const SorDecision& decision : ours.decisions)
    if (decision.is_stop != says_stop.at(decision.iteration))
      return fmt::format(
          "--check: the decision of iteration {} was {}, the reference has the opposite",
          decision.iteration + 1, decision.is_stop ? "stop" : "go on");
  std::vector<double> row(options_.size);
  for (const auto& [rank, part] : parts_)
    for (std::size_t number = part.rows.begin; number < part.rows.end; ++number) {
      const auto bytes = std::as_bytes(reference.row(number));
      if (!(base::digest_of(bytes) == part.row_digests[number - part.rows.begin]))
        return fmt::format("--check: row {}, one of thread {}, has other cells than the reference",
                           number, rank);
    }
  return {};
}

void Sor::finish(const paths::RunSummary& summary) {
  if (!is_ours_) return;
  progress_->clear();
  const bool is_whole = parts_.size() == summary.plan.thread_count();
  if (!is_whole)
    base::say(
        fmt::format("sor: parts of {} of {} threads only; an element '{}' with reach: all would "
                    "bring those of the others\n",
                    parts_.size(), summary.plan.thread_count(), report_element));
  if (const std::string wrong = sor_disagreement(parts_, summary); !wrong.empty())
    throw std::runtime_error(wrong);
  nlohmann::ordered_json json = figures(summary);
  const bool prints_table = !is_standard_output(options_.json);
  if (prints_table) fmt::print("{}", sor_table(json));
  std::fflush(stdout);
  if (is_whole) write_files();
  json["provenance"] = provenance(summary.wall_seconds);
  write_json(options_.json, json);
  if (!options_.check) return;
  if (const std::string wrong = check(summary.plan); !wrong.empty())
    throw std::runtime_error(wrong);
  if (prints_table)
    fmt::print("as the reference has it: every cell, and {} decisions\n",
               parts_.at(0).decisions.size());
}

}  // namespace bench
