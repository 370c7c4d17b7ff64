// SPDX-License-Identifier: Apache-2.0
// bench/fixed_work/main.cpp — program `fixed_work`: measures the noise of this host
//
//   fixed_work --method ftq --duration 30s --json noise.json
//   fixed_work --method detour --threads 1 --noise noise.txt
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/say.hpp"
#include "base/units.hpp"
#include "base/version.hpp"
#include "bench/fixed_work/fixed_work.hpp"
#include "bench/support/output_files.hpp"
#include "bench/support/provenance.hpp"
#include "paths/run/command_line.hpp"

namespace {

using base::Nanos;
using bench::fixed_work::Method;

struct Options {
  bench::fixed_work::Options measured;
  std::string json, csv, noise;
};

CLI::Option* add_time(CLI::App& app, const std::string& name, std::function<void(Nanos)> set,
                      const std::string& help) {
  return app
      .add_option_function<std::string>(
          name,
          [name, set = std::move(set)](const std::string& text) {
            const auto time = base::parse_time(text);
            if (!time || *time <= Nanos(0))
              throw CLI::ValidationError(
                  name, fmt::format("expected {}, found '{}'", base::expected_time(text), text));
            set(*time);
          },
          help)
      ->type_name("TIME");
}

Method read_method(const std::string& text) {
  if (text == "fwq") return Method::fixed_work;
  if (text == "ftq") return Method::fixed_time;
  if (text == "detour") return Method::detour;
  throw CLI::ValidationError("--method",
                             fmt::format("expected fwq, ftq or detour, found '{}'", text));
}

std::uint32_t read_threads(const std::string& text) {
  const auto usable = static_cast<std::uint32_t>(bench::fixed_work::usable_processors().size());
  if (text == "all") return usable;
  const auto threads = base::parse_natural(text).value_or(0);
  if (threads < 1 || threads > usable)
    throw CLI::ValidationError("--threads",
                               fmt::format("expected 1 to {} or all, found '{}'", usable, text));
  return static_cast<std::uint32_t>(threads);
}

void add_options(CLI::App& app, Options& options) {
  auto& measured = options.measured;
  app.add_option_function<std::string>(
         "--method", [&](const std::string& text) { measured.method = read_method(text); },
         "fwq: how long each of many equal pieces of work takes; ftq: how much work is done in "
         "each interval; detour: gaps between looks at the clock")
      ->type_name("fwq|ftq|detour")
      ->default_str("fwq");
  add_time(
      app, "--duration", [&](Nanos time) { measured.duration = time; },
      "Duration of the measurement")
      ->default_str("10s");
  add_time(
      app, "--work", [&](Nanos time) { measured.work = time; },
      "Duration of a piece of fwq (default: 100us) or of a unit of ftq (default: a thousandth of "
      "the interval)");
  add_time(
      app, "--interval", [&](Nanos time) { measured.interval = time; },
      "Interval of ftq; for all methods, resolution of the search for periods")
      ->default_str("1ms");
  add_time(
      app, "--threshold", [&](Nanos time) { measured.threshold = time; },
      "Least duration of a detour (default: 1% of a piece or of the interval; detour: 9 times the "
      "shortest look at the clock)");
  app.add_option_function<std::string>(
         "--threads", [&](const std::string& text) { measured.threads = read_threads(text); },
         "Number of threads, each on a processor of its own")
      ->type_name("NUMBER|all")
      ->default_str("all");
  app.add_option("--json", options.json, "Write the figures to this file; - is standard output")
      ->type_name("FILE");
  app.add_option("--csv", options.csv, "Write every sample to this file")->type_name("FILE");
  app.add_option("--noise", options.noise,
                 "Write the detours as lines 'start_ns duration_ns', which noise_allreduce "
                 "--replay reads; with several threads one file each: NAME-PROCESSOR.EXTENSION")
      ->type_name("FILE");
  paths::set_examples(app,
                      "  fixed_work --method ftq --duration 30s --json noise.json\n"
                      "  fixed_work --method detour --threads 1 --noise noise.txt\n");
}

std::filesystem::path noise_file(const Options& options, std::uint32_t processor) {
  std::filesystem::path path = options.noise;
  if (path.empty() || options.measured.threads == 1) return path;
  const std::string extension = path.extension().string();
  return path.replace_filename(fmt::format("{}-{}{}", path.stem().string(), processor, extension));
}

/// Checks options and files before the measurement, which may take long.
void check(const Options& options) {
  const std::string mistake = options.measured.mistake();
  const auto end = mistake.find(':');
  if (!mistake.empty()) throw CLI::ValidationError(mistake.substr(0, end), mistake.substr(end + 2));
  bench::check_writable({{"--json", options.json}, {"--csv", options.csv}});
  const auto processors = bench::fixed_work::usable_processors();
  for (std::uint32_t i = 0; i < options.measured.threads; ++i)
    bench::check_writable({{"--noise", noise_file(options, processors[i]).string()}});
}

void run(const Options& options) {
  if (isatty(STDERR_FILENO) == 1)
    base::say(fmt::format("measuring for {} on {} processors\n",
                          base::format_time(options.measured.duration), options.measured.threads));
  const auto samples = bench::fixed_work::measure(options.measured);
  std::vector<bench::fixed_work::Findings> findings;
  for (const auto& thread : samples)
    findings.push_back(bench::fixed_work::analyze(thread, options.measured));
  auto json = bench::fixed_work::to_json(options.measured, findings);
  if (!bench::is_standard_output(options.json)) fmt::print("{}", bench::fixed_work::to_text(json));
  json["provenance"] = bench::provenance();
  bench::write_json(options.json, json);
  if (!options.csv.empty())
    bench::write_file("--csv", options.csv, bench::fixed_work::to_csv(options.measured, samples));
  for (const auto& thread : findings)
    if (!options.noise.empty())
      bench::write_file("--noise", noise_file(options, thread.processor).string(),
                        bench::fixed_work::to_noise(thread));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Measures how much of this host's processors something else takes.", "fixed_work");
  app.set_version_flag("--version", std::string(base::version));
  Options options;
  options.measured.threads = read_threads("all");
  add_options(app, options);
  return paths::run_main(app, argc, argv, [&] {
    check(options);
    run(options);
    return 0;
  });
}
