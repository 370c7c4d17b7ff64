// SPDX-License-Identifier: Apache-2.0
// base/link_model/host_costs.cpp — look-up, reading and printing of the costs of hosts
#include "base/link_model/host_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "base/errors.hpp"
#include "base/near_match.hpp"

namespace tuning {
namespace {

using base::MapReader;
using base::Mistakes;
using base::Nanos;
using base::Settings;

constexpr double nanos_per_byte_most = 1e6;
constexpr double cost_spread_most = 1e6;
constexpr std::int64_t cores_most = 1 << 20;

std::optional<CostTable::Point> read_point(const Settings& key, const Settings& value,
                                           Mistakes& mistakes, const std::string& what) {
  const auto bytes = base::parse_bytes(key.text());
  if (!bytes)
    mistakes.add(key.position(),
                 fmt::format("{}: expected a size such as 4KiB, found {}", what, key.describe()));
  const auto time = base::read_time(value, mistakes, what);
  if (!bytes || !time) return std::nullopt;
  return CostTable::Point{*bytes, *time};
}

/// Reads one time for all sizes, or a map from sizes to times.
CostTable read_table(MapReader& reader, const char* key) {
  const Settings value = reader.take(key);
  Mistakes& mistakes = reader.mistakes();
  if (value.is_null()) {
    if (reader.has(key)) reader.mistake(key, "expected a time such as 5us, or a map of sizes");
    return {};
  }
  if (!value.is_map()) {
    const auto time = base::read_time(value, mistakes, key);
    return time ? CostTable({{1, *time}}) : CostTable();
  }
  std::vector<CostTable::Point> points;
  for (const auto& [size, time] : value.entries()) {
    const auto point = read_point(size, time, mistakes, key);
    if (!point) continue;
    if (!points.empty() && point->bytes <= points.back().bytes)
      mistakes.add(size.position(),
                   fmt::format("{}: expected more than {}, the size before, "
                               "found {}",
                               key, base::format_bytes(points.back().bytes), size.describe()));
    else if (!points.empty() && point->time < points.back().time)
      mistakes.add(time.position(),
                   fmt::format("{}: expected at least {}, the cost of {}, found {}", key,
                               base::format_time(points.back().time),
                               base::format_bytes(points.back().bytes), time.describe()));
    else
      points.push_back(*point);
  }
  if (value.entries().empty())
    reader.mistake(key, "expected a time such as 5us, or a map of sizes, found an empty map");
  return CostTable(std::move(points));
}

/// Reads the costs of frames. Returns nullptr if the map has none.
std::shared_ptr<const FrameCosts> read_frames(MapReader& reader) {
  FrameCosts costs;
  bool is_there = false;
  for (const char* const key : {"send", "receive", "window", "send_spread", "receive_spread"})
    is_there |= reader.has(key);
  if (!is_there) return nullptr;
  costs.send = read_table(reader, "send");
  costs.receive = read_table(reader, "receive");
  costs.send_spread = reader.number("send_spread", 0, 0, cost_spread_most);
  costs.receive_spread = reader.number("receive_spread", 0, 0, cost_spread_most);
  constexpr std::string_view unlimited_word = "unlimited";
  if (reader.has("window") && reader.take("window").text() == unlimited_word)
    costs.window_bytes = std::numeric_limits<std::uint64_t>::max();
  else if (reader.has("window") && (costs.window_bytes = reader.bytes("window", 1)) == 0)
    reader.mistake("window", "expected more than 0 bytes, or unlimited, found 0");
  return std::make_shared<const FrameCosts>(std::move(costs));
}

class LinkReader {
 public:
  LinkReader(HostCosts& costs, Mistakes& mistakes) : costs_(costs), mistakes_(mistakes) {}

  void read(const Settings& value) {
    MapReader reader(value, mistakes_, "link of costs");
    HostCosts::Link link{.from = reader.word("from", ""),
                         .to = reader.word("to", ""),
                         .costs = nullptr,
                         .position = value.position()};
    const bool is_inside = reader.has("inside");
    if (is_inside) link.from = link.to = reader.word("inside", "");
    link.costs = read_frames(reader);
    const bool is_between = reader.has("from") && reader.has("to");
    reader.finish();
    if (!value.is_map()) return;
    if (is_inside == is_between || is_inside == (reader.has("from") || reader.has("to")))
      return mistakes_.add(value.position(),
                           "link of costs: expected either inside: A, or from: A and to: B");
    if (is_between && link.from == link.to)
      return mistakes_.add(value.position(),
                           fmt::format("link of costs: expected two clusters, found {} twice; "
                                       "write inside: {}",
                                       link.from, link.from));
    if (link.costs == nullptr)
      return mistakes_.add(value.position(), "link of costs: expected send, receive or window");
    if (!known_.emplace(link.from, link.to).second)
      return mistakes_.add(value.position(), "link of costs: a second one for the same clusters");
    costs_.links.push_back(std::move(link));
  }

 private:
  HostCosts& costs_;
  Mistakes& mistakes_;
  std::set<std::pair<std::string, std::string>> known_;
};

Settings settings_of(const CostTable& table) {
  base::MapBuilder map;
  for (const auto& [bytes, time] : table.points())
    map.add(base::format_bytes(bytes), base::format_time(time));
  return map.done();
}

void add_frames(base::MapBuilder& map, const FrameCosts& costs) {
  constexpr auto unlimited = std::numeric_limits<std::uint64_t>::max();
  const auto add_spread = [&](const char* key, double spread) {
    if (spread > 0) map.add(key, fmt::format("{}", spread));
  };
  if (!costs.send.points().empty()) map.add("send", settings_of(costs.send));
  add_spread("send_spread", costs.send_spread);
  if (!costs.receive.points().empty()) map.add("receive", settings_of(costs.receive));
  add_spread("receive_spread", costs.receive_spread);
  if (costs.window_bytes == unlimited)
    map.add("window", std::string("unlimited"));
  else if (costs.window_bytes != 0)
    map.add("window", base::format_bytes(costs.window_bytes));
}

}  // namespace

Nanos CostTable::at(std::uint64_t bytes) const {
  if (points_.empty()) return Nanos(0);
  const auto above =
      std::lower_bound(points_.begin(), points_.end(), bytes,
                       [](const Point& point, std::uint64_t limit) { return point.bytes < limit; });
  if (above == points_.begin()) return above->time;
  if (above != points_.end() && above->bytes == bytes) return above->time;
  if (points_.size() == 1) return points_.front().time;
  const Point& right = above == points_.end() ? points_.back() : *above;
  const Point& left = above == points_.end() ? points_[points_.size() - 2] : *(above - 1);
  const double slope = static_cast<double>((right.time - left.time).count()) /
                       static_cast<double>(right.bytes - left.bytes);
  const double more = slope * static_cast<double>(bytes - left.bytes);
  return left.time +
         Nanos(std::llround(std::min(more, static_cast<double>(base::time_max.count()))));
}

CostTable CostTable::scaled(double factor) const {
  std::vector<Point> points = points_;
  for (Point& point : points)
    point.time = Nanos(std::llround(static_cast<double>(point.time.count()) * factor));
  return CostTable(std::move(points));
}

CostTable CostTable::simplified(double tolerance) const {
  const auto spans = [&](std::size_t left, std::size_t right) {
    const CostTable line({points_[left], points_[right]});
    return std::all_of(
        points_.begin() + static_cast<std::ptrdiff_t>(left),
        points_.begin() + static_cast<std::ptrdiff_t>(right), [&](const Point& point) {
          const auto time = static_cast<double>(point.time.count());
          return std::abs(static_cast<double>(line.at(point.bytes).count()) - time) <=
                 tolerance * time;
        });
  };
  std::vector<Point> kept;
  for (std::size_t left = 0; left < points_.size();) {
    kept.push_back(points_[left]);
    std::size_t right = points_.size() - 1;
    while (right > left + 1 && !spans(left, right)) --right;
    left = std::max(right, left + 1);
  }
  if (kept.size() == 2 && kept[0].time == kept[1].time) kept.pop_back();
  return CostTable(std::move(kept));
}

std::string describe(const FrameCosts& costs) {
  const auto range = [](const CostTable& table) {
    if (table.points().empty()) return std::string("no time");
    const Nanos first = table.points().front().time, last = table.points().back().time;
    return first == last
               ? base::format_time(first)
               : fmt::format("{} to {}", base::format_time(first), base::format_time(last));
  };
  const auto& points = costs.send.points();
  const std::string sizes =
      points.size() < 2 ? std::string()
                        : fmt::format(" of {} to {}", base::format_bytes(points.front().bytes),
                                      base::format_bytes(points.back().bytes));
  return fmt::format("{} to send a frame{}, {} to receive it", range(costs.send), sizes,
                     range(costs.receive));
}

bool differs(const FrameCosts& before, const FrameCosts& now) {
  constexpr double least = 0.05;
  const auto differ = [](const CostTable& left, const CostTable& right, double spread) {
    const auto at_points_of = [&](const CostTable& table) {
      return std::any_of(table.points().begin(), table.points().end(), [&](const auto& point) {
        const auto one = static_cast<double>(left.at(point.bytes).count());
        const auto other = static_cast<double>(right.at(point.bytes).count());
        return std::abs(one - other) > (spread + least) * std::max(one, other);
      });
    };
    return at_points_of(left) || at_points_of(right);
  };
  return differ(before.send, now.send, before.send_spread + now.send_spread) ||
         differ(before.receive, now.receive, before.receive_spread + now.receive_spread);
}

const std::shared_ptr<const FrameCosts>& HostCosts::between(std::string_view from,
                                                            std::string_view to) const {
  const auto found = std::find_if(links.begin(), links.end(), [&](const Link& link) {
    return link.from == from && link.to == to;
  });
  return found == links.end() ? frames : found->costs;
}

Nanos work_time(std::uint64_t bytes, double bytes_per_second) {
  if (bytes_per_second <= 0) return Nanos(0);
  return Nanos(std::llround(static_cast<double>(bytes) / bytes_per_second * 1e9));
}

HostCosts read_host_costs(const Settings& settings, Mistakes& mistakes) {
  HostCosts costs;
  MapReader reader(settings, mistakes, "costs");
  costs.frames = read_frames(reader);
  costs.fold_nanos_per_byte = reader.number("fold_ns_per_byte", 0, 0, nanos_per_byte_most);
  costs.copy_nanos_per_byte = reader.number("copy_ns_per_byte", 0, 0, nanos_per_byte_most);
  costs.fold_spread = reader.number("fold_spread", 0, 0, cost_spread_most);
  costs.copy_spread = reader.number("copy_spread", 0, 0, cost_spread_most);
  if (reader.has("cores"))
    costs.cores = static_cast<std::uint32_t>(reader.integer("cores", 1, 1, cores_most));
  costs.wake_up = reader.time("wake_up", Nanos(0));
  const Settings links = reader.take("links");
  if (!links.is_null() && !links.is_list())
    reader.mistake("links", "expected a list, found " + links.describe());
  reader.finish();
  LinkReader link_reader(costs, mistakes);
  for (const Settings& link : links.items()) link_reader.read(link);
  return costs;
}

void check_clusters(const HostCosts& costs, const std::vector<std::string>& clusters,
                    Mistakes& mistakes) {
  const std::vector<std::string_view> names(clusters.begin(), clusters.end());
  std::set<std::pair<std::string_view, std::string_view>> known;
  for (const HostCosts::Link& link : costs.links) {
    known.emplace(link.from, link.to);
    for (const std::string& cluster : {link.from, link.to})
      if (std::find(names.begin(), names.end(), cluster) == names.end())
        mistakes.add(link.position,
                     fmt::format("link of costs: expected a cluster of the run, found '{}'{}",
                                 cluster, base::did_you_mean(cluster, names)));
  }
  if (costs.frames != nullptr || costs.links.empty()) return;
  for (const std::string& from : clusters)
    for (const std::string& to : clusters)
      if (!known.contains({from, to}))
        mistakes.add(
            costs.position,
            fmt::format("costs: none for frames {}; expected send and receive for all "
                        "frames, or a link of costs for every two clusters",
                        from == to ? "inside " + from : fmt::format("from {} to {}", from, to)));
}

Settings settings_of(const HostCosts& costs) {
  base::MapBuilder map;
  const auto add_number = [&](const char* key, double number) {
    if (number > 0) map.add(key, fmt::format("{}", number));
  };
  if (costs.frames != nullptr) add_frames(map, *costs.frames);
  add_number("fold_ns_per_byte", costs.fold_nanos_per_byte);
  add_number("fold_spread", costs.fold_spread);
  add_number("copy_ns_per_byte", costs.copy_nanos_per_byte);
  add_number("copy_spread", costs.copy_spread);
  if (costs.cores > 0) map.add("cores", std::to_string(costs.cores));
  if (costs.wake_up > Nanos(0)) map.add("wake_up", base::format_time(costs.wake_up));
  std::vector<Settings> links;
  for (const HostCosts::Link& link : costs.links) {
    base::MapBuilder one;
    if (link.from == link.to)
      one.add("inside", link.from);
    else
      one.add("from", link.from).add("to", link.to);
    add_frames(one, *link.costs);
    links.push_back(one.done());
  }
  if (!links.empty()) map.add("links", Settings::list(std::move(links)));
  return map.done();
}

}  // namespace tuning
