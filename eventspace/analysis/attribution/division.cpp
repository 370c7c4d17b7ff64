// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/division.cpp — walks back over binding moments, and sums of their
// segments.
#include "eventspace/analysis/attribution/division.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>

#include "eventspace/analysis/attribution/iterations.hpp"

namespace eventspace {
namespace {

/// Splits the time before a moment into segments that have one cause each. Calls `visit` for each
/// segment. For a message, the segments are its wait behind other messages, its transmission and
/// its latency. For a computation, the last segment is its noise. Time before `until_nanos` is left
/// out.
class Parts {
 public:
  Parts(const std::function<void(const Segment&)>& visit, std::int64_t until_nanos)
      : visit_(visit), until_nanos_(until_nanos) {}

  void emit(std::int64_t begin, std::int64_t end, TimeLabel label, const Binding& binding,
            Moment moment) const {
    const auto part = [&](std::int64_t from, std::int64_t to) {
      from = std::max(from, until_nanos_);
      if (to > from) visit_({from, to, label, moment, binding.before});
    };
    if (label.cause == TimeCause::computing) {
      // The noise is placed at the end of the computation, because other threads wait for the
      // computation there.
      const std::int64_t noise = std::min(binding.noise_nanos, end - begin);
      part(begin, end - noise);
      label.cause = TimeCause::noise;
      return part(end - noise, end);
    }
    if (label.cause != TimeCause::link_latency) return part(begin, end);
    const std::int64_t queued = std::min(binding.queued_nanos, end - begin);
    const std::int64_t transmitted = std::min(binding.transmitted_nanos, end - begin - queued);
    label.cause = TimeCause::link_queue;
    part(begin, begin + queued);
    label.cause = TimeCause::link_transmission;
    part(begin + queued, begin + queued + transmitted);
    label.cause = TimeCause::link_latency;
    part(begin + queued + transmitted, end);
  }

 private:
  const std::function<void(const Segment&)>& visit_;
  std::int64_t until_nanos_;
};

/// Detects that a walk over binding moments goes in a circle (Brent 1980). A circle is possible
/// because contradictory records can make moments wait for each other.
class Circle {
 public:
  bool is_closed_by(Moment moment) {
    if (moment == kept_) return true;
    if (++steps_ < keep_at_) return false;
    kept_ = moment;
    keep_at_ *= 2;
    return false;
  }

 private:
  Moment kept_;
  std::uint64_t steps_ = 0;
  std::uint64_t keep_at_ = 1;
};

}  // namespace

std::uint64_t walk_back(const Bindings& bindings, Moment from, std::int64_t until_nanos,
                        const std::function<void(const Segment&)>& visit) {
  const Moments& moments = bindings.moments();
  const Parts parts(visit, until_nanos);
  std::uint64_t contradictions = 0;
  Circle circle;
  Moment moment = from;
  std::int64_t at = moments.time_of(from);
  while (at > until_nanos) {
    const Binding binding = bindings.binding_of(moment);
    const TimeLabel& label = moments.labels().at(binding.label);
    if (!binding.before) {
      parts.emit(until_nanos, at, label, binding, moment);
      break;
    }
    std::int64_t before = moments.time_of(binding.before);
    if (before > at) ++contradictions;
    before = std::min(before, at);
    if (circle.is_closed_by(binding.before)) {
      const std::uint32_t unknown =
          moments.labels().unknown_of(moments.host_of(moment), UnknownReason::circle);
      parts.emit(until_nanos, at, moments.labels().at(unknown), binding, moment);
      break;
    }
    parts.emit(before, at, label, binding, moment);
    at = before;
    moment = binding.before;
  }
  return contradictions;
}

namespace {

/// Adds up times in rows. There is a row for each combination of operation, cause and place.
class SumsByRow {
 public:
  using Key = std::tuple<std::string, TimeCause, std::string>;
  void add(const Key& key, std::int64_t nanos, const std::string& whose) {
    Row& row = rows_[key];
    add_to(row.nanos, nanos);
    add_to(row.by[whose], nanos);
  }
  std::vector<TimeRow> sorted(std::int64_t whole) const {
    std::vector<TimeRow> rows;
    for (const auto& [key, row] : rows_) {
      TimeRow one;
      std::tie(one.operation, one.cause, one.where) = key;
      one.nanos = row.nanos;
      one.share = whole == 0 ? 0 : static_cast<double>(row.nanos) / static_cast<double>(whole);
      for (const auto& [name, nanos] : row.by) {
        if (nanos <= one.most_nanos) continue;
        one.most = name;
        one.most_nanos = nanos;
      }
      rows.push_back(std::move(one));
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const TimeRow& a, const TimeRow& b) { return a.nanos > b.nanos; });
    return rows;
  }

 private:
  struct Row {
    std::int64_t nanos = 0;
    std::map<std::string, std::int64_t> by;
  };
  std::map<Key, Row> rows_;
};

constexpr std::array<std::string_view, unknown_reasons> reason_words = {
    "records are missing", "hosts' clocks are not compared", "a thread had not begun",
    "records contradict each other"};

/// Key by which times are added up in rows: a cause and its place. Both directions of a link count
/// as the same place. All networks between hosts of one cluster count as the same place, too.
struct PlaceOfCause {
  TimeCause cause = TimeCause::unknown;
  std::uint32_t one = 0;
  std::uint32_t other = 0;
  friend auto operator<=>(const PlaceOfCause&, const PlaceOfCause&) = default;
};

PlaceOfCause place_of(const TimeLabel& label, const Structure& structure) {
  switch (label.cause) {
    case TimeCause::link_latency:
    case TimeCause::link_transmission:
    case TimeCause::link_queue:
      return {label.cause, std::min(label.one, label.other), std::max(label.one, label.other)};
    case TimeCause::network:
    case TimeCause::sending: return {label.cause, structure.hosts[label.one].cluster, 0};
    case TimeCause::folding:
    case TimeCause::runtime: return {label.cause, 0, 0};
    case TimeCause::unknown: return {label.cause, 0, label.other};
    default: return {label.cause, label.one, 0};
  }
}

std::string where_of_place(const PlaceOfCause& place, const Structure& structure) {
  switch (place.cause) {
    case TimeCause::link_latency:
    case TimeCause::link_transmission:
    case TimeCause::link_queue:
      return fmt::format("between {} and {}", structure.clusters[place.one],
                         structure.clusters[place.other]);
    case TimeCause::network:
    case TimeCause::sending: return structure.clusters[place.one];
    case TimeCause::hold: return structure.wrappers[place.one].name;
    case TimeCause::unknown: return std::string(reason_words[place.other]);
    case TimeCause::computing:
    case TimeCause::noise: {
      const std::uint32_t host = structure.host_of_thread(place.one);
      return structure.clusters[structure.hosts[host].cluster];
    }
    case TimeCause::folding:
    case TimeCause::runtime: break;
  }
  return "";
}

PlaceOfCause place_in_thread(const ThreadPart& part, const Structure& structure) {
  const bool is_own = part.name == none && is_of_thread(part.label.cause);
  return is_own ? PlaceOfCause{part.label.cause, part.label.one, 0}
                : place_of(part.label, structure);
}

/// Returns a text for the place of a cause; "" if the cause is computing of the thread itself
/// between two operations.
std::string where_in_thread(std::uint32_t operation, const PlaceOfCause& place,
                            const Structure& structure) {
  return operation == none && is_of_thread(place.cause) ? "" : where_of_place(place, structure);
}

bool has_records(const Moments& moments, std::uint32_t thread) {
  return moments.life_of(thread).has_begun || !moments.operations_of(thread).empty();
}

std::int64_t end_of(const Moments& moments, std::uint32_t thread) {
  return moments.time_of({Moment::Kind::thread_end, thread});
}

/// Returns the cause under which the headline adds up a time. Transmission and queue of a link
/// count as link_latency.
TimeCause headline_cause(TimeCause cause) {
  return cause == TimeCause::link_transmission || cause == TimeCause::link_queue
             ? TimeCause::link_latency
             : cause;
}

/// If an exchange declared the element, as in "rows.3.from_next", returns the name of the exchange
/// and the neighbour ("rows", "next"). Otherwise returns nullopt.
std::optional<std::pair<std::string, std::string>> exchange_of(const std::string& element) {
  for (const std::string_view side : {"next", "previous"}) {
    const std::string ending = fmt::format(".from_{}", side);
    if (!element.ends_with(ending)) continue;
    const std::string start = element.substr(0, element.size() - ending.size());
    const std::size_t dot = start.rfind('.');
    if (dot == std::string::npos || dot + 1 == start.size()) continue;
    if (start.find_first_not_of("0123456789", dot + 1) != std::string::npos) continue;
    return std::pair(start.substr(0, dot), std::string(side));
  }
  return std::nullopt;
}

/// Returns a text that names the object of an operation: a collective, group, element or exchange.
std::string object_of(const OperationName& name) {
  if (name.is_collective) return words_of(name);
  const auto exchange = exchange_of(name.object);
  return exchange ? exchange->first : name.object;
}

class Division {
 public:
  explicit Division(const Bindings& bindings) : bindings_(bindings), moments_(bindings.moments()) {
    for (const OperationName& name : moments_.names()) names_.push_back(words_of(name));
  }

  TimeReport divide() {
    find_run();
    if (last_ == none) return std::move(report_);
    for (std::uint32_t thread = 0; thread < moments_.threads(); ++thread) divide(thread);
    report_.rows = rows_.sorted(report_.threads_nanos);
    for (const TimeRow& row : report_.rows)
      if (row.cause == TimeCause::unknown) report_.unknown_share += row.share;
    if (moments_.has_common_clock()) follow_critical_path();
    report_.iterations = find_iterations(moments_, begin_nanos_, end_nanos_);
    report_.not_recorded = moments_.not_recorded();
    report_.is_cut = moments_.is_cut();
    set_headline();
    return std::move(report_);
  }

 private:
  const Structure& structure() const { return moments_.structure(); }
  void find_run() {
    last_ = last_thread_of(moments_);
    if (last_ == none) return;
    end_nanos_ = begin_nanos_ = end_of(moments_, last_);
    for (std::uint32_t thread = 0; thread < moments_.threads(); ++thread) {
      if (!has_records(moments_, thread)) continue;
      const std::int64_t begin = moments_.life_of(thread).begin_nanos;
      ++report_.threads;
      add_to(report_.threads_nanos, end_of(moments_, thread) - begin);
      begin_nanos_ = std::min(begin_nanos_, begin);
    }
    report_.begin_nanos = begin_nanos_;
    report_.run_nanos = end_nanos_ - begin_nanos_;
  }

  void divide(std::uint32_t thread) {
    if (!has_records(moments_, thread)) return;
    const std::string name = structure().thread_name(thread);
    std::map<std::pair<std::uint32_t, PlaceOfCause>, std::int64_t> sums;
    report_.contradictions +=
        divide_thread(bindings_, thread, moments_.life_of(thread).begin_nanos,
                      end_of(moments_, thread), [&](const ThreadPart& part) {
                        add_to(sums[{part.name, place_in_thread(part, structure())}], part.nanos());
                      });
    for (const auto& [key, nanos] : sums) {
      const auto& [operation, place] = key;
      const bool is_of_other = operation != none && is_of_thread(place.cause);
      rows_.add({operation == none ? "" : names_[operation], place.cause,
                 where_in_thread(operation, place, structure())},
                nanos, is_of_other ? structure().thread_name(place.one) : name);
    }
  }

  void follow_critical_path() {
    report_.has_critical_path = true;
    walk_back(bindings_, {Moment::Kind::thread_end, last_}, begin_nanos_,
              [&](const Segment& segment) { add_critical(segment); });
    report_.critical = critical_.sorted(report_.run_nanos);
  }
  void add_critical(const Segment& segment) {
    const std::int64_t nanos = segment.nanos();
    const std::uint32_t name = moments_.name_at(segment.moment);
    const bool is_computing = is_of_thread(segment.label.cause);
    const PlaceOfCause place = place_of(segment.label, structure());
    critical_.add({is_computing || name == none ? std::string() : names_[name], place.cause,
                   where_of_place(place, structure())},
                  nanos, is_computing ? structure().thread_name(place.one) : std::string());
    auto& part = headline_parts_[{headline_cause(place.cause), is_computing ? 0 : place.one,
                                  is_computing ? 0 : place.other}];
    add_to(part.nanos, nanos);
    add_to(part.by_cause[place.cause], nanos);
    part.by_object[is_computing   ? structure().thread_name(place.one)
                   : name == none ? std::string()
                                  : object_of(moments_.names()[name])] += nanos;
  }

  void set_headline();

  /// Time on the critical path with one headline cause and place: in total, by exact cause, and by
  /// object. The headline cause merges several exact causes (headline_cause()). An object is a
  /// collective, an element, or a thread that computed.
  struct HeadlinePart {
    std::int64_t nanos = 0;
    std::map<TimeCause, std::int64_t> by_cause;
    std::map<std::string, std::int64_t> by_object;
  };

  const Bindings& bindings_;
  const Moments& moments_;
  std::vector<std::string> names_;
  TimeReport report_;
  SumsByRow rows_;
  SumsByRow critical_;
  std::map<PlaceOfCause, HeadlinePart> headline_parts_;
  std::int64_t begin_nanos_ = 0;
  std::int64_t end_nanos_ = 0;
  std::uint32_t last_ = none;  // thread that ended last
};

void Division::set_headline() {
  const auto largest = std::max_element(
      headline_parts_.begin(), headline_parts_.end(),
      [](const auto& a, const auto& b) { return a.second.nanos < b.second.nanos; });
  if (largest == headline_parts_.end() || report_.run_nanos == 0) return;
  const auto& [place, part] = *largest;
  const auto percent = [&](std::int64_t nanos) {
    return 100 * static_cast<double>(nanos) / static_cast<double>(report_.run_nanos);
  };
  std::vector<std::pair<std::int64_t, std::string>> by;
  for (const auto& [name, nanos] : part.by_object)
    if (!name.empty()) by.emplace_back(nanos, name);
  std::stable_sort(by.begin(), by.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  constexpr std::size_t named_max = 3;
  std::string parts;
  for (std::size_t one = 0; one < std::min(named_max, by.size()); ++one)
    parts +=
        fmt::format("{}{} {:.2f}%", one == 0 ? "" : ", ", by[one].second, percent(by[one].first));
  const auto cause =
      std::max_element(part.by_cause.begin(), part.by_cause.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  report_.headline_cause = cause->first;
  report_.headline_where = is_of_thread(place.cause) ? "" : where_of_place(place, structure());
  const std::string& where = report_.headline_where;
  report_.headline =
      fmt::format("{:.2f}% of the run is {}{}{}{}", percent(part.nanos), words_of(place.cause).text,
                  where.empty() ? "" : " " + where, parts.empty() ? "" : ": ", parts);
  report_.advice = words_of(cause->first).advice;
}

}  // namespace

std::string words_of(const OperationName& name) {
  if (name.is_collective) return fmt::format("{} {}", name.kind, name.object);
  const auto exchange = exchange_of(name.object);
  if (!exchange) return fmt::format("{} of {}", name.kind, name.object);
  const auto& [object, side] = *exchange;
  if (name.kind == "move")
    return fmt::format("send of {} to the {} thread", object, side == "next" ? "previous" : "next");
  if (name.kind == "axe") return fmt::format("discarding of {}", object);
  return fmt::format("receipt of {} from the {} thread", object, side);
}

std::uint32_t last_thread_of(const Moments& moments) {
  std::uint32_t last = none;
  for (std::uint32_t thread = 0; thread < moments.threads(); ++thread)
    if (has_records(moments, thread) &&
        (last == none || end_of(moments, thread) > end_of(moments, last)))
      last = thread;
  return last;
}

std::uint64_t divide_thread(const Bindings& bindings, std::uint32_t thread,
                            std::int64_t begin_nanos, std::int64_t end_nanos,
                            const std::function<void(const ThreadPart&)>& visit) {
  const Moments& moments = bindings.moments();
  const auto& operations = moments.operations_of(thread);
  const auto emit = [&](std::int64_t from, std::int64_t to, const TimeLabel& label,
                        std::uint32_t name) {
    from = std::max(from, begin_nanos);
    to = std::min(to, end_nanos);
    if (to > from) visit({from, to, label, name});
  };
  std::size_t order = static_cast<std::size_t>(
      std::partition_point(operations.begin(), operations.end(),
                           [&](const auto& one) { return one.down_nanos <= begin_nanos; }) -
      operations.begin());
  while (order > 0 && operations[order - 1].up_nanos > begin_nanos) --order;
  std::int64_t at = order == 0 ? moments.life_of(thread).begin_nanos
                               : std::min(operations[order - 1].up_nanos, begin_nanos);
  std::uint64_t contradictions = 0;
  const std::int64_t end = end_of(moments, thread);
  for (; order < operations.size() && at < std::min(end, end_nanos); ++order) {
    const ThreadOperation& one = operations[order];
    if (const std::int64_t down = std::min(one.down_nanos, end); down > at) {
      const TimeLabel& label = moments.labels().at(one.label_before);
      std::int64_t noise = 0;
      if (label.cause == TimeCause::computing)
        noise = bindings.noise_before(thread, static_cast<std::uint32_t>(order), down - at);
      emit(at, down - noise, label, none);
      TimeLabel noisy = label;
      noisy.cause = TimeCause::noise;
      emit(down - noise, down, noisy, none);
      at = down;
    }
    const std::int64_t until = std::min(one.up_nanos, end);
    if (until <= at) continue;
    contradictions += walk_back(bindings, one.end, at, [&](const Segment& segment) {
      emit(segment.begin_nanos, std::min(segment.end_nanos, until), segment.label, one.name);
    });
    at = until;
  }
  emit(at, end, moments.labels().at(moments.labels().computing_of(thread)), none);
  return contradictions;
}

TimeRow row_of(const ThreadPart& part, const Moments& moments) {
  TimeRow row;
  const Structure& structure = moments.structure();
  if (part.name != none) row.operation = words_of(moments.names()[part.name]);
  row.cause = part.label.cause;
  row.where = where_in_thread(part.name, place_in_thread(part, structure), structure);
  return row;
}

TimeRow row_of(const Segment& segment, const Moments& moments) {
  TimeRow row;
  const std::uint32_t name = moments.name_at(segment.moment);
  if (!is_of_thread(segment.label.cause) && name != none)
    row.operation = words_of(moments.names()[name]);
  row.cause = segment.label.cause;
  row.where = where_of(segment.label, moments.structure());
  return row;
}

void set_headline_by_threads(TimeReport& report) {
  if (report.rows.empty()) return;
  const TimeRow& row = report.rows.front();
  report.headline =
      fmt::format("{:.2f}% of the threads' time is {}{}", 100 * row.share, text_of(row),
                  row.operation.empty() ? "" : fmt::format(" ({})", row.operation));
  report.advice = words_of(row.cause).advice;
}

std::string where_of(const TimeLabel& label, const Structure& structure) {
  return where_of_place(place_of(label, structure), structure);
}

TimeReport divide_time(const Bindings& bindings) { return Division(bindings).divide(); }

}  // namespace eventspace
