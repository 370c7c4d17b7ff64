// SPDX-License-Identifier: Apache-2.0
// commands/analyze.cpp — `paths analyze`: time analysis of a traced run.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "base/output_file.hpp"
#include "base/say.hpp"
#include "base/units.hpp"
#include "base/visible.hpp"
#include "commands/commands.hpp"
#include "commands/output_file.hpp"
#include "eventspace/analysis/analyze_trace.hpp"
#include "eventspace/analysis/report/compare.hpp"
#include "eventspace/export/csv.hpp"
#include "eventspace/export/noise.hpp"
#include "eventspace/export/otf2.hpp"
#include "eventspace/export/perfetto.hpp"
#include "eventspace/page/page.hpp"

namespace commands {
namespace {

using eventspace::HostClocks;
using eventspace::TraceDirectory;
using eventspace::TraceReport;

struct AnalyzeOptions {
  std::vector<std::string> directories;
  std::string compare, json, html, csv, otf2, perfetto, noise;
  std::optional<std::uint32_t> noise_thread;
  bool uses_utc = false;
  std::size_t rows = 0;
  eventspace::Questions questions;
  double name_from_percent = 100 * eventspace::name_from_share;
  double least_percent = 100 * eventspace::difference_share;
  std::optional<double> fail_over_percent;
};

/// Shows the progress on standard error, in one line that is overwritten each time. Does nothing if
/// standard error is not a terminal.
class ProgressLine {
 public:
  ProgressLine() : is_terminal_(isatty(STDERR_FILENO) == 1) {}
  ~ProgressLine() {
    if (shown_ >= 0) base::say("\r\033[K");
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(double share) {
    const int percent = static_cast<int>(100 * share);
    if (!is_terminal_ || percent == shown_) return;
    shown_ = percent;
    base::say(fmt::format("\rreading {}%", percent));
  }

 private:
  const bool is_terminal_;
  int shown_ = -1;
};

TraceDirectory opened(const std::vector<std::string>& names) {
  return TraceDirectory(std::vector<std::filesystem::path>(names.begin(), names.end()));
}

eventspace::PageHead head_of(const TraceReport& report) {
  eventspace::PageHead head;
  head.title = report.directory;
  for (const auto& file : report.files) {
    if (file.losses.is_header_damaged) continue;
    head.command = file.header.command;
    head.version = file.header.version;
    head.clock = file.header.clock;
    head.started = file.header.started;
    break;
  }
  head.losses = losses_of(report);
  return head;
}

/// Analyzes a trace, and writes the HTML page if `options` name one. Shows the progress.
TraceReport analyze(const TraceDirectory& trace, const HostClocks& used,
                    const AnalyzeOptions& options) {
  ProgressLine line;
  const auto progress = [&line](double share) { line.show(share); };
  eventspace::AnalysisOptions limits;
  limits.questions = options.questions;
  limits.name_from_share = options.name_from_percent / 100;
  if (!options.html.empty()) limits.timeline_parts = eventspace::page_timeline_parts;
  TraceReport report = eventspace::analyze_trace(trace, used, limits, progress);
  if (!options.html.empty())
    eventspace::write_page(options.html, trace.structure, report.report, head_of(report));
  return report;
}

void write_exports(const TraceDirectory& trace, const HostClocks& clocks,
                   const AnalyzeOptions& options) {
  if (!options.csv.empty()) eventspace::export_csv(trace, options.csv, clocks);
  if (!options.otf2.empty()) eventspace::export_otf2(trace, options.otf2, clocks);
  if (!options.perfetto.empty()) eventspace::export_perfetto(trace, options.perfetto, clocks);
  if (!options.noise.empty()) eventspace::export_noise(trace, options.noise, options.noise_thread);
}

/// Returns a line that names the folders with the traces of further deployments; "" if there are no
/// such folders.
std::string further_deployments(const std::vector<std::string>& directories) {
  constexpr std::size_t shown_max = 3;
  std::set<std::string> names;
  for (const std::string& directory : directories) {
    const auto folder = std::filesystem::path(directory) / eventspace::further_traces_folder_name;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none))
      names.insert(entry.path().string());
  }
  if (names.empty()) return {};
  const auto shown_end = std::next(names.begin(), std::min(names.size(), shown_max));
  return fmt::format(
      "\nFurther deployments, each a trace of its own: {}{}\n",
      base::visible(fmt::format("{}", fmt::join(names.begin(), shown_end, ", "))),
      names.size() > shown_max ? fmt::format(" and {} more", names.size() - shown_max) : "");
}

/// Returns whether `--fail-over` makes the command fail: the second run is slower than the first,
/// or the runs are too short to decide. Prints the reason.
bool fails(const eventspace::Comparison& comparison, const AnalyzeOptions& options) {
  if (!options.fail_over_percent) return false;
  const double percent = *options.fail_over_percent;
  const auto slower = is_slower(comparison, percent / 100);
  if (!slower)
    base::say("paths: --fail-over: a run has too few iterations for a statement about chance\n");
  else if (*slower)
    base::say(fmt::format("paths: --fail-over: an iteration became longer by more than {:g}%\n",
                          percent));
  return slower.value_or(true);
}

/// Runs the command. Returns false if a trace is unusable, or if the comparison fails
/// (`--fail-over`).
bool run(const AnalyzeOptions& options) {
  const TraceDirectory trace = opened(options.directories);
  eventspace::check_questions(options.questions, trace.structure);
  const HostClocks clocks =
      options.uses_utc ? HostClocks::best(trace) : HostClocks::compared(trace);
  const TraceReport report = analyze(trace, clocks, options);
  const bool exports = !options.csv.empty() || !options.otf2.empty() || !options.perfetto.empty() ||
                       !options.noise.empty();
  if (exports) write_exports(trace, clocks.is_common() ? clocks : HostClocks::best(trace), options);
  if (options.compare.empty()) {
    if (!options.json.empty()) write_text(options.json, eventspace::print_json(to_json(report)));
    if (options.json != "-")
      std::cout << to_text(report, options.rows) << further_deployments(options.directories);
    return !is_unusable(report);
  }
  const TraceDirectory with(options.compare);
  const TraceReport other = eventspace::analyze_trace(
      with, options.uses_utc ? HostClocks::best(with) : HostClocks::compared(with));
  const auto comparison =
      eventspace::compare(report.report, other.report, options.least_percent / 100);
  if (!options.json.empty()) write_text(options.json, eventspace::print_json(to_json(comparison)));
  if (options.json != "-") std::cout << to_text(comparison, options.rows);
  return !is_unusable(report) && !is_unusable(other) && !fails(comparison, options);
}

/// Checks that a text is a finite number of at least 0. Returns "" if it is, otherwise the mistake.
std::string is_percent(const std::string& text) {
  const auto number = base::parse_number(text);
  return number && *number >= 0 ? ""
                                : fmt::format("expected a number of percent, found '{}'", text);
}

void add_outputs(CLI::App& command, AnalyzeOptions& options) {
  const std::string group = "Write";
  command.add_option("--html", options.html, "write one page for a browser to this file")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--json", options.json,
                  "write every figure as JSON to this file; - is standard output")
      ->type_name("FILE")
      ->group(group);
  command.add_option("--csv", options.csv, "write every record to this file, one per line")
      ->type_name("FILE")
      ->group(group);
  command.add_option("--otf2", options.otf2, "write an OTF2 archive, for Vampir and others")
      ->type_name("DIR")
      ->group(group);
  command
      .add_option("--perfetto", options.perfetto, "write a trace for ui.perfetto.dev to this file")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--noise", options.noise,
                  "write lines 'start_ns duration_ns' to this file, for noise_allreduce --replay "
                  "and others")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option(
          "--noise-thread", options.noise_thread,
          "rank of the thread whose lines are written (default: all threads, one after the other)")
      ->type_name("RANK")
      ->group(group)
      ->needs("--noise");
}

}  // namespace

void add_analyze_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<AnalyzeOptions>();
  CLI::App* command = app.add_subcommand(
      "analyze", "Show where the time of a traced run went: the greatest costs, then the figures");
  command
      ->add_option("DIR", options->directories,
                   "trace directory of `paths run --trace DIR`; several of one run if machines "
                   "share no files")
      ->required();
  command
      ->add_option("--compare", options->compare,
                   "compare DIR with a later run OTHER: what changed from DIR to OTHER, and\n"
                   "whether by chance")
      ->type_name("OTHER");
  command
      ->add_option("--least", options->least_percent,
                   "least change of a figure that --compare calls a difference, in percent")
      ->type_name("PERCENT")
      ->check(is_percent)
      ->needs("--compare")
      ->capture_default_str();
  command
      ->add_option("--fail-over", options->fail_over_percent,
                   "exit with 1 if --compare finds that an iteration became longer by\n"
                   "more than this, and not by chance")
      ->type_name("PERCENT")
      ->check(is_percent)
      ->needs("--compare");
  command
      ->add_option("--what-if", options->questions.changes,
                   "predict the run with a change, such as link:A>B.latency=5ms,\n"
                   "link:*.bandwidth=1Gbit, network:A.latency=50us or host:NAME.speed=1.2;\n"
                   "several options change all of them")
      ->type_name("CHANGE")
      ->allow_extra_args(false)
      ->excludes("--compare");
  command
      ->add_option("--without", options->questions.without,
                   "predict the run without the finding of this number; may be repeated")
      ->type_name("NUMBER")
      ->allow_extra_args(false)
      ->excludes("--compare");
  command
      ->add_flag("--sensitivity", options->questions.asks_for_sensitivities,
                 "show how the run depends on each link, network and host")
      ->excludes("--compare");
  command
      ->add_option("--name-from", options->name_from_percent,
                   "least cost of what is named as out of the ordinary, in percent of the run")
      ->type_name("PERCENT")
      ->check(is_percent)
      ->capture_default_str()
      ->excludes("--compare");
  command->add_flag("--utc", options->uses_utc,
                    "compare hosts by UTC if the trace has no readings of their clocks");
  command
      ->add_option(
          "--rows", options->rows,
          "also print tables of threads, joins, links and paths,\nof at most this number of rows")
      ->type_name("COUNT")
      ->capture_default_str();
  add_outputs(*command, *options);
  set_examples(*command,
               "  paths run configs/two-clusters.yaml --trace trace -- noise_allreduce\n"
               "  paths analyze trace --html trace.html\n"
               "  paths analyze trace --what-if 'link:alpha,beta.latency=5ms'\n"
               "  paths analyze before --compare after\n");
  command->callback([options, &exit_code] { exit_code = run(*options) ? succeeded : failed; });
}

}  // namespace commands
