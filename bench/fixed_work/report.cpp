// SPDX-License-Identifier: Apache-2.0
// bench/fixed_work/report.cpp — findings as JSON and as text, and samples as CSV
#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <utility>

#include "bench/fixed_work/fixed_work.hpp"

namespace bench::fixed_work {
namespace {

using Json = nlohmann::ordered_json;

std::string_view short_name(Method method) {
  switch (method) {
    case Method::fixed_work: return "fwq";
    case Method::fixed_time: return "ftq";
    case Method::detour: break;
  }
  return "detour";
}

double microseconds(Nanos time) { return static_cast<double>(time.count()) / 1e3; }
double milliseconds(Nanos time) { return static_cast<double>(time.count()) / 1e6; }

Json to_json(const Distribution& distribution) {
  return {{"min", microseconds(distribution.min)},     {"mean", distribution.mean_nanos / 1e3},
          {"p50", microseconds(distribution.p50)},     {"p99", microseconds(distribution.p99)},
          {"p99_9", microseconds(distribution.p99_9)}, {"max", microseconds(distribution.max)}};
}

double rate(const Findings& findings) {
  const double seconds = milliseconds(findings.span) / 1e3;
  return seconds == 0 ? 0 : static_cast<double>(findings.detours.size()) / seconds;
}

Json to_json(const Findings& findings, Method method) {
  Json json = {
      {"processor", findings.processor},      {"span_ms", milliseconds(findings.span)},
      {"ended_early", findings.is_full},      {"threshold_us", microseconds(findings.threshold)},
      {"noise_share", findings.noise_share},  {"detours", findings.detours.size()},
      {"detours_per_second", rate(findings)}, {"detour_us", to_json(findings.detour)}};
  if (method == Method::fixed_work) json["piece_us"] = to_json(findings.work);
  if (method == Method::fixed_time) json["lost_in_interval_us"] = to_json(findings.work);
  json["periods"] = Json::array();
  for (const Period& period : findings.periods)
    json["periods"].push_back({{"ms", period.nanos / 1e6}, {"explains", period.explains}});
  return json;
}

std::string text_of_periods(const Json& thread) {
  if (thread["periods"].empty()) return "none";
  std::string text;
  for (const Json& period : thread["periods"])
    text += fmt::format("{}{:.4g} ms ({:.0f}%)", text.empty() ? "" : ", ",
                        period["ms"].get<double>(), 100 * period["explains"].get<double>());
  return text;
}

std::string row(const Json& thread, const Json& times) {
  std::string text = fmt::format("{:>9}", thread["processor"].get<std::uint32_t>());
  for (const char* name : {"min", "mean", "p50", "p99", "p99_9", "max"})
    text += fmt::format(" {:>11.2f}", times[name].get<double>());
  return text + '\n';
}

}  // namespace

Json to_json(const Options& options, std::span<const Findings> threads) {
  Json all = Json::array();
  double total = 0;
  for (const Findings& thread : threads) {
    all.push_back(to_json(thread, options.method));
    total += thread.noise_share;
  }
  Json json = {{"method", short_name(options.method)},
               {"duration_ms", milliseconds(options.duration)},
               {"interval_ms", milliseconds(options.interval)}};
  if (options.method != Method::detour) json["work_us"] = microseconds(options.work_or_default());
  json["noise_share"] = threads.empty() ? 0 : total / static_cast<double>(threads.size());
  json["threads"] = std::move(all);
  return json;
}

std::string to_text(const Json& json) {
  const auto method = json["method"].get<std::string>();
  const Json& threads = json["threads"];
  std::string text =
      fmt::format("{}: {} thread{}, {:.4g} s", method, threads.size(),
                  threads.size() == 1 ? "" : "s", json["duration_ms"].get<double>() / 1e3);
  if (method == "fwq") text += fmt::format(", pieces of {:.4g} us", json["work_us"].get<double>());
  if (method == "ftq")
    text += fmt::format(", intervals of {:.4g} ms, units of {:.4g} us",
                        json["interval_ms"].get<double>(), json["work_us"].get<double>());
  text += fmt::format(
      "; {:.3f}% noise\n\nprocessor      noise     detours    1/s   over us  periods "
      "(what they explain)\n",
      100 * json["noise_share"].get<double>());
  for (const Json& thread : threads)
    text += fmt::format(
        "{:>9} {:>9.3f}% {:>11} {:>6.4g} {:>9.4g}  {}\n", thread["processor"].get<std::uint32_t>(),
        100 * thread["noise_share"].get<double>(), thread["detours"].get<std::uint64_t>(),
        thread["detours_per_second"].get<double>(), thread["threshold_us"].get<double>(),
        text_of_periods(thread));
  const auto table = [&](std::string_view name, const std::string& title) {
    text += fmt::format("\n{}\nprocessor {:>11} {:>11} {:>11} {:>11} {:>11} {:>11}\n", title, "min",
                        "mean", "p50", "p99", "p99.9", "max");
    for (const Json& thread : threads) text += row(thread, thread[std::string(name)]);
  };
  table("detour_us", "us of a detour");
  if (method == "fwq") table("piece_us", "us of a piece of work");
  if (method == "ftq") table("lost_in_interval_us", "us lost in an interval");
  for (const Json& thread : threads)
    if (thread["ended_early"].get<bool>())
      text += fmt::format(
          "\nprocessor {} had no room for more detours and ended after {:.4g} s: "
          "raise --threshold\n",
          thread["processor"].get<std::uint32_t>(), thread["span_ms"].get<double>() / 1e3);
  return text;
}

std::string to_csv(const Options& options, std::span<const Samples> threads) {
  const auto interval = options.interval.count();
  std::string text;
  auto out = std::back_inserter(text);
  switch (options.method) {
    case Method::fixed_work: text = "processor,start_ns,duration_ns\n"; break;
    case Method::fixed_time: text = "processor,start_ns,units\n"; break;
    case Method::detour: text = "processor,start_ns,gap_ns\n"; break;
  }
  for (const Samples& thread : threads) {
    Nanos begin{0};
    for (const Nanos end : thread.ends) {
      fmt::format_to(out, "{},{},{}\n", thread.processor, begin.count(), (end - begin).count());
      begin = end;
    }
    for (std::size_t i = 0; i < thread.done.size(); ++i)
      fmt::format_to(out, "{},{},{}\n", thread.processor, interval * static_cast<std::int64_t>(i),
                     thread.done[i]);
    for (const Detour& gap : thread.gaps)
      fmt::format_to(out, "{},{},{}\n", thread.processor, gap.start.count(), gap.duration.count());
  }
  return text;
}

std::string to_noise(const Findings& findings) {
  std::string text;
  auto out = std::back_inserter(text);
  for (const Detour& detour : findings.detours)
    fmt::format_to(out, "{}\t{}\n", detour.start.count(), detour.duration.count());
  fmt::format_to(out, "{}\t0\n", findings.span.count());
  return text;
}

}  // namespace bench::fixed_work
