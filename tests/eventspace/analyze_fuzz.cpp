// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/analyze_fuzz.cpp — all functions of `paths analyze` with forged traces.
//
// Environment variables: PATHS_SEEDS=100000 runs more seeds than the default. PATHS_SEED=17 runs
// only this seed. If both are set, PATHS_SEEDS is the number of seeds and PATHS_SEED the first
// seed. PATHS_CPU_SECONDS=3600 runs further seeds until this much processor time is used.
// PATHS_KEEP=DIR writes each forged trace to this directory before the analysis, so the trace
// remains after a crash.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/visible.hpp"
#include "eventspace/analysis/analyze_trace.hpp"
#include "eventspace/analysis/report/compare.hpp"
#include "eventspace/export/csv.hpp"
#include "eventspace/export/noise.hpp"
#include "eventspace/export/otf2.hpp"
#include "eventspace/export/perfetto.hpp"
#include "eventspace/page/page.hpp"
#include "runtime/random.hpp"
#include "tests/eventspace/forged_trace.hpp"
#include "tests/support/environment.hpp"

namespace {

using namespace eventspace;
namespace fs = std::filesystem;

/// Returns whether the text contains no characters that control a terminal.
bool is_fit_for_terminal(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (base::visible(line) != line) return false;
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return true;
}

/// Runs one step of the analysis. The step may refuse any trace with a runtime_error. Any other
/// exception is a bug.
template <typename Step>
std::string attempt(const char* name, const Step& step) {
  try {
    step();
  } catch (const std::runtime_error& error) {
    const std::string_view reason = error.what();
    if (reason.empty()) return fmt::format("{}: no reason given", name);
    if (!is_fit_for_terminal(reason))
      return fmt::format("{}: control characters: {}", name, reason);
  } catch (const std::exception& error) {
    return fmt::format("{}: {}", name, error.what());
  }
  return "";
}

/// Analyzes a directory as the command `paths analyze` does, and returns the mistakes that it
/// finds.
class Analyzed {
 public:
  Analyzed(fs::path directory, fs::path output)
      : directory_(std::move(directory)), output_(std::move(output)) {}

  /// Runs the analysis with one kind of clock, without writing files and JSON, which takes longest.
  std::string run_part(bool is_best) { return run({is_best}, false); }
  std::string run_all() { return run({false, true}, true); }
  const std::optional<TraceReport>& report() const { return report_; }

 private:
  std::string run(std::initializer_list<bool> kinds_of_clocks, bool is_all) {
    fs::remove_all(output_);
    fs::create_directories(output_);
    std::string wrong = attempt("open", [&] { trace_.emplace(directory_); });
    if (!trace_) return wrong;
    for (const bool is_best : kinds_of_clocks) {
      std::optional<HostClocks> clocks;
      add(wrong, attempt("clocks", [&] {
            clocks = is_best ? HostClocks::best(*trace_) : HostClocks::own(*trace_);
          }));
      if (!clocks) continue;
      add(wrong, attempt("analysis", [&] { analyze(*clocks, is_all); }));
      if (is_all && is_best) add(wrong, run_exports(*clocks));
    }
    return wrong;
  }

  static void add(std::string& wrong, const std::string& more) {
    if (wrong.empty()) wrong = more;
  }

  void analyze(const HostClocks& clocks, bool is_all) {
    AnalysisOptions limits;
    limits.timeline_parts = page_timeline_parts;
    report_ = analyze_trace(*trace_, clocks, limits);
    check_json(print_json(to_json(*report_)), is_all);
    for (const std::size_t rows : {std::size_t{0}, std::size_t{20}})
      check_text(to_text(*report_, rows));
    PageHead head;
    head.losses = losses_of(*report_);
    const std::string json = page_json(trace_->structure, report_->report, head);
    check_json(json, is_all);
    if (!is_all) return;
    const Comparison comparison = compare(report_->report, report_->report);
    check(comparison.differences == 0, "a run differs from itself");
    check_json(print_json(to_json(comparison)), true);
    check_text(to_text(comparison, 20));
  }
  static void check_json(const std::string& json, bool is_parsed) {
    check(!json.empty() && (!is_parsed || nlohmann::json::accept(json)), "no JSON");
  }
  static void check_text(const std::string& text) {
    check(!text.empty(), "the text is empty");
    check(is_fit_for_terminal(text), "the text has control characters");
  }
  /// Throws logic_error if the check fails. A runtime_error would count as a correct refusal of the
  /// trace.
  static void check(bool is_right, const char* what) {
    if (!is_right) throw std::logic_error(what);
  }

  std::string run_exports(const HostClocks& clocks) {
    std::string wrong;
    add(wrong, attempt("csv", [&] { export_csv(*trace_, output_ / "csv", clocks); }));
    add(wrong, attempt("noise", [&] { export_noise(*trace_, output_ / "noise", {}); }));
    add(wrong, attempt("perfetto", [&] { export_perfetto(*trace_, output_ / "p", clocks); }));
    add(wrong, attempt("otf2", [&] { export_otf2(*trace_, output_ / "otf2", clocks); }));
    return wrong;
  }

  fs::path directory_;
  fs::path output_;
  std::optional<TraceDirectory> trace_;
  std::optional<TraceReport> report_;
};

fs::path corpus() { return fs::path(PATHS_SOURCE_DIR) / "tests/eventspace/forged_corpus"; }

std::vector<fs::path> corpus_entries() {
  std::vector<fs::path> entries(fs::directory_iterator(corpus()), {});
  std::sort(entries.begin(), entries.end());
  return entries;
}

/// Returns traces from which forged traces are made. Short traces are quick to analyze. Longer
/// traces have enough rounds for all figures.
std::vector<forged_trace::Trace> seeds(const fs::path& folder) {
  std::vector<forged_trace::Trace> traces;
  for (const int rounds : {3, 24}) {
    for (const bool is_virtual : {true, false}) {
      forged_trace::EveryKind(is_virtual, rounds).write(folder / "seed");
      traces.push_back(forged_trace::read(folder / "seed"));
      fs::remove_all(folder / "seed");
      if (is_virtual) continue;
      for (auto& file : traces.back().files) {
        file.header.clock = "steady";
        file.header.origin_utc_nanos = 1'700'000'000'000'000'000 + std::ssize(file.name);
      }
    }
  }
  return traces;
}

fs::path forged_directory(const fs::path& folder) {
  const char* const kept = std::getenv("PATHS_KEEP");
  return kept != nullptr ? fs::path(kept) : folder / "trace";
}

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;  // tidy: real time
}

constexpr std::uint64_t usual_seeds = test_support::or_fewer(200);

}  // namespace

TEST_CASE("analyze fuzz: a trace with records of every kind is analyzed completely") {
  const trace_sample::Folder folder;
  fs::create_directories(folder.path());
  for (const auto& trace : seeds(folder.path())) {
    forged_trace::write(folder.path() / "trace", trace);
    Analyzed analyzed(folder.path() / "trace", folder.path() / "out");
    CHECK(analyzed.run_all() == "");
    REQUIRE(analyzed.report());
    CHECK(analyzed.report()->report.coverage.unknown == 0);
    CHECK(analyzed.report()->report.groups.records > 0);
    CHECK(!analyzed.report()->report.conditionals.empty());
  }
}

TEST_CASE("analyze fuzz: a forged record of any kind is harmless with any field values") {
  const trace_sample::Folder folder;
  fs::create_directories(folder.path());
  forged_trace::Trace base = seeds(folder.path()).front();
  const std::uint64_t most = ~std::uint64_t{0};
  const std::uint64_t first = test_support::from_environment("PATHS_SEED", 0);
  const std::uint64_t kinds = std::getenv("PATHS_SEED") != nullptr ? 1 : 31;
  for (std::uint64_t kind = first; kind < first + kinds; ++kind) {
    forged_trace::Trace trace = base;
    for (std::uint64_t field = 0; field < forged_trace::record_fields; ++field) {
      for (const std::uint64_t value :
           {std::uint64_t{0}, std::uint64_t{1}, most, most - 1, std::uint64_t{1} << 63, most >> 1,
            std::uint64_t{0xffffffff}, std::uint64_t{0x80000000}}) {
        forged_trace::Chunk& chunk = trace.files.front().chunks.front();
        EventRecord record = chunk.record(0);
        forged_trace::set_field(record, 3, kind);
        forged_trace::set_field(record, field, value);
        if (field != 3) forged_trace::set_field(record, 3, kind);
        chunk.payload.append(reinterpret_cast<const char*>(&record), sizeof(record));
        ++chunk.head.count;
        chunk.head.payload_bytes = static_cast<std::uint32_t>(chunk.payload.size());
      }
    }
    const fs::path directory = forged_directory(folder.path());
    forged_trace::write(directory, trace);
    INFO("kind " << kind);
    Analyzed analyzed(directory, folder.path() / "out");
    CHECK(analyzed.run_all() == "");
    CHECK(analyzed.report());
  }
}

TEST_CASE("analyze fuzz: forged traces that once caused failures are handled") {
  const trace_sample::Folder folder;
  fs::create_directories(folder.path());
  for (const fs::path& entry : corpus_entries()) {
    INFO(entry.string());
    CHECK(Analyzed(entry, folder.path() / "out").run_all() == "");
  }
}

TEST_CASE("analyze fuzz: forged traces are analyzed or refused with a message") {
  const trace_sample::Folder folder;
  fs::create_directories(folder.path());
  std::vector<forged_trace::Trace> bases = seeds(folder.path());
  for (const fs::path& entry : corpus_entries()) bases.push_back(forged_trace::read(entry));
  const fs::path directory = forged_directory(folder.path());
  const auto seconds = test_support::from_environment("PATHS_CPU_SECONDS", 0);
  const bool is_one = std::getenv("PATHS_SEED") != nullptr;
  const std::uint64_t first = test_support::from_environment("PATHS_SEED", 1);
  const std::uint64_t count =
      test_support::from_environment("PATHS_SEEDS", is_one && seconds == 0 ? 1 : usual_seeds);
  std::uint64_t analyzed = 0;
  for (std::uint64_t seed = first;; ++seed) {
    if (seconds > 0 ? cpu_seconds() >= static_cast<double>(seconds) : seed >= first + count) break;
    runtime::Random random(seed);
    forged_trace::Trace trace = bases[random.below(bases.size())];
    forged_trace::mutate(trace, random);
    forged_trace::write(directory, trace);
    Analyzed one(directory, folder.path() / "out");
    const std::string wrong = random.chance(0.2) ? one.run_all() : one.run_part(random.chance(0.5));
    analyzed += one.report() ? 1 : 0;
    if (seconds > 0 && seed % 200 == 0)
      std::cerr << fmt::format("{} forged traces, {} analyzed, {:.0f} s of CPU\n", seed - first + 1,
                               analyzed, cpu_seconds());
    INFO("again with: PATHS_SEED=" << seed);
    if (!wrong.empty()) FAIL(wrong);
  }
  if (count > 100 || seconds > 0) CHECK(analyzed > 0);
}
