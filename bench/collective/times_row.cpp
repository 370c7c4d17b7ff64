// SPDX-License-Identifier: Apache-2.0
// bench/collective/times_row.cpp — figures of a row, as a line of the table and as JSON
#include "bench/collective/times_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace bench {
namespace {

double median_of(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

nlohmann::ordered_json json_of_root(const TimesRow& row, std::size_t root) {
  nlohmann::ordered_json json{{"algorithm", row.algorithms[root]}};
  if (!row.times.empty()) {
    const std::size_t iterations = row.times.size() / row.algorithms.size();
    const auto first = row.times.begin() + static_cast<std::ptrdiff_t>(root * iterations);
    const auto last = first + static_cast<std::ptrdiff_t>(iterations);
    json["ms"] = milliseconds(percentile({first, last}, 50));
  }
  json["price_ms"] = milliseconds(row.prices[root].time);
  json["wan"] = {{"messages", row.prices[root].across.messages},
                 {"bytes", row.prices[root].across.bytes}};
  return json;
}

}  // namespace

double milliseconds(base::Nanos time) { return static_cast<double>(time.count()) / 1e6; }

base::Nanos percentile(std::vector<base::Nanos> times, std::size_t percent) {
  std::sort(times.begin(), times.end());
  const std::size_t rank = (times.size() * percent + 99) / 100;  // from 1; rounded up
  return times[std::max<std::size_t>(rank, 1) - 1];
}

base::Nanos TimesRow::price() const {
  base::Nanos sum{0};
  for (const pricing::Price& one : prices) sum += one.time;
  return sum / std::max<std::int64_t>(static_cast<std::int64_t>(prices.size()), 1);
}

std::string TimesRow::algorithm() const {
  const std::set<std::string> all(algorithms.begin(), algorithms.end());
  return all.size() == 1 ? *all.begin() : fmt::format("{} schedules, by root", all.size());
}

std::uint64_t TimesRow::wan(std::uint64_t pricing::Flow::*what) const {
  std::uint64_t sum = 0;
  for (const pricing::Price& one : prices) sum += one.across.*what;
  return sum;
}

void print_head(const CollectiveOptions& options, collectives::Collective collective,
                std::uint32_t members) {
  const std::string all =
      options.shows_all ? fmt::format(" {:>12} {:>12} {:>12}", "min", "p99", "max") : "";
  fmt::print("# {} by {}, {} thread{}\n# {:>10} {:>12}{} {:>12} {:>12} {:>7}  {}{}\n",
             name_of(collective), options.schedule, members, members == 1 ? "" : "s", "bytes", "ms",
             all, "price", "bound", "ratio", options.overlaps ? "overlap  " : "", "schedule");
}

void print_row(const CollectiveOptions& options, const TimesRow& row) {
  const bool is_measured = !row.times.empty();
  const double median = milliseconds(is_measured ? percentile(row.times, 50) : row.price());
  std::string all;
  if (options.shows_all && !is_measured) all = fmt::format(" {0:>12} {0:>12} {0:>12}", "-");
  if (options.shows_all && is_measured)
    all = fmt::format(" {:>12.4f} {:>12.4f} {:>12.4f}", milliseconds(percentile(row.times, 0)),
                      milliseconds(percentile(row.times, 99)),
                      milliseconds(percentile(row.times, 100)));
  const auto optional = [](base::Nanos time) {
    return time.count() > 0 ? fmt::format("{:.4f}", milliseconds(time)) : "-";
  };
  const std::string ratio =
      row.bound.count() > 0 ? fmt::format("{:.3f}", median / milliseconds(row.bound)) : "-";
  const std::string overlap =
      row.overlapped.empty() ? "" : fmt::format("{:>7.3f}  ", median_of(row.overlapped));
  fmt::print("  {:>10} {:>12}{} {:>12} {:>12} {:>7}  {}{}\n", row.bytes,
             is_measured ? fmt::format("{:.4f}", median) : "-", all, optional(row.price()),
             optional(row.bound), ratio, overlap, row.algorithm());
}

nlohmann::ordered_json json_of(const TimesRow& row) {
  const bool is_measured = !row.times.empty();
  double sum = 0;
  for (const base::Nanos time : row.times) sum += milliseconds(time);
  const double median = milliseconds(is_measured ? percentile(row.times, 50) : row.price());
  nlohmann::ordered_json json{{"collective", name_of(row.collective)},
                              {"algorithm", row.algorithm()},
                              {"bytes", row.bytes}};
  if (is_measured) {
    json["ms"] = sum / static_cast<double>(row.times.size());
    json["p50"] = median;
    json["p99"] = milliseconds(percentile(row.times, 99));
  }
  const auto optional = [](base::Nanos time) {
    return time.count() > 0 ? nlohmann::ordered_json(milliseconds(time)) : nullptr;
  };
  if (!row.overlapped.empty()) json["overlap"] = median_of(row.overlapped);
  json["price_ms"] = optional(row.price());
  json["bound_ms"] = optional(row.bound);
  json["ratio"] =
      row.bound.count() > 0 ? nlohmann::ordered_json(median / milliseconds(row.bound)) : nullptr;
  if (row.prices.empty())  // no schedule, so the number of messages is unknown
    json["wan"] = nullptr;
  else
    json["wan"] = {{"messages", row.wan(&pricing::Flow::messages)},
                   {"bytes", row.wan(&pricing::Flow::bytes)}};
  for (std::size_t root = 0; row.prices.size() > 1 && root < row.prices.size(); ++root)
    json["by_root"].push_back(json_of_root(row, root));
  return json;
}

}  // namespace bench
