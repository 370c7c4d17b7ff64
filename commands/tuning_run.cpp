// SPDX-License-Identifier: Apache-2.0
// commands/tuning_run.cpp — cells of a table, their searches, their samples and their rows.
#include "commands/tuning_run.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/errors.hpp"
#include "base/near_match.hpp"
#include "base/text_file.hpp"
#include "base/usage_error.hpp"
#include "collectives/algorithms/all.hpp"
#include "collectives/cost/best.hpp"
#include "commands/output_file.hpp"
#include "groups/clocked_run.hpp"
#include "groups/network_of.hpp"

namespace commands {
namespace {

using base::Nanos;
using collectives::Collective;

/// Ratio of neighbouring sizes.
constexpr tuner::Bytes size_step = 8;
constexpr std::size_t element_bytes = 8;
/// A run is void if a member begins later than this part of its time, and later than this time.
constexpr double late_part = 0.02;
constexpr Nanos late_least = std::chrono::milliseconds(1);
/// Expected number of runs of a search with a model, for the estimate.
constexpr std::int64_t runs_expected = 125, exact_runs_expected = 12;
/// Time that the agreement on a common start takes, besides three latencies.
constexpr Nanos start_time = std::chrono::milliseconds(25);

/// Returns the call whose schedules are tuned: sums in the order that a group permits.
groups::Call call_of(Collective collective) {
  groups::Call call;
  call.collective = collective;
  call.scalar = base::Scalar::f64;
  if (is_reduction(collective) && collective != Collective::barrier) call.operation = "sum";
  return call;
}

std::vector<Collective> read_collectives(const std::vector<std::string>& names) {
  std::vector<Collective> read;
  std::vector<std::string_view> known;
  for (const Collective one : collectives::all_collectives) {
    known.push_back(name_of(one));
    if (names.empty() && one != Collective::barrier) read.push_back(one);
  }
  for (const std::string& name : names) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end())
      throw std::invalid_argument("--collective: " + base::not_one_of(name, known));
    read.push_back(collectives::all_collectives[found - known.begin()]);
  }
  return read;
}

/// Reads "SIZE" or "FIRST:LAST". Returns FIRST, its multiples by `size_step`, and LAST.
std::vector<tuner::Bytes> read_sizes(const std::string& text) {
  const std::size_t colon = text.find(':');
  const auto first = base::parse_bytes(text.substr(0, colon));
  const auto last = colon == std::string::npos ? first : base::parse_bytes(text.substr(colon + 1));
  if (!first || !last || *first < element_bytes || *first > *last)
    throw std::invalid_argument(fmt::format(
        "--sizes: expected a size of at least 8B, or two such as 8B:1MiB, found '{}'", text));
  std::vector<tuner::Bytes> sizes;
  for (tuner::Bytes size = *first; size < *last; size *= size_step) {
    sizes.push_back(size);
    if (size > *last / size_step) break;
  }
  sizes.push_back(*last);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

/// Returns the schedule with all its parameters, as a call names it.
std::string text_of(const pricing::Candidate& candidate) {
  const std::string words = candidate.parameters.text();
  return words.empty() ? candidate.algorithm->name
                       : fmt::format("{}:{}", candidate.algorithm->name, words);
}

/// Returns the row for a schedule, without its limit.
tuner::Decision decision_of(const pricing::Candidate& candidate, tuner::Bytes length) {
  tuner::Decision decision;
  decision.algorithm = candidate.algorithm;
  decision.parameters = candidate.algorithm->read("");
  for (const collectives::Parameter& parameter : candidate.algorithm->parameters) {
    if (parameter.is_piece)
      decision.length = length;
    else
      decision.parameters.set(parameter.name, candidate.parameters.word(parameter.name));
  }
  return decision;
}

std::string samples_file(const std::string& output) { return output + ".samples"; }

nlohmann::json samples_json(const tuner::Schedules& schedules, const tuner::Outcome& outcome) {
  nlohmann::json all = nlohmann::json::object();
  for (const tuner::Sampled& one : outcome.sampled) {
    nlohmann::json times = nlohmann::json::array();
    for (const Nanos sample : one.samples) times.push_back(sample.count());
    all[text_of(schedules.at(one.configuration))] = times;
  }
  return all;
}

}  // namespace

TuningRun::~TuningRun() = default;

std::string TuningRun::Cell::key() const {
  return fmt::format("{} {}", name_of(collective), bytes);
}

void TuningRun::check(const paths::Plan& plan) {
  const std::vector<Collective> collectives = read_collectives(options_.collectives);
  const std::vector<tuner::Bytes> sizes = read_sizes(options_.sizes);
  search_ = tuner::search_named(options_.search);
  if (search_ == nullptr) {
    std::vector<std::string_view> names;
    for (const tuner::Search& one : tuner::all_searches()) names.push_back(one.name);
    throw std::invalid_argument("--tuner: " + base::not_one_of(options_.search, names));
  }
  const auto hosts = groups::participants_of(plan);
  if (hosts.size() < 2)
    throw std::invalid_argument(
        fmt::format("expected at least two hosts with threads, found {}", hosts.size()));
  for (const std::uint32_t host : hosts) members_.push_back(plan.hosts[host].first_thread);
  for (const Collective collective : collectives)
    for (const tuner::Bytes size : sizes)
      if (collective != Collective::barrier || size == sizes.front())
        cells_.push_back({collective, collective == Collective::barrier ? 0 : size, {}});
}

void TuningRun::prepare(const paths::Plan& plan, const paths::RunOptions& run) {
  check(plan);
  const auto hosts = groups::participants_of(plan);
  is_exact_ = run.clock == runtime::ClockKind::virtual_time;
  is_first_ = !run.is_one_host || run.host == hosts.front();
  selector_ = std::make_unique<groups::Selector>(plan, hosts);
  if (!is_first_) return;
  run_ = fmt::format("config {}, {} clock, by {}", plan.digest.text(),
                     is_exact_ ? "virtual" : "steady", options_.search);
  check_output(options_.output);
  if (std::filesystem::exists(options_.output)) old_ = tuner::load_decision_table(options_.output);
  read_samples();
  print_estimate(is_exact_);
}

/// Takes over the sizes that an earlier run with the same config, clock and search has finished. A
/// line that was not written to its end is ignored, and ended.
void TuningRun::read_samples() {
  std::ifstream file(samples_file(options_.output));
  char last = '\n';
  if (file.seekg(-1, std::ios::end)) file.get(last);
  if (last != '\n') std::ofstream(samples_file(options_.output), std::ios::app) << '\n';
  file.clear();
  file.seekg(0);
  std::string line;
  while (std::getline(file, line)) {
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || json.value("run", "") != run_) continue;
    for (Cell& cell : cells_) {
      if (cell.key() != json.value("cell", "")) continue;
      const auto [name, words] = collectives::split_at_colon(json.value("use", ""));
      const collectives::Algorithm* const algorithm = collectives::find_algorithm(name);
      if (algorithm == nullptr) continue;
      tuner::Decision choice;
      choice.algorithm = algorithm;
      choice.parameters = algorithm->read(words);
      if (json.contains("length")) choice.length = json["length"].get<tuner::Bytes>();
      choice.why = {.time = Nanos(json.value("time_nanos", std::int64_t{0})),
                    .predicted = Nanos(json.value("predicted_nanos", std::int64_t{0})),
                    .next = json.value("next", ""),
                    .next_time = Nanos(json.value("next_nanos", std::int64_t{0})),
                    .runs = json.value("runs", std::uint64_t{0}),
                    .spread = json.value("spread_percent", 0.0)};
      cell.choice = std::move(choice);
    }
  }
}

void TuningRun::print_estimate(bool is_virtual) {
  const std::int64_t runs = is_virtual ? exact_runs_expected : runs_expected;
  std::int64_t open = 0;
  Nanos sum{0};
  for (const Cell& cell : cells_) {
    if (cell.choice) continue;
    ++open;
    const collectives::CollectiveSpec spec = spec_of(cell);
    const auto best = pricing::best_of(spec, element_bytes, selector_->network(),
                                       worst_order(call_of(cell.collective)));
    sum += runs * (best.price.time + start_time);
  }
  const auto done = static_cast<std::int64_t>(cells_.size()) - open;
  fmt::print("{} sizes to tune{}, each with about {} runs by {}: about {:.0f} s of the {} clock\n",
             open, done > 0 ? fmt::format(" ({} are finished)", done) : "", runs, options_.search,
             std::chrono::duration<double>(sum).count(), is_virtual ? "virtual" : "steady");
  std::fflush(stdout);
}

collectives::CollectiveSpec TuningRun::spec_of(const Cell& cell) const {
  const auto& topology = selector_->network().topology;
  std::uint64_t count = cell.bytes / element_bytes;
  if (cell.collective == Collective::reduce_scatter)
    count = std::max<std::uint64_t>(1, count / topology->size());
  return make_spec(cell.collective, topology, cell.collective == Collective::barrier ? 1 : count);
}

/// Sends the next schedule to run to all members.
void TuningRun::tell(groups::Group& group, const Request& request) {
  const std::string text =
      request.schedule.empty()
          ? ""
          : fmt::format("{} {} {}", name_of(request.collective), request.count, request.schedule);
  std::array<std::uint8_t, 512> bytes{};
  ENSURE(text.size() < bytes.size());
  std::copy(text.begin(), text.end(), bytes.begin());
  group.run(groups::by("tree:shape=flat", groups::broadcast(bytes, 0)));
}

TuningRun::Request TuningRun::hear(groups::Group& group) {
  std::array<std::uint8_t, 512> bytes{};
  group.run(groups::by("tree:shape=flat", groups::broadcast(bytes, 0)));
  const std::string text(reinterpret_cast<const char*>(bytes.data()));
  if (text.empty()) return {};
  const std::size_t first = text.find(' '), second = text.find(' ', first + 1);
  Request request;
  for (const Collective one : collectives::all_collectives)
    if (name_of(one) == text.substr(0, first)) request.collective = one;
  request.count = base::parse_natural(text.substr(first + 1, second - first - 1)).value_or(0);
  request.schedule = text.substr(second + 1);
  return request;
}

/// Runs a schedule once on all members. Returns nothing if the run is void.
std::optional<Nanos> TuningRun::run_once(paths::Thread& thread, groups::Group& group,
                                         const Request& request) const {
  const auto spec = make_spec(request.collective, selector_->network().topology, request.count);
  groups::Call call = call_of(request.collective);
  call.algorithm = request.schedule;
  call.counts = {request.count};
  const bool is_scan =
      request.collective == Collective::scan || request.collective == Collective::exscan;
  const bool has_in = request.collective != Collective::broadcast;
  std::vector<double> in(has_in ? in_range(spec, group.rank()).count : 0);
  std::vector<double> out(is_scan ? request.count : out_range(spec, group.rank()).count);
  if (request.collective == Collective::barrier) {
    call = groups::by(request.schedule, groups::barrier());
  } else {
    call.in = std::as_bytes(std::span(in));
    call.out = std::as_writable_bytes(std::span(out));
  }
  const groups::ClockedRun run = groups::run_clocked(thread, group, [&] { group.run(call); });
  const auto allowed =
      std::max(late_least, std::chrono::duration_cast<Nanos>(run.time * late_part));
  if (run.late > allowed) return std::nullopt;
  return run.time;
}

void TuningRun::run(paths::Thread& thread) {
  if (std::find(members_.begin(), members_.end(), thread.rank()) == members_.end()) return;
  groups::Group group(thread, "paths.tune", members_);
  if (group.rank() > 0) {
    while (true) {
      const Request request = hear(group);
      if (request.schedule.empty()) return;
      run_once(thread, group, request);
    }
  }
  if (!is_exact_)
    made_seconds_ =
        std::chrono::duration_cast<std::chrono::seconds>(groups::common_clock(thread)).count();
  for (Cell& cell : cells_)
    if (!cell.choice) tune(cell, thread, group);
  tell(group, {});
}

void TuningRun::tune(Cell& cell, paths::Thread& thread, groups::Group& group) {
  const collectives::CollectiveSpec spec = spec_of(cell);
  const auto families =
      pricing::families_of(spec, element_bytes, worst_order(call_of(cell.collective)));
  // The virtual clock charges only what the config states.
  const bool is_stated = is_exact_ && selector_->assumed().has_network;
  const pricing::Network& network = is_stated ? selector_->links() : selector_->network();
  const tuner::Schedules schedules = tuner::schedules_of(
      families, spec, element_bytes, network, tuner::predict_on(spec, element_bytes, network));
  tuner::Options options;
  options.is_exact = is_exact_;
  options.seed = options_.seed;
  // Assumed costs of hosts are no measurement.
  options.delta = is_exact_ ? 0.5 : 1.0;
  const tuner::Run run = [&](tuner::Configuration one) {
    const Request request{cell.collective, spec.counts.largest(), text_of(schedules.at(one))};
    tell(group, request);
    return run_once(thread, group, request);
  };
  keep(cell, schedules, search_->choose(schedules.space, run, options));
}

/// Writes the samples of a cell, and prints its choice.
void TuningRun::keep(Cell& cell, const tuner::Schedules& schedules, const tuner::Outcome& outcome) {
  if (!outcome.chosen) {
    fmt::print("{} of {}: not tuned: all {} runs were disturbed\n", name_of(cell.collective),
               base::format_bytes(cell.bytes), outcome.runs);
    return;
  }
  const tuner::Configuration chosen = *outcome.chosen;
  const tuner::Member& member = member_of(schedules.space, chosen);
  tuner::Decision choice = decision_of(schedules.at(chosen), member.length);
  choice.why.time = outcome.statistic.value_or(Nanos(0));
  choice.why.predicted = member.predicted.value_or(Nanos(0));
  choice.why.runs = outcome.runs;
  const tuner::Sampled* next = nullptr;
  for (const tuner::Sampled& one : outcome.sampled) {
    if (one.configuration == chosen && !one.samples.empty()) {
      std::vector<Nanos> sorted = one.samples;
      std::sort(sorted.begin(), sorted.end());
      const Nanos middle = sorted[(sorted.size() - 1) / 2];
      choice.why.spread = 100.0 * static_cast<double>((middle - sorted.front()).count()) /
                          static_cast<double>(std::max<std::int64_t>(sorted.front().count(), 1));
    } else if (one.statistic && one.configuration.family != chosen.family &&
               (next == nullptr || *one.statistic < *next->statistic)) {
      next = &one;
    }
  }
  if (next != nullptr) {
    choice.why.next = decision_of(schedules.at(next->configuration), 0).use();
    choice.why.next_time = *next->statistic;
  }
  cell.choice = choice;
  nlohmann::json json{{"run", run_},
                      {"cell", cell.key()},
                      {"use", choice.use()},
                      {"time_nanos", choice.why.time.count()},
                      {"predicted_nanos", choice.why.predicted.count()},
                      {"next", choice.why.next},
                      {"next_nanos", choice.why.next_time.count()},
                      {"runs", choice.why.runs},
                      {"void_runs", outcome.void_runs},
                      {"spread_percent", choice.why.spread},
                      {"samples_nanos", samples_json(schedules, outcome)}};
  if (choice.length) json["length"] = *choice.length;
  std::ofstream file(samples_file(options_.output), std::ios::app);
  file << json.dump() << '\n' << std::flush;
  if (!file)
    throw std::runtime_error(
        fmt::format("cannot write {}: {}", samples_file(options_.output), std::strerror(errno)));
  const auto millis = [](Nanos time) {
    return std::chrono::duration<double, std::milli>(time).count();
  };
  fmt::print("{} of {}: {}{}: {:.3f} ms (predicted {:.3f} ms), {} runs{}\n",
             name_of(cell.collective), base::format_bytes(cell.bytes), choice.use(),
             choice.length.value_or(0) > 0
                 ? fmt::format(" in messages of {}", base::format_bytes(*choice.length))
                 : "",
             millis(choice.why.time), millis(choice.why.predicted), choice.why.runs,
             next != nullptr
                 ? fmt::format("; next {} {:.3f} ms", choice.why.next, millis(choice.why.next_time))
                 : "");
  std::fflush(stdout);
}

std::vector<tuner::DecisionSection> TuningRun::sections() const {
  const tuner::Shape& shape = selector_->shape();
  std::vector<tuner::DecisionSection> all;
  if (old_) all = old_->sections();
  for (const Collective collective : collectives::all_collectives) {
    std::vector<tuner::TunedSize> sizes;
    for (const Cell& cell : cells_)
      if (cell.collective == collective && cell.choice) sizes.push_back({cell.bytes, *cell.choice});
    if (sizes.empty()) continue;
    tuner::DecisionSection section;
    section.collective = collective;
    section.clusters = {shape.clusters, shape.clusters};
    section.hosts = {shape.hosts, shape.hosts};
    section.machines = {shape.machines, shape.machines};
    section.transport = shape.transport;
    section.order = std::min(worst_order(call_of(collective)), collectives::Order::by_block);
    section.rows = tuner::rows_of(sizes);
    const auto before = std::find_if(all.begin(), all.end(), [&](const auto& other) {
      return are_for_same_groups(other, section);
    });
    if (before == all.end()) {
      all.push_back(std::move(section));
      continue;
    }
    for (const tuner::Decision& row : before->rows)
      if (row.is_pinned)
        fmt::print("{}: the row at {} is pinned and stays\n", name_of(collective),
                   row.position.text());
    section.rows = tuner::keep_pinned(before->rows, std::move(section.rows));
    *before = std::move(section);
  }
  return all;
}

void TuningRun::finish(const paths::RunSummary& run) {
  if (!is_first_) return;
  const bool is_any = std::any_of(cells_.begin(), cells_.end(),
                                  [](const Cell& cell) { return cell.choice.has_value(); });
  if (!is_any) throw std::runtime_error("nothing was tuned: the machine was too busy");
  std::uint64_t runs = 0;
  for (const Cell& cell : cells_)
    if (cell.choice) runs += cell.choice->why.runs;
  const bool is_virtual = run.clock == runtime::ClockKind::virtual_time;
  base::MapBuilder about;
  if (!is_virtual)
    about.add("made", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(made_seconds_)));
  about.add("tuner", options_.search)
      .add("clock", is_virtual ? "virtual" : "steady")
      .add("seed", std::to_string(options_.seed))
      .add("runs", std::to_string(runs));
  const std::string part = options_.output + ".part";
  base::write_file(part, print_decisions(sections(), about.done()));
  std::filesystem::rename(part, options_.output);
  fmt::print("Written to {}: {} sizes, {} runs. The samples are in {}.\n", options_.output,
             std::count_if(cells_.begin(), cells_.end(),
                           [](const Cell& cell) { return cell.choice.has_value(); }),
             runs, samples_file(options_.output));
}

}  // namespace commands
