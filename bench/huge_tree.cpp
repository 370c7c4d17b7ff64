// SPDX-License-Identifier: Apache-2.0
// bench/huge_tree.cpp — cost of simulating one allreduce tree over very many threads
//
//   huge_tree --clusters 1000 --hosts 10 --threads 10 --allreduces 10
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/errors.hpp"
#include "base/settings.hpp"
#include "base/version.hpp"
#include "bench/support/provenance.hpp"
#include "paths/run/command_line.hpp"
#include "paths/run/needs.hpp"
#include "paths/run/program.hpp"
#include "wrappers/all.hpp"

namespace {

struct Options {
  std::uint32_t clusters = 1000;
  std::uint32_t hosts = 10;
  std::uint32_t threads = 10;
  std::uint32_t allreduces = 10;
  std::size_t stack_kib = 32;
};

/// Returns a config in which each further cluster has a link to the first cluster. The tree's root
/// is in the first cluster.
std::string config(const Options& options) {
  std::string text = "clusters:\n";
  for (std::uint32_t i = 0; i < options.clusters; ++i)
    text += fmt::format("  c{}: {{hosts: {}, threads: {}, network: {{latency: 50us}}}}\n", i,
                        options.hosts, options.threads);
  text += options.clusters > 1 ? "links:\n" : "";
  for (std::uint32_t i = 1; i < options.clusters; ++i)
    text += fmt::format("  - {{between: [c0, c{}], latency: 10ms}}\n", i);
  return text + "collectives:\n  sum: {operation: sum, template: i64, algorithm: sequential}\n";
}

/// Measures the seconds of real time since the last lap of the stop watch. The run uses the virtual
/// clock, so this class reads the steady clock itself.
class StopWatch {
 public:
  double lap() {
    const base::Nanos now = wall_.now();
    const std::chrono::duration<double> since = now - last_;
    last_ = now;
    return since.count();
  }

 private:
  const runtime::Runtime wall_;
  base::Nanos last_{0};
};

int run(const Options& options) {
  StopWatch watch;
  const auto plan = std::make_shared<const paths::Plan>(paths::read_plan(
      base::parse_settings(config(options), "huge_tree.yaml"), wrappers::all_kinds()));
  const double expand_seconds = watch.lap();
  const std::uint64_t expand_bytes = bench::peak_memory_bytes();

  paths::RunOptions run_options;
  run_options.clock = runtime::ClockKind::virtual_time;
  run_options.stack_bytes = options.stack_kib * 1024;
  paths::check_needs(*plan, run_options);
  double wire_seconds = 0, allreduce_seconds = 0;
  const std::int64_t expected = plan->thread_count();
  std::uint32_t begun = 0, ended = 0;
  base::Nanos took{0};
  const auto failures =
      paths::run_plan(plan, wrappers::all_kinds(), run_options, [&](paths::Thread& thread) {
        if (begun++ == 0) wire_seconds = watch.lap();
        paths::Path& path = thread.path("sum");
        for (std::uint32_t i = 0; i < options.allreduces; ++i) {
          const auto sum = path.move_value(std::int64_t{1}).value<std::int64_t>();
          ENSURE_EQ(sum, expected);
        }
        if (++ended < expected) return;
        allreduce_seconds = watch.lap();
        took = thread.now();
      });
  if (!failures.empty()) throw std::runtime_error(failures.front());
  const double end_seconds = watch.lap();

  const nlohmann::ordered_json json = {
      {"threads", plan->thread_count()},
      {"hosts", plan->hosts.size()},
      {"allreduces", options.allreduces},
      {"seconds",
       {{"expand", expand_seconds},
        {"wire", wire_seconds},
        {"allreduces", allreduce_seconds},
        {"end", end_seconds}}},
      {"virtual_ms_per_allreduce", static_cast<double>(took.count()) / 1e6 / options.allreduces},
      {"peak_rss_bytes", {{"expand", expand_bytes}, {"run", bench::peak_memory_bytes()}}}};
  fmt::print("{}\n", json.dump(2));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times one allreduce tree over very many threads on the virtual clock.",
               "huge_tree");
  app.set_version_flag("--version", std::string(base::version));
  Options options;
  const CLI::Range at_least_one(1u, 10'000'000u);
  app.add_option("--clusters", options.clusters)
      ->check(CLI::Range(1u, 100'000u))
      ->capture_default_str();
  app.add_option("--hosts", options.hosts, "Hosts of a cluster")
      ->check(at_least_one)
      ->capture_default_str();
  app.add_option("--threads", options.threads, "Threads of a host")
      ->check(at_least_one)
      ->capture_default_str();
  app.add_option("--allreduces", options.allreduces)->check(at_least_one)->capture_default_str();
  app.add_option("--stack-kib", options.stack_kib, "Address space of a thread's stack")
      ->capture_default_str();
  return paths::run_main(app, argc, argv, [&] { return run(options); });
}
