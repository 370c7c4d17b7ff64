// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/transfer_text.cpp — transfers between clusters as text for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/visible.hpp"
#include "eventspace/analysis/report/report.hpp"
#include "eventspace/analysis/report/units.hpp"

namespace eventspace {
namespace {

constexpr std::size_t transfer_paths_shown = 6;

std::string line_of_path(const TransferReport& one) {
  const std::string name =
      one.from.empty() ? "all" : base::visible(fmt::format("{} to {}", one.from, one.to));
  if (one.messages == 0 && one.used_nanos == 0) return fmt::format("  {:<22} nothing\n", name);
  return fmt::format(
      "  {:<22} {:>9} {:>13} {:>5} {:>7} {:>7.2f} {:>7.2f} {:>6.1f} {:>6} {:>11.3f} {:>11.3f}\n",
      name, one.messages, one.bytes, one.most, one.streams > 0 ? std::to_string(one.streams) : "-",
      one.mean, one.mean_within, 100 * one.some_share,
      one.all_share ? fmt::format("{:.1f}", 100 * *one.all_share) : "-", ms(one.first_nanos),
      ms(one.last_nanos));
}

std::string what_is_counted(const TransfersReport& report) {
  const auto has = [&](TransferBasis basis) {
    return std::any_of(report.paths.begin(), report.paths.end(),
                       [basis](const TransferReport& one) { return one.basis == basis; });
  };
  if (!has(TransferBasis::streams) && !has(TransferBasis::messages))
    return "messages at once, from sending to arrival";
  if (has(TransferBasis::streams))
    return has(TransferBasis::messages) || has(TransferBasis::ends) ? "streams or messages at once"
                                                                    : "streams at once";
  return "messages at once";
}

}  // namespace

std::string to_text(const TransfersReport& report, std::size_t rows) {
  if (!report.has_several_clusters) return "";
  if (!report.has_common_clock)
    return rows == 0 ? ""
                     : "\nBetween clusters: how many messages at once needs one clock: --utc\n";
  if (report.all.messages == 0 && report.all.used_nanos == 0) return "";
  std::string text =
      fmt::format("\nBetween clusters: {} [one clock of all hosts]\n", what_is_counted(report));
  text += fmt::format("  {:<22} {:>9} {:>13} {:>5} {:>7} {:>7} {:>7} {:>6} {:>6} {:>11} {:>11}\n",
                      "path", "messages", "bytes", "peak", "streams", "mean", "within", "some %",
                      "all %", "from ms", "to ms");
  std::vector<const TransferReport*> order;
  for (const TransferReport& one : report.paths) order.push_back(&one);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->used_nanos > b->used_nanos; });
  if (order.size() > 1) text += line_of_path(report.all);
  const std::size_t shown = std::min(std::max(transfer_paths_shown, rows), order.size());
  for (std::size_t place = 0; place < shown; ++place) text += line_of_path(*order[place]);
  if (order.size() > shown) text += fmt::format("  ... and {} more\n", order.size() - shown);
  if (report.late > 0) text += fmt::format("  {} arrived too late for peaks\n", report.late);
  return text;
}

}  // namespace eventspace
