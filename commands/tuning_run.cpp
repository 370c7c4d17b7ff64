// SPDX-License-Identifier: Apache-2.0
// commands/tuning_run.cpp — search for the fastest schedule of each size.
#include "commands/tuning_run.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include "base/errors.hpp"
#include "base/near_match.hpp"
#include "base/text_file.hpp"
#include "base/usage_error.hpp"
#include "collectives/algorithms/all.hpp"
#include "collectives/cost/best.hpp"
#include "collectives/tuner/decision_rows.hpp"
#include "commands/output_file.hpp"
#include "groups/clocked_run.hpp"
#include "groups/selection/network_of.hpp"
#include "paths/host/host.hpp"

namespace commands {
namespace {

using base::Nanos;
using collectives::Collective;

/// Ratio of two successive sizes that are tuned.
constexpr tuner::Bytes size_step = 2;
constexpr std::size_t element_bytes = RequestedRuns::element_bytes;
/// Expected numbers of runs for each size, on the steady clock and on the virtual clock. These
/// numbers serve to estimate the cost of tuning.
constexpr std::int64_t runs_expected = 60, exact_runs_expected = 5;
/// A collective counts as slower than other collectives with the same effect if it takes more than
/// this many times as long as they take together.
constexpr double guideline_margin = 1.05;

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

/// Reads "SIZE" or "FIRST:LAST". Returns the sizes FIRST, FIRST * `size_step`, FIRST * `size_step`²
/// and so on, and LAST.
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

/// Returns the schedule with all its parameters, in the format of groups::Call::algorithm.
std::string text_of(const pricing::Candidate& candidate) {
  const std::string words = candidate.parameters.text();
  return words.empty() ? candidate.algorithm->name
                       : fmt::format("{}:{}", candidate.algorithm->name, words);
}

constexpr std::string_view trees = "trees";  // value of TuneOptions::candidates
constexpr std::string_view race = "race", pipeline = "pipeline", exhaustive = "exhaustive",
                           predict = "predict";  // searches

std::string samples_file(const std::string& output) { return output + ".samples"; }

/// Returns whether the search that made the table measured at least one schedule.
bool has_measured(const tuner::Table& table) {
  return std::any_of(table.choices.begin(), table.choices.end(),
                     [](const tuner::SizeChoice& choice) { return choice.measured.has_value(); });
}

double millis(Nanos time) { return std::chrono::duration<double, std::milli>(time).count(); }

/// Prints the fastest length of each family at each size: the result of the paper's phase 1.
void print_families(Collective collective, const tuner::Table& table,
                    const std::map<tuner::Bytes, tuner::Schedules>& schedules) {
  for (const tuner::SizeChoice& choice : table.choices) {
    std::map<std::size_t, const tuner::Sampled*> fastest;
    for (const tuner::Sampled& one : choice.evidence.sampled) {
      const tuner::Sampled*& least = fastest[one.configuration.family];
      if (one.statistic && (least == nullptr || *one.statistic < *least->statistic)) least = &one;
    }
    const tuner::Space& space = schedules.at(choice.bytes).space;
    for (const auto& [family, one] : fastest) {
      if (one == nullptr) continue;
      const std::uint64_t length = member_of(space, one->configuration).length;
      fmt::print("  {}: {}{}: {:.3f} ms\n", operation_text(collective, choice.bytes),
                 space.families[family].name,
                 length > 0 ? " in messages of " + base::format_bytes(length) : "",
                 millis(*one->statistic));
    }
  }
}

std::string text_of(const tuner::Violation& violation) {
  return fmt::format("{} would do the same in {:.3f} ms", violation.instead,
                     millis(violation.time));
}

/// Sets the note of the row for the violation's size, unless the row already has a note.
void note_violation(std::vector<tuner::Decision>& rows, const tuner::Violation& violation) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const tuner::Decision& one) {
    return one.up_to >= violation.slow.bytes;
  });
  if (row != rows.end() && row->note.empty())
    row->note = fmt::format("{}: {}", base::format_bytes(violation.slow.bytes), text_of(violation));
}

}  // namespace

TuningRun::~TuningRun() = default;

/// Reads TuneOptions::cells into collectives_ and cells_. A size below the size of one element
/// counts as the size of one element.
void TuningRun::read_cells() {
  collectives_.clear();
  for (const std::string& cell : options_.cells) {
    const auto [name, size] = collectives::split_at_colon(cell);
    const Collective collective = read_collectives({name}).front();
    std::vector<tuner::Bytes>& sizes = cells_[collective];
    if (sizes.empty()) collectives_.push_back(collective);
    sizes.push_back(std::max<tuner::Bytes>(base::parse_natural(size).value_or(0), element_bytes));
  }
  for (auto& [collective, sizes] : cells_) {
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  }
}

/// Leaves out collectives that trees do not do.
/// Throws: std::invalid_argument if the options name such a collective, or if no collective is
/// left.
void TuningRun::keep_collectives_of_trees() {
  std::string others;
  std::erase_if(collectives_, [&](Collective one) {
    const bool has_trees = collectives::algorithm_named("tree").does(one);
    if (!has_trees) others += fmt::format("{}{}", others.empty() ? "" : ", ", name_of(one));
    return !has_trees;
  });
  if (collectives_.empty() || (!options_.collectives.empty() && !others.empty()))
    throw std::invalid_argument(fmt::format(
        "--candidates {}: expected collectives that trees do, found {}", trees, others));
}

void TuningRun::check(const paths::Plan& plan) {
  collectives_ = read_collectives(options_.collectives);
  sizes_ = read_sizes(options_.sizes);
  if (!options_.cells.empty()) read_cells();
  if (options_.candidates == trees) keep_collectives_of_trees();
  search_ = tuner::search_named(options_.search);
  if (search_ == nullptr) {
    std::vector<std::string_view> names;
    for (const tuner::Search& one : tuner::all_searches()) names.push_back(one.name);
    throw std::invalid_argument("--tuner: " + base::not_one_of(options_.search, names));
  }
  if (options_.search == pipeline && options_.candidates != trees)
    throw std::invalid_argument(
        fmt::format("--tuner {}: expected --candidates {}, because other schedules have no longest "
                    "path",
                    pipeline, trees));
  if (options_.has_phases && options_.search != exhaustive)
    throw std::invalid_argument(
        fmt::format("--phases: expected --tuner {}, found {}", exhaustive, options_.search));
  const auto hosts = groups::participants_of(plan);
  if (hosts.size() < 2)
    throw std::invalid_argument(
        fmt::format("expected at least two hosts with threads, found {}", hosts.size()));
  hosts_ = hosts;
}

void TuningRun::prepare(const paths::Plan& plan, const paths::RunOptions& run) {
  check(plan);
  const auto hosts = groups::participants_of(plan);
  is_exact_ = run.clock == runtime::ClockKind::virtual_time;
  is_first_ = !run.is_one_host || run.host == hosts.front();
  for (std::size_t few = 2; options_.has_phases && few < hosts.size(); few *= 2)
    selectors_.push_back(std::make_unique<groups::Selector>(
        plan, std::vector<std::uint32_t>(hosts.begin(), hosts.begin() + few)));
  selectors_.push_back(std::make_unique<groups::Selector>(plan, hosts));
  selector_ = selectors_.back().get();
  if (!is_first_) return;
  check_output(options_.output);
  if (std::filesystem::exists(options_.output)) old_ = tuner::load_decision_table(options_.output);
  log_ = std::make_unique<RunLog>(
      samples_file(options_.output),
      fmt::format("config {}, {} clock{}", plan.digest.text(), is_exact_ ? "virtual" : "steady",
                  options_.under.empty() ? "" : ", under " + options_.under));
  print_estimate();
}

/// Returns the sizes at which a collective is tuned. A barrier has no size; it is tuned as if its
/// size were 1 byte.
std::vector<tuner::Bytes> TuningRun::sizes_of(Collective collective) const {
  if (collective == Collective::barrier) return {1};
  const auto found = cells_.find(collective);
  return found == cells_.end() ? sizes_ : found->second;
}

/// Predicts the time that each run takes in addition to the time of its schedule. The first host
/// sends the schedule to the others. run_clocked() waits for three times the duration of an
/// allreduce before the common start, and runs two allreduces after the schedule.
Nanos TuningRun::time_around_run() const {
  const auto time_of = [&](Collective collective, std::uint64_t bytes, std::string_view algorithm,
                           const std::string& parameters) {
    const auto spec = make_spec(collective, selector_->network().topology, bytes / element_bytes);
    const collectives::Algorithm& named = collectives::algorithm_named(algorithm);
    const auto predict = tuner::predict_on(spec, element_bytes, selector_->network());
    return predict({&named, named.read(parameters)}, Nanos::max()).value_or(Nanos(0));
  };
  return time_of(Collective::broadcast, RequestedRuns::request_bytes, "tree", "shape=flat") +
         5 * time_of(Collective::allreduce, element_bytes, "recursive_doubling", "") +
         groups::spare_time_before_start;
}

/// Prints how many runs the search may need, and how long they take. Only the runs of a race are
/// known well enough to predict the time of all of them.
void TuningRun::print_estimate() {
  const Nanos around = time_around_run();
  const std::size_t of_each = is_exact_ ? 1 : tuner::Options().repetitions;
  const std::int64_t runs = is_exact_ ? exact_runs_expected : runs_expected;
  std::size_t sizes = 0, most = 0;
  Nanos sum{0}, least = Nanos::max();
  for (const Collective collective : collectives_)
    for (const tuner::Bytes bytes : sizes_of(collective)) {
      ++sizes;
      const auto best = pricing::best_of(spec_of(collective, bytes), element_bytes,
                                         selector_->network(), worst_order(tuned_call(collective)));
      sum += runs * (best.price.time + around);
      least = std::min(least, best.price.time + around);
      std::size_t candidates = 0;
      for (const pricing::Family& family : families_of(collective, bytes))
        candidates += family.size();
      most = std::max(most, candidates * of_each);
    }
  const std::string_view clock = is_exact_ ? "virtual" : "steady";
  std::string cost = "without a run";
  if (options_.search == race)
    cost = fmt::format("each with about {} runs: about {:.0f} s of the {} clock", runs,
                       std::chrono::duration<double>(sum).count(), clock);
  else if (options_.search != predict)
    cost = fmt::format("each with up to {} runs, of at least {:.3f} ms of the {} clock", most,
                       millis(least), clock);
  fmt::print("{} sizes to tune by {}, {}{}\n", sizes * selectors_.size(), options_.search, cost,
             options_.under.empty() ? "" : ", or more because of the program next to each host");
  if (log_->remaining() > 0)
    fmt::print("{} runs are taken from {}\n", log_->remaining(), samples_file(options_.output));
  std::fflush(stdout);
}

collectives::CollectiveSpec TuningRun::spec_of(Collective collective, tuner::Bytes bytes) const {
  const auto& topology = selector_->network().topology;
  std::uint64_t count = std::max<std::uint64_t>(1, bytes / element_bytes);
  if (collective == Collective::reduce_scatter)
    count = std::max<std::uint64_t>(1, count / topology->size());
  return make_spec(collective, topology, count);
}

void TuningRun::run(paths::Thread& thread) {
  const std::uint32_t host = thread.host().index();
  if (thread.index() != 0 || std::find(hosts_.begin(), hosts_.end(), host) == hosts_.end()) return;
  RequestedRuns runs(thread, hosts_);
  if (!runs.is_first()) return runs.serve();
  if (!is_exact_)
    made_seconds_ =
        std::chrono::duration_cast<std::chrono::seconds>(groups::common_clock(thread)).count();
  for (const auto& selector : selectors_) {
    selector_ = selector.get();
    if (options_.has_phases) fmt::print("{} hosts\n", selector_->hosts().size());
    for (const Collective collective : collectives_) {
      tuned_.push_back({section_of(collective), tune(collective, runs)});
      print(tuned_.back());
    }
  }
  runs.end();
}

/// Returns the time of a run, from the log of an earlier tune if that has it.
std::optional<Nanos> TuningRun::time_of(const RunRequest& request, RequestedRuns& runs) {
  if (const auto known = log_->take(request.text())) return *known;
  const auto time = runs.run(request);
  log_->add(request.text(), time);
  return time;
}

std::vector<pricing::Family> TuningRun::families_of(Collective collective,
                                                    tuner::Bytes bytes) const {
  const collectives::CollectiveSpec spec = spec_of(collective, bytes);
  const collectives::Order worst = worst_order(tuned_call(collective));
  return options_.candidates == trees ? tuner::families_of_paper(spec, worst)
                                      : pricing::families_of(spec, element_bytes, worst);
}

tuner::Schedules TuningRun::schedules_of(Collective collective, tuner::Bytes bytes) const {
  const collectives::CollectiveSpec spec = spec_of(collective, bytes);
  // On the virtual clock, runs take only the times that the config states. Predictions for such
  // runs therefore do not include assumed costs.
  const bool is_stated = is_exact_ && selector_->assumed().has_network;
  const pricing::Network& network = is_stated ? selector_->links() : selector_->network();
  return tuner::schedules_of(families_of(collective, bytes), spec, element_bytes, network,
                             tuner::predict_on(spec, element_bytes, network));
}

tuner::Table TuningRun::tune(Collective collective, RequestedRuns& runs) {
  tuner::Options options;
  options.is_exact = is_exact_;
  options.seed = options_.seed;
  // If predictions rely on assumed costs of hosts, or if another program uses the hosts, schedules
  // with a larger predicted time may also enter the race.
  const bool has_costs = selector_->stated_costs() != nullptr && options_.under.empty();
  options.delta = is_exact_ || has_costs ? 0.5 : 1.0;
  std::map<tuner::Bytes, tuner::Schedules> schedules;
  tuner::TableTask task;
  task.sizes = sizes_of(collective);
  task.before = old_rows(collective);
  task.searches_all = cells_.contains(collective) || options_.has_phases;
  task.space_of = [&](tuner::Bytes bytes) {
    return schedules.emplace(bytes, schedules_of(collective, bytes)).first->second.space;
  };
  const auto request = [&](tuner::Bytes bytes, tuner::Configuration one, RunRequest::Part part) {
    const tuner::Schedules& among = schedules.at(bytes);
    const bool is_whole = part == RunRequest::Part::all;
    const auto predicted = member_of(among.space, one).predicted;
    const bool are_all = selector_ == selectors_.back().get();
    const auto hosts = static_cast<std::uint32_t>(are_all ? 0 : selector_->hosts().size());
    return RunRequest{collective,
                      spec_of(collective, bytes).counts.largest(),
                      text_of(among.at(one)),
                      is_whole && predicted ? *predicted : Nanos(0),
                      part,
                      hosts};
  };
  task.run_at = [&](tuner::Bytes bytes, tuner::Configuration one) {
    return time_of(request(bytes, one, RunRequest::Part::all), runs);
  };
  task.partial_at = [&](tuner::Bytes bytes) {
    tuner::PartialRuns partial;
    partial.on_longest_path = [&, bytes](tuner::Configuration one) {
      return time_of(request(bytes, one, RunRequest::Part::longest_path), runs);
    };
    partial.between_pairs = [&, bytes](bool are_all) {
      return time_of(
          {Collective::broadcast, std::max<tuner::Bytes>(1, bytes / element_bytes),
           "tree:shape=flat", Nanos(0), are_all ? RunRequest::Part::pairs : RunRequest::Part::pair},
          runs);
    };
    return partial;
  };
  tuner::Table table = tune_table(task, *search_, options);
  if (options_.has_phases) print_families(collective, table, schedules);
  return table;
}

std::vector<tuner::Row> TuningRun::old_rows(Collective collective) const {
  if (!old_) return {};
  for (const tuner::DecisionSection& section : old_->sections())
    if (are_for_same_groups(section, section_of(collective)))
      return tuner::rows_before(section.rows);
  return {};
}

void TuningRun::print(const Tuned& tuned) const {
  const tuner::Table& table = tuned.table;
  const std::string name(name_of(tuned.section.collective));
  if (table.runs > 0 && !has_measured(table)) {
    fmt::print("{}: not tuned: all {} runs were disturbed\n", name, table.runs);
    return;
  }
  for (const tuner::SizeChoice& choice : table.choices) {
    const std::string length =
        choice.length > 0 ? " in messages of " + base::format_bytes(choice.length) : "";
    const std::string time =
        choice.measured ? fmt::format("{:.3f} ms, ", millis(*choice.measured)) : "";
    const std::string next = choice.next.empty() ? ""
                                                 : fmt::format("; next {} {:.3f} ms", choice.next,
                                                               millis(choice.next_measured));
    fmt::print("{}: {}{}: {}predicted {:.3f} ms, {} runs{}\n",
               operation_text(tuned.section.collective, choice.bytes), choice.family, length, time,
               millis(choice.predicted), choice.evidence.runs, next);
  }
  std::fflush(stdout);
}

/// Returns the tuned collectives that take longer than other tuned collectives with the same effect
/// (check_guidelines()).
std::vector<tuner::Violation> TuningRun::violations(const groups::Selector& of) const {
  std::vector<tuner::ChosenTime> times;
  for (const Tuned& tuned : tuned_)
    for (const tuner::SizeChoice& choice : tuned.table.choices)
      if (choice.measured && tuned.section.hosts.least == of.shape().hosts)
        times.push_back({tuned.section.collective, choice.bytes, *choice.measured});
  return tuner::check_guidelines(times, of.hosts().size(), guideline_margin);
}

/// Returns a section of a table without rows, for the group of all hosts of this run.
tuner::DecisionSection TuningRun::section_of(Collective collective) const {
  const tuner::Shape& shape = selector_->shape();
  tuner::DecisionSection section;
  section.collective = collective;
  section.clusters = {shape.clusters, shape.clusters};
  section.hosts = {shape.hosts, shape.hosts};
  section.machines = {shape.machines, shape.machines};
  section.transport = shape.transport;
  section.order = std::min(worst_order(tuned_call(collective)), collectives::Order::by_block);
  return section;
}

/// Returns the rows of a tuned table. Their evidence names how they were tuned.
std::vector<tuner::Decision> TuningRun::rows_of(const tuner::Table& table) const {
  std::vector<tuner::Decision> rows = tuner::decisions_of(table);
  for (tuner::Decision& row : rows) {
    if (options_.candidates == trees) row.why.candidates = options_.candidates;
    row.why.under = options_.under;
  }
  return rows;
}

std::vector<tuner::DecisionSection> TuningRun::sections() const {
  std::vector<tuner::DecisionSection> all;
  if (old_) all = old_->sections();
  for (const Tuned& tuned : tuned_) {
    if (tuned.table.runs > 0 && !has_measured(tuned.table)) continue;
    tuner::DecisionSection section = tuned.section;
    section.rows = rows_of(tuned.table);
    for (const auto& selector : selectors_)
      for (const tuner::Violation& one : violations(*selector))
        if (one.slow.collective == section.collective &&
            section.hosts.least == selector->shape().hosts)
          note_violation(section.rows, one);
    const auto before = std::find_if(all.begin(), all.end(), [&](const auto& other) {
      return are_for_same_groups(other, section);
    });
    if (before == all.end()) {
      all.push_back(std::move(section));
      continue;
    }
    for (const tuner::Decision& row : before->rows)
      if (row.is_pinned)
        fmt::print("{}: the row at {} is pinned and stays\n", name_of(section.collective),
                   row.position.text());
    section.rows = tuner::keep_pinned(before->rows, std::move(section.rows));
    *before = std::move(section);
  }
  return all;
}

void TuningRun::finish(const paths::RunSummary& run) {
  if (!is_first_) return;
  std::size_t runs = 0, sizes = 0;
  for (const auto& [section, table] : tuned_) {
    if (table.runs > 0 && !has_measured(table)) continue;
    runs += table.runs;
    sizes += table.choices.size();
  }
  if (sizes == 0) throw std::runtime_error("nothing was tuned: the machine was too busy");
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
  log_->finish();
  for (const tuner::Violation& one : violations(*selectors_.back()))
    fmt::print("{} takes {:.3f} ms; {}\n", operation_text(one.slow.collective, one.slow.bytes),
               millis(one.slow.time), text_of(one));
  fmt::print("Written to {}: {} sizes, {} runs. The samples are in {}.\n", options_.output, sizes,
             runs, samples_file(options_.output));
}

}  // namespace commands
