// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/group_text.cpp — group operations as text for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "eventspace/analysis/report/report.hpp"
#include "eventspace/analysis/report/units.hpp"
#include "eventspace/analysis/report/visible_text.hpp"
#include "eventspace/group_record.hpp"

namespace eventspace {
namespace {

constexpr std::size_t kinds_shown = 5;
constexpr std::size_t lasts_shown = 3;

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array<std::string_view, 4> units = {"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  auto value = static_cast<double>(bytes);
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

std::string sizes_text(const Summary& bytes) {
  if (bytes.min == bytes.max) return bytes_text(bytes.max);
  return fmt::format("{} to {}", bytes_text(bytes.min), bytes_text(bytes.max));
}

class GroupText : private TextWithTables {
 public:
  GroupText(const GroupsReport& report, std::size_t rows) : TextWithTables(rows), report_(report) {}

  std::string print() {
    line("\nGroups: operations, dearest first [{}]",
         report_.has_common_clock ? "one clock of all hosts" : basis_of_one_clock);
    if (!report_.has_common_clock)
      line("  the last of several hosts, and the cause, need one clock: --utc");
    std::vector<const GroupReport*> order;
    for (const GroupReport& one : report_.operations) order.push_back(&one);
    std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
      return a->time.mean * static_cast<double>(a->operations) >
             b->time.mean * static_cast<double>(b->operations);
    });
    const std::size_t shown = std::min(std::max(kinds_shown, rows_), order.size());
    for (std::size_t place = 0; place < shown; ++place) operations(*order[place]);
    if (order.size() > shown) line("  ... and {} more", order.size() - shown);
    if (rows_ > 0) {
      members();
      links("between clusters", report_.clusters);
      links("between hosts", report_.hosts);
    }
    return std::move(text_);
  }

 private:
  void operations(const GroupReport& one) {
    line("  {}", words_of({one.group, one.collective, one.algorithm, one.reason, one.row}));
    if (one.failed + one.incomplete > 0)
      line("    {} failed, {} incomplete", one.failed, one.incomplete);
    if (one.operations == 0) return;
    line("    {} operations of {}: median {:.3f} ms, mean {:.3f}, p99 {:.3f}", one.operations,
         sizes_text(one.bytes), ms(one.time.p50), ms(one.time.mean), ms(one.time.p99));
    if (one.after_last.count > 0)
      line("    after the last had arrived: median {:.3f} ms, mean {:.3f}", ms(one.after_last.p50),
           ms(one.after_last.mean));
    prediction(one);
    line("    members waited {:.3f} ms on average for the last one{}, p99 {:.3f}",
         ms(one.wait.mean), report_.has_common_clock ? "" : " of their host", ms(one.wait.p99));
    causes(one);
    lasts("thread", "the next one", one.last_threads, one.operations);
    lasts("host", "the others", one.last_hosts, one.operations);
  }

  void prediction(const GroupReport& one) {
    if (one.predicted.count == 0) return;
    const std::string took =
        one.compared == 0 ? "" : fmt::format(", took {:.2f} times this", one.per_predicted);
    line("    predicted: median {:.3f} ms{}", ms(one.predicted.p50), took);
    if (one.is_stale())
      line("    stale: took {:.2f} times what tuning measured; run `paths tune` again",
           one.per_tuned);
  }

  void causes(const GroupReport& one) {
    std::int64_t all = 0;
    for (const std::int64_t nanos : one.by_cause) add_to(all, nanos);
    for (std::size_t cause = 0; cause < group_causes; ++cause) {
      if (one.by_cause[cause] == 0) continue;
      const auto most =
          std::find_if(one.parts.begin(), one.parts.end(), [&](const GroupReport::Part& part) {
            return part.cause == static_cast<GroupCause>(cause);
          });
      line("    {:<15} {:>10.3f} s {:>5.1f}%{}", group_cause_name(static_cast<GroupCause>(cause)),
           seconds(one.by_cause[cause]),
           100 * static_cast<double>(one.by_cause[cause]) / static_cast<double>(all),
           most == one.parts.end()
               ? ""
               : fmt::format("  most: {}, {:.3f} s", most->what, seconds(most->nanos)));
    }
  }

  void lasts(std::string_view what, std::string_view behind,
             const std::vector<GroupReport::Last>& lasts, std::uint64_t operations) {
    for (std::size_t place = 0; place < std::min(std::max(lasts_shown, rows_), lasts.size());
         ++place)
      line("    arrived last: {} {} at {} of {}, {:.3f} ms (mean) behind {}", what,
           lasts[place].name, lasts[place].operations, operations,
           ms(lasts[place].late_nanos) / static_cast<double>(lasts[place].operations), behind);
  }

  void members() {
    if (report_.members.empty()) return;
    line("\nMembers of groups: between operations, ms [{}]", basis_of_one_clock);
    line("  {:<24} {:<16} {:>9} {:>9} {:>9} {:>9} {:>6} {:>10}", "thread", "group", "mean",
         "deviation", "median", "p99", "last", "late");
    table(
        report_.members, [](const GroupMemberReport& one) { return one.late_nanos; },
        [&](const GroupMemberReport& one) {
          line("  {:<24} {:<16} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f} {:>6} {:>10.3f}", one.name,
               one.group, ms(one.computation.mean), ms(one.computation.deviation),
               ms(one.computation.p50), ms(one.computation.p99), one.last, ms(one.late_nanos));
        });
  }

  void links(std::string_view between, const std::vector<GroupLinkReport>& links) {
    if (links.empty()) return;
    line("\nMessages of groups {}", between);
    table(
        links, [](const GroupLinkReport& one) { return one.bytes; },
        [&](const GroupLinkReport& one) {
          std::string more;
          if (one.latency.count > 0)
            more += fmt::format(", latency {:.3f} ms (p99 {:.3f})", ms(one.latency.p50),
                                ms(one.latency.p99));
          if (one.nanos_per_mebibyte > 0)
            more += fmt::format(", a mebibyte in {:.3f} ms at best", ms(one.nanos_per_mebibyte));
          line("  {} to {}: {} messages, {}{}{}", one.from, one.to, one.messages,
               bytes_text(static_cast<std::int64_t>(one.bytes)), one.is_wan ? ", WAN" : "", more);
        });
  }

  const GroupsReport& report_;
};

}  // namespace

std::string to_text(const GroupsReport& report, std::size_t rows) {
  return report.records == 0 ? "" : GroupText(report, rows).print();
}

}  // namespace eventspace
