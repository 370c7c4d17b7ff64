// SPDX-License-Identifier: Apache-2.0
// bench/noise_allreduce/noise_allreduce.cpp — iterations of a thread, and report of figures to
// thread 0
#include "bench/noise_allreduce/noise_allreduce.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <span>
#include <stdexcept>

#include "base/errors.hpp"
#include "base/near_match.hpp"
#include "base/say.hpp"
#include "bench/support/output_files.hpp"
#include "bench/support/provenance.hpp"
#include "bench/support/report_element.hpp"
#include "pastset/tuple.hpp"
#include "paths/host/host.hpp"
#include "paths/run/command_line.hpp"
#include "paths/run/needs.hpp"

namespace bench {
namespace {

constexpr std::uint64_t warmup_on_steady_clock = 10;

const pastset::Template& report_template() {
  static const pastset::Template bytes = *pastset::Template::parse("bytes");
  return bytes;
}

ComputeOptions::Kind read_compute(const NoiseOptions& options, bool is_virtual) {
  using Kind = ComputeOptions::Kind;
  if (options.compute.empty()) return is_virtual ? Kind::declared : Kind::sort;
  const std::vector<std::string_view> names = {"sort", "spin", "sleep", "declared", "replay"};
  const auto found = std::find(names.begin(), names.end(), options.compute);
  if (found == names.end())
    throw std::invalid_argument(
        fmt::format("--compute: expected {}, found '{}'", base::either_of(names), options.compute));
  const auto kind = static_cast<Kind>(found - names.begin());
  if (is_virtual && (kind == Kind::sort || kind == Kind::spin))
    throw std::invalid_argument(
        fmt::format("--compute {} takes real time, which does not pass on the virtual clock; "
                    "expected declared, sleep or replay",
                    options.compute));
  if ((kind == Kind::replay) == options.replay.empty())
    throw std::invalid_argument("--compute replay and --replay FILE or DIR need each other");
  return kind;
}

bool is_first_of_cluster(paths::Thread& thread) {
  const paths::Plan& plan = thread.host().plan();
  if (thread.index() != 0) return false;
  const std::uint32_t cluster = plan.hosts[thread.host().index()].cluster;
  const auto first = std::find_if(plan.hosts.begin(), plan.hosts.end(), [&](const auto& host) {
    return host.cluster == cluster && host.threads > 0;
  });
  return &*first == &plan.hosts[thread.host().index()];
}

double process_cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace

/// Checks that memory suffices for the durations that threads keep: one duration for each
/// iteration.
void NoiseAllreduce::check_durations(const paths::Plan& plan, const paths::RunOptions& run) const {
  const std::uint64_t threads =
      run.is_one_host ? plan.hosts[run.host].threads : plan.thread_count();
  paths::check_memory(threads * options_.iterations * sizeof(Nanos),
                      fmt::format("--iterations: keeping {} times of each of {} threads",
                                  options_.iterations, threads));
}

void NoiseAllreduce::prepare(const paths::Plan& plan, const paths::RunOptions& run) {
  is_virtual_ = run.clock == runtime::ClockKind::virtual_time;
  collective_ = find_collective(plan, options_.collective);
  if (options_.iterations == 0)
    throw std::invalid_argument("--iterations: expected 1 or more, found 0");
  check_durations(plan, run);
  values_.emplace(collective_, options_.values, options_.iterations, plan.thread_count());
  warmup_ = options_.warmup.value_or(is_virtual_ ? 0 : warmup_on_steady_clock);
  compute_.kind = read_compute(options_, is_virtual_);
  const auto time = base::parse_time(options_.compute_time);
  if (!time)
    throw std::invalid_argument(fmt::format("--compute-time: expected {}, found '{}'",
                                            base::expected_time(options_.compute_time),
                                            options_.compute_time));
  compute_.time = *time;
  // at_speed() throws if the computation would take too long on a slow host.
  for (const auto& host : plan.hosts) at_speed(*time, host.speed);
  if (std::filesystem::is_directory(options_.replay)) {
    compute_.times = std::make_shared<const ComputationTimes>(options_.replay, collective_.name,
                                                              plan.thread_count());
  } else if (!options_.replay.empty()) {
    compute_.noise = std::make_shared<const Noise>(options_.replay);
  }
  compute_.variation = options_.variation_percent / 100;
  for (const std::string& text : options_.noise)
    compute_.injected.push_back(InjectedNoise::parse(text, plan));
  is_split_ = run.is_one_host && plan.hosts.size() > 1;
  if (is_split_) check_report_element(plan);
  reporting_hosts_ = reporting_hosts(plan);
  const bool is_ours = !run.is_one_host || run.host == first_host(plan);
  if (!is_ours) return;
  check_writable({{"--json", options_.json}, {"--decisions", options_.decisions}});
  interruption_.emplace();
}

void NoiseAllreduce::run(paths::Thread& thread) {
  ThreadFigures mine;
  mine.rank = thread.rank();
  iterate(thread, mine);
  {
    runtime::DeferredWakes wakes;
    runtime::Lock lock(mutex_);
    by_host_[thread.host().index()].push_back(mine);
    ended_.wake_all(wakes);
  }
  const bool is_first = thread.index() == 0;
  if (is_first && is_split_ && thread.has_path(report_element)) report(thread);
}

void NoiseAllreduce::iterate(paths::Thread& thread, ThreadFigures& mine) {
  paths::Path& path = thread.path(collective_.name);
  Compute compute(thread, compute_);
  base::RunningDigest conditions;
  std::vector<Nanos> durations;
  durations.reserve(options_.iterations);
  for (std::uint64_t round = 0; round < warmup_; ++round) {
    compute.run();
    path.move(values_->warming_up(mine.rank));
  }
  Progress progress("iteration", options_.iterations, mine.rank == 0);
  const Nanos start = thread.now();
  Nanos begin = start;
  for (std::uint64_t iteration = 0; iteration < options_.iterations; ++iteration) {
    progress.at(iteration);
    if (mine.rank == 0) end_if_asked(durations);
    compute.run();
    const Nanos computed = thread.now();
    const paths::Result result = move(path, mine.rank, iteration, durations);
    const Nanos end = thread.now();
    mine.compute += computed - begin;
    mine.allreduce += end - computed;
    mine.proved += result.proved ? 1 : 0;
    conditions.add(std::as_bytes(std::span(&result.condition, 1)));
    note(thread, mine, iteration + 1, result);
    durations.push_back(end - begin);
    begin = end;
  }
  mine.elapsed = begin - start;
  mine.conditions = conditions.value();
  if (mine.rank == 0) {
    runtime::Lock lock(mutex_);
    iterations_of_thread_0_ = durations;
  }
  mine.spread = spread_of(std::move(durations));
}

/// Moves the value of an iteration into the path. If Ctrl-C ends other hosts before this host, the
/// move fails on this host. In that case rank 0 writes the figures so far.
paths::Result NoiseAllreduce::move(paths::Path& path, std::uint32_t rank, std::uint64_t iteration,
                                   const std::vector<Nanos>& durations) {
  try {
    return path.move(values_->of(rank, iteration));
  } catch (const std::exception&) {
    if (rank == 0) end_if_asked(durations);
    throw;
  }
}

void NoiseAllreduce::end_if_asked(const std::vector<Nanos>& durations) const {
  if (interruption_)
    bench::end_if_asked(*interruption_, "noise_allreduce", durations, options_.iterations,
                        options_.json);
}

void NoiseAllreduce::note(paths::Thread& thread, ThreadFigures& mine, std::uint64_t round,
                          const paths::Result& result) {
  mine.decisions.add(round, warmup_, result);
  if (options_.decisions.empty() || !is_first_of_cluster(thread)) return;
  runtime::Lock lock(mutex_);
  decided_[thread.host().index()].push_back({round, number_of(result.sequence, warmup_),
                                             result.condition == paths::Condition::unchecked,
                                             result.origin});
}

// ---- reports to rank 0 -----------------------------------------------------------------------

void NoiseAllreduce::report(paths::Thread& thread) {
  wait_for_siblings(thread);
  paths::Path& path = thread.path(report_element);
  path.enter(report_template());
  if (thread.rank() != 0) {
    path.move(encode_report(thread));
    return;
  }
  for (const std::uint32_t host : reporting_hosts_)
    if (host != thread.host().index()) decode_report(path.observe().payload);
}

void NoiseAllreduce::wait_for_siblings(paths::Thread& thread) {
  const paths::Host& host = thread.host();
  const auto deadline = host.deadline();
  runtime::Lock lock(mutex_);
  while (by_host_[host.index()].size() < host.plan().hosts[host.index()].threads)
    if (ended_.wait(lock, deadline, {"the threads of host", host.name()}) ==
        runtime::Woken::expired)
      throw std::runtime_error(
          fmt::format("the threads of host {} did not end in time to report", host.name()));
}

base::Payload NoiseAllreduce::encode_report(paths::Thread& thread) {
  const std::uint32_t host = thread.host().index();
  nlohmann::json report = {{"host", host},
                           {"threads", nlohmann::json::array()},
                           {"wan", nlohmann::json::array()},
                           {"cpu", process_cpu_seconds()}};
  for (const auto& [number, wan] : thread.path(report_element).traffic(collective_.name))
    report["wan"].push_back({number, wan.messages, wan.bytes});
  runtime::Lock lock(mutex_);
  for (const ThreadFigures& one : by_host_[host])
    report["threads"].push_back({one.rank, one.compute.count(), one.allreduce.count(),
                                 one.elapsed.count(), one.spread.p50.count(),
                                 one.spread.p99.count(), one.spread.max.count(), one.proved,
                                 one.conditions.high, one.conditions.low, to_json(one.decisions)});
  const std::string text = report.dump();
  pastset::TupleWriter tuple(report_template());
  return tuple.put_bytes(std::as_bytes(std::span(text))).payload();
}

void NoiseAllreduce::decode_report(const base::Payload& tuple) {
  const pastset::TupleReader reader(report_template(), tuple);
  const auto bytes = reader.bytes(0);
  const auto report = nlohmann::json::parse(
      std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  std::vector<ThreadFigures> threads;
  for (const auto& one : report.at("threads")) {
    const auto time = [&one](int place) { return Nanos(one.at(place).get<std::int64_t>()); };
    threads.push_back({one.at(0),
                       time(1),
                       time(2),
                       time(3),
                       {time(4), time(5), time(6)},
                       one.at(7),
                       base::Digest{one.at(8), one.at(9)},
                       decisions_from_json(one.at(10))});
  }
  runtime::Lock lock(mutex_);
  by_host_[report.at("host")] = std::move(threads);
  cpu_seconds_[report.at("host")] = report.at("cpu");
  for (const auto& entry : report.at("wan")) {
    // Several hosts report the traffic of the same gateway. Counts only grow, so the largest count
    // is the latest.
    paths::Traffic& wan = wan_[entry.at(0)];
    wan.messages = std::max(wan.messages, entry.at(1).get<std::uint64_t>());
    wan.bytes = std::max(wan.bytes, entry.at(2).get<std::uint64_t>());
  }
}

// ---- results after the run -------------------------------------------------------------------

Figures NoiseAllreduce::figures(const paths::RunSummary& summary) const {
  Figures figures{summary.plan};
  figures.collective = collective_;
  figures.iterations = options_.iterations;
  figures.rounds = warmup_ + options_.iterations;
  figures.clock = summary.clock;
  figures.seed = summary.seed;
  figures.iterations_of_thread_0 = iterations_of_thread_0_;
  for (const auto& [host, threads] : by_host_)
    figures.threads.insert(figures.threads.end(), threads.begin(), threads.end());
  std::sort(figures.threads.begin(), figures.threads.end(),
            [](const auto& a, const auto& b) { return a.rank < b.rank; });
  figures.wan = wan_;
  for (const paths::Host* host : summary.hosts)
    figures.wan[host->index()] = host->deployment().traffic().to_other_clusters(collective_.name);
  figures.wan_unknown = hosts_with_unknown_wan(summary.plan, collective_.name, figures.wan);
  figures.cpu_seconds = cpu_seconds_;
  if (is_split_)
    for (const paths::Host* host : summary.hosts)
      figures.cpu_seconds[host->index()] = process_cpu_seconds();
  return figures;
}

/// Writes the decisions (see Decided) of each cluster whose first thread runs in this process.
void NoiseAllreduce::write_decisions(const paths::Plan& plan) const {
  if (options_.decisions.empty()) return;
  const std::vector<std::string> clusters = computing_clusters(plan);
  std::string text = "cluster,round,about,origin,from,nanos\n";
  for (const auto& [host, rounds] : decided_)
    text += to_csv(plan.cluster_of(host), rounds, clusters);
  write_file("--decisions", options_.decisions, text);
}

void NoiseAllreduce::finish(const paths::RunSummary& summary) const {
  const std::uint32_t first = first_host(summary.plan);
  const bool is_ours = std::any_of(summary.hosts.begin(), summary.hosts.end(),
                                   [&](const auto* host) { return host->index() == first; });
  if (!is_ours) return;
  const Figures all = figures(summary);
  if (all.threads.size() < summary.plan.thread_count())
    base::say(fmt::format(
        "noise_allreduce: figures of {} of {} threads only{}; an element '{}' with reach: all "
        "would bring those of the others\n",
        all.threads.size(), summary.plan.thread_count(),
        all.wan_unknown.empty() ? "" : ", and no WAN figures of other hosts", report_element));
  if (const std::string wrong = disagreement(all); !wrong.empty()) throw std::runtime_error(wrong);
  write_decisions(summary.plan);
  nlohmann::ordered_json json = to_json(all);
  if (!is_standard_output(options_.json)) fmt::print("{}", to_table(json));
  std::fflush(stdout);
  json["provenance"] = provenance(summary.wall_seconds);
  write_json(options_.json, json);
}

}  // namespace bench
