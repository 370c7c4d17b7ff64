// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/what_if.cpp — conversion of a user's changes to changes of
// labels.
#include "eventspace/analysis/attribution/what_if.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/errors.hpp"
#include "base/near_match.hpp"
#include "base/units.hpp"

namespace eventspace {
namespace {

using Object = RequestedChange::Object;
using Property = RequestedChange::Property;

constexpr std::array<std::string_view, 5> objects = {"link", "network", "host", "cluster",
                                                     "thread"};
// Settings that a user may ask to change. The effect of such a change cannot be predicted, because
// the run would then send different messages.
constexpr std::array<std::string_view, 6> needs_run = {"algorithm", "collective", "root",
                                                       "fan_out",   "schedule",   "config"};

constexpr std::string_view forms =
    "link:A>B.latency=5ms, link:A,B.bandwidth=1Gbit, network:CLUSTER.latency=100us, "
    "host:NAME.speed=1.2, cluster:NAME.speed=1.2 or thread:NAME.speed=1.2";

/// Reads one change from text. Keeps the first mistake in the text.
class ChangeReader {
 public:
  ChangeReader(std::string_view text, const Structure& structure)
      : text_(text), structure_(structure) {}

  RequestedChange read() {
    const std::size_t equals = text_.find('=');
    const std::size_t colon = text_.find(':');
    const std::size_t dot = text_.rfind('.', equals);
    const std::string_view first = text_.substr(0, std::min({colon, equals, text_.size()}));
    if (std::find(needs_run.begin(), needs_run.end(), first) != needs_run.end()) {
      fail("a prediction keeps the messages of the traced run; run the program with this setting");
      return change_;
    }
    if (equals == std::string_view::npos || colon == std::string_view::npos || colon > equals ||
        dot == std::string_view::npos || dot < colon) {
      fail(fmt::format("expected {}", forms));
      return change_;
    }
    read_object(first);
    read_names(text_.substr(colon + 1, dot - colon - 1));
    read_property(text_.substr(dot + 1, equals - dot - 1));
    if (mistake_.empty()) read_value(text_.substr(equals + 1));
    return change_;
  }
  const std::string& mistake() const { return mistake_; }

 private:
  void fail(const std::string& mistake) {
    if (mistake_.empty()) mistake_ = fmt::format("{}: {}", text_, mistake);
  }

  void read_object(std::string_view word) {
    const auto found = std::find(objects.begin(), objects.end(), word);
    if (found == objects.end())
      return fail(base::not_one_of(word, {objects.begin(), objects.end()}));
    change_.object = static_cast<Object>(found - objects.begin());
  }

  void read_names(std::string_view names) {
    if (!mistake_.empty()) return;
    if (change_.object != Object::link) {
      change_.from = names;
      return check_name(names);
    }
    std::size_t between = names.find_first_of(">,");
    if (names == "*") {
      change_.from = change_.to = "*";
      change_.goes_both_ways = true;
      return;
    }
    if (between == std::string_view::npos)
      return fail(fmt::format("expected two clusters, such as A>B or A,B, found '{}'", names));
    change_.goes_both_ways = names[between] == ',';
    change_.from = names.substr(0, between);
    change_.to = names.substr(between + 1);
    check_name(change_.from);
    check_name(change_.to);
    if (change_.from == change_.to && change_.from != "*")
      fail(fmt::format("expected two different clusters, found '{}' twice", change_.from));
  }

  void check_name(std::string_view name) {
    if (name == "*") return;
    std::vector<std::string> known;
    switch (change_.object) {
      case Object::link:
      case Object::network:
      case Object::cluster: known = structure_.clusters; break;
      case Object::host:
        for (const Structure::Host& host : structure_.hosts) known.push_back(host.name);
        break;
      case Object::thread:
        for (std::uint32_t rank = 0; rank < structure_.thread_count(); ++rank)
          known.push_back(structure_.thread_name(rank));
        break;
    }
    if (std::find(known.begin(), known.end(), name) != known.end()) return;
    const std::string_view kind = change_.object == Object::host     ? "host"
                                  : change_.object == Object::thread ? "thread"
                                                                     : "cluster";
    fail(fmt::format("the run has no {} '{}'{}", kind, name,
                     base::did_you_mean(name, {known.begin(), known.end()})));
  }

  void read_property(std::string_view word) {
    std::vector<std::string_view> known = {"speed"};
    if (change_.object == Object::link) known = {"latency", "bandwidth"};
    if (change_.object == Object::network) known = {"latency"};
    if (std::find(known.begin(), known.end(), word) == known.end())
      return fail(base::not_one_of(word, known));
    change_.property = word == "latency"     ? Property::latency
                       : word == "bandwidth" ? Property::bandwidth
                                             : Property::speed;
  }

  void read_value(std::string_view value) {
    std::optional<double> number;
    std::string expected;
    if (change_.property == Property::latency) {
      const bool is_added = value.starts_with('+') || value.starts_with('-');
      const std::string_view size = is_added ? value.substr(1) : value;
      if (const auto time = base::parse_time(size)) number = static_cast<double>(time->count());
      if (is_added && number) {
        change_.property = Property::added_latency;
        number = value.front() == '-' ? -*number : *number;
      }
      expected = fmt::format("{}, or one with a sign that is added", base::expected_time(value));
    } else if (change_.property == Property::bandwidth) {
      number = base::parse_bits_per_second(value);
      expected = "a bandwidth above 0 such as 1Gbit";
      if (number && *number <= 0) number.reset();
    } else {
      constexpr double slowest = 1e-6, fastest = 1e6;
      number = base::parse_number(value);
      expected = "a number from 1e-6 to 1e6 such as 1.2";
      if (number && (*number < slowest || *number > fastest)) number.reset();
    }
    if (!number) return fail(fmt::format("expected {}, found '{}'", expected, value));
    change_.value = *number;
  }

  std::string_view text_;
  const Structure& structure_;
  RequestedChange change_;
  std::string mistake_;
};

bool is_named(std::string_view wanted, std::string_view name) {
  return wanted == "*" || wanted == name;
}

bool concerns(const RequestedChange& change, const TimeLabel& label, const Structure& structure) {
  const auto& clusters = structure.clusters;
  const bool is_of_link = change.object == Object::link;
  if (is_of_link || change.object == Object::network) {
    if (label.cause != (is_of_link ? TimeCause::link_latency : TimeCause::network)) return false;
    if (!is_of_link) return is_named(change.from, clusters[structure.hosts[label.one].cluster]);
    const auto is_from_to = [&](std::uint32_t from, std::uint32_t to) {
      return is_named(change.from, clusters[from]) && is_named(change.to, clusters[to]);
    };
    return is_from_to(label.one, label.other) ||
           (change.goes_both_ways && is_from_to(label.other, label.one));
  }
  if (label.cause != TimeCause::computing) return false;
  const Structure::Host& host = structure.hosts[structure.host_of_thread(label.one)];
  switch (change.object) {
    case Object::host: return is_named(change.from, host.name);
    case Object::cluster: return is_named(change.from, clusters[host.cluster]);
    default: return is_named(change.from, structure.thread_name(label.one));
  }
}

std::string object_words_of(const RequestedChange& change) {
  const std::string_view object = objects[static_cast<std::size_t>(change.object)];
  if (change.object != Object::link) return fmt::format("{} {}", object, change.from);
  return change.goes_both_ways ? fmt::format("link between {} and {}", change.from, change.to)
                               : fmt::format("link from {} to {}", change.from, change.to);
}

std::vector<Change> changes_of(const RequestedChange& wanted, const Predictor& predictor,
                               const std::vector<std::uint32_t>& numbers) {
  std::vector<Change> changes;
  switch (wanted.property) {
    case Property::speed:
      if (!numbers.empty())
        changes.push_back(
            {numbers, {.factor = 1 / wanted.value, .noise_factor = 1 / wanted.value}});
      break;
    case Property::latency:
      return predictor.with_latencies(numbers, [&](double) { return wanted.value; });
    case Property::added_latency:
      return predictor.with_latencies(numbers,
                                      [&](double latency) { return latency + wanted.value; });
    case Property::bandwidth:
      for (const std::uint32_t number : numbers) {
        const double nanos_per_byte = predictor.labels().at(number).nanos_per_byte;
        if (nanos_per_byte <= 0) continue;
        constexpr double nanos_for_a_byte_per_bit_rate = 8e9;
        changes.push_back({{number},
                           {.transmission_factor =
                                nanos_for_a_byte_per_bit_rate / wanted.value / nanos_per_byte}});
      }
  }
  return changes;
}

/// Returns the mistake if a change lowers the latency of one of the labels below 0; otherwise "".
/// Names the smallest of these latencies.
std::string latency_below_zero(const RequestedChange& wanted, const Predictor& predictor,
                               const std::vector<std::uint32_t>& numbers) {
  if (wanted.property != Property::added_latency) return "";
  double least = std::numeric_limits<double>::infinity();
  for (const std::uint32_t number : numbers)
    if (const double latency = predictor.latency_nanos_of(number); latency > 0)
      least = std::min(least, latency);
  if (least + wanted.value >= 0) return "";
  const auto text = [](double nanos) {
    return base::format_time(base::Nanos(static_cast<std::int64_t>(nanos)));
  };
  return fmt::format("expected a change of -{0} or more, because the latency is {0}, found -{1}",
                     text(least), text(-wanted.value));
}

std::string_view why_nothing_changes(Property property) {
  switch (property) {
    case Property::bandwidth:
      return "no message of a path crossed a link with a declared bandwidth; the trace does not "
             "tell the bandwidth for messages of groups";
    case Property::speed: return "the run shows no computing there";
    default: return "the run shows no message with a latency there";
  }
}

/// Throws a ConfigError that lists all mistakes, unless there are no mistakes.
void refuse(const std::vector<std::string>& mistakes) {
  if (mistakes.empty()) return;
  std::vector<base::Mistake> all;
  for (const std::string& mistake : mistakes)
    all.push_back({base::Position{"--what-if", 0, 0}, mistake});
  throw base::ConfigError(std::move(all));
}

}  // namespace

std::vector<RequestedChange> read_changes(const std::vector<std::string>& texts,
                                          const Structure& structure) {
  std::vector<RequestedChange> changes;
  std::vector<std::string> mistakes;
  for (const std::string& text : texts) {
    ChangeReader reader(text, structure);
    changes.push_back(reader.read());
    if (!reader.mistake().empty()) mistakes.push_back(reader.mistake());
  }
  refuse(mistakes);
  return changes;
}

std::vector<Change> changes_of(const std::vector<RequestedChange>& requested,
                               const Predictor& predictor) {
  std::vector<Change> changes;
  std::vector<std::string> mistakes;
  // Labels and properties that earlier entries of `requested` have changed.
  std::set<std::pair<std::uint32_t, Property>> changed;
  for (const RequestedChange& wanted : requested) {
    const auto numbers = predictor.labels_that(
        [&](const TimeLabel& label) { return concerns(wanted, label, predictor.structure()); });
    const std::vector<Change> more = changes_of(wanted, predictor, numbers);
    const std::string what = object_words_of(wanted);
    if (more.empty())
      mistakes.push_back(fmt::format("{}: {}", what, why_nothing_changes(wanted.property)));
    else if (wanted.object == Object::link && more.size() < numbers.size())
      mistakes.push_back(fmt::format("{}: one direction, or one of the links, has none", what));
    if (const std::string wrong = latency_below_zero(wanted, predictor, numbers); !wrong.empty())
      mistakes.push_back(fmt::format("{}: {}", what, wrong));
    const Property kind =
        wanted.property == Property::added_latency ? Property::latency : wanted.property;
    const bool is_new = std::all_of(numbers.begin(), numbers.end(), [&](std::uint32_t number) {
      return changed.emplace(number, kind).second;
    });
    if (!is_new) mistakes.push_back(fmt::format("{}: another change concerns it, too", what));
    changes.insert(changes.end(), more.begin(), more.end());
  }
  refuse(mistakes);
  return changes;
}

}  // namespace eventspace
