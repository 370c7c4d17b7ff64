// SPDX-License-Identifier: Apache-2.0
// eventspace/page/page.cpp — export of a report as one self-contained HTML file.
#include "eventspace/page/page.hpp"

#include <zlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/output_file.hpp"
#include "eventspace/analysis/input/shape.hpp"

namespace eventspace {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view data_mark = "@PATHS_DATA@";

/// Converts a number for the page's lists, in which -1 stands for none.
std::int64_t number_of(std::uint32_t number) {
  return number == none ? -1 : static_cast<std::int64_t>(number);
}

std::string_view name_of(HopKind kind) {
  switch (kind) {
    case HopKind::internal: return "internal";
    case HopKind::join: return "join";
    case HopKind::crossing: return "network";
    case HopKind::link: return "link";
    case HopKind::check: return "check";
    case HopKind::end: return "end";
  }
  return "";
}

Json json_of_head(const PageHead& head) {
  return {{"title", head.title}, {"command", head.command}, {"version", head.version},
          {"clock", head.clock}, {"started", head.started}, {"losses", head.losses}};
}

/// Returns a tree as JSON. Each property is one list over all Lanes (contributors at collectors),
/// because thousands of separate objects would take more space.
Json json_of_tree(const Shape& shape, const Tree& tree) {
  const auto place_of_lane = [&](std::uint32_t lane) {
    return lane == none ? -1 : static_cast<std::int64_t>(shape.lanes[lane].place);
  };
  Json host = Json::array(), hop = Json::array(), below = Json::array(), join = Json::array(),
       join_above = Json::array(), above = Json::array(), thread = Json::array();
  for (const std::uint32_t number : tree.lanes) {
    const Lane& lane = shape.lanes[number];
    host.push_back(shape.structure.host_of(lane.stage));
    hop.push_back(lane.hop);
    below.push_back(place_of_lane(lane.below));
    above.push_back(place_of_lane(lane.above));
    join.push_back(number_of(lane.join));
    join_above.push_back(number_of(lane.join_above));
    thread.push_back(lane.leaf == none ? -1 : number_of(shape.leaves[lane.leaf].thread));
  }
  Json joins = Json::array();
  for (const std::uint32_t number : tree.joins) {
    Json contributors = Json::array();
    for (const std::uint32_t lane : shape.joins[number].contributors)
      contributors.push_back(place_of_lane(lane));
    joins.push_back({{"number", number},
                     {"below", place_of_lane(shape.joins[number].below)},
                     {"host", shape.structure.wrappers[shape.joins[number].wrapper].host},
                     {"contributors", contributors}});
  }
  return {{"graph", shape.graphs[tree.graph]},
          {"host", host},
          {"hop", hop},
          {"below", below},
          {"above", above},
          {"join", join},
          {"join_above", join_above},
          {"thread", thread},
          {"joins", joins}};
}

/// Returns the trees as JSON. A tree without joins has no rounds, but its place in the list is
/// kept, because rounds contain the numbers of trees.
Json json_of_shape(const Shape& shape) {
  const Structure& structure = shape.structure;
  Json hosts = Json::array();
  for (const auto& host : structure.hosts)
    hosts.push_back({{"name", host.name},
                     {"cluster", host.cluster},
                     {"first_thread", host.first_thread},
                     {"threads", host.threads}});
  Json hops = Json::array();
  for (const Hop& hop : shape.hops) {
    const Structure::Wrapper& wrapper = structure.wrappers[hop.wrapper];
    hops.push_back({{"kind", name_of(hop.kind)},
                    {"stage", hop.stage},
                    {"wrapper", wrapper.name.empty() ? wrapper.kind : wrapper.name},
                    {"wan", hop.is_wan}});
  }
  Json trees = Json::array();
  for (const Tree& tree : shape.trees)
    trees.push_back(tree.has_joins() ? json_of_tree(shape, tree) : Json());
  return {{"clusters", structure.clusters}, {"hosts", hosts}, {"hops", hops}, {"trees", trees}};
}

/// Returns a round as JSON. Times count from the first time of the round, so that the numbers are
/// short.
Json json_of_round(const PageTimelineReport::Round& round) {
  std::int64_t begin = 0;
  bool has_begin = false;
  for (const auto& pass : round.passes) {
    if (!pass.is_here) continue;
    begin = has_begin ? std::min(begin, pass.down_nanos) : pass.down_nanos;
    has_begin = true;
  }
  Json down = Json::array(), nanos = Json::array(), computation = Json::array();
  for (const auto& pass : round.passes) {
    down.push_back(pass.is_here ? pass.down_nanos - begin : 0);
    nanos.push_back(pass.is_here ? pass.up_nanos - pass.down_nanos : -1);
    computation.push_back(pass.computation_nanos);
  }
  return {{"tree", round.tree}, {"sequence", round.sequence}, {"begin", begin}, {"down", down},
          {"nanos", nanos},     {"computation", computation}};
}

/// Returns the bars as JSON, with one list for each property. Times count from the first bar.
Json json_of_groups(const PageGroupsReport& groups) {
  Json thread = Json::array(), name = Json::array(), begin = Json::array(), nanos = Json::array();
  const std::int64_t first = groups.bars.empty() ? 0 : groups.bars.front().begin_nanos;
  for (const auto& bar : groups.bars) {
    thread.push_back(bar.thread);
    name.push_back(bar.name);
    begin.push_back(bar.begin_nanos - first);
    nanos.push_back(bar.end_nanos - bar.begin_nanos);
  }
  return {{"names", groups.names}, {"thread", thread}, {"name", name},
          {"begin", begin},        {"nanos", nanos},   {"more", groups.more}};
}

Json json_of_timeline(const PageTimelineReport& timeline) {
  Json stretches = Json::array();
  for (const auto& stretch : timeline.stretches) {
    Json rounds = Json::array();
    for (const auto& round : stretch.rounds) rounds.push_back(json_of_round(round));
    stretches.push_back({{"slowest", stretch.slowest},
                         {"slowest_nanos", stretch.slowest_nanos},
                         {"beginning", stretch.is_beginning},
                         {"error_nanos", stretch.error_nanos},
                         {"rounds", rounds}});
  }
  Json json = {{"common_clock", timeline.has_common_clock}, {"stretches", stretches}};
  if (!timeline.groups.bars.empty()) json["groups"] = json_of_groups(timeline.groups);
  return json;
}

std::string base64(const std::vector<unsigned char>& bytes) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t here = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t three = 0;
    for (std::size_t byte = 0; byte < 3; ++byte)
      three = three << 8 | (byte < here ? bytes[at + byte] : 0u);
    for (std::size_t letter = 0; letter < 4; ++letter)
      text += letter <= here ? letters[three >> (18 - 6 * letter) & 63] : '=';
  }
  return text;
}

}  // namespace

std::string page_json(const Structure& structure, const Report& report,
                      const PageTimelineReport& timeline, const PageHead& head) {
  const Json json = {{"head", json_of_head(head)},
                     {"report", to_json(report)},
                     {"shape", json_of_shape(Shape(structure))},
                     {"timeline", json_of_timeline(timeline)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string page_data(std::string_view json) {
  uLongf size = compressBound(json.size());
  std::vector<unsigned char> bytes(size);
  const int status = compress2(bytes.data(), &size, reinterpret_cast<const Bytef*>(json.data()),
                               json.size(), Z_DEFAULT_COMPRESSION);
  if (status != Z_OK) throw std::runtime_error("cannot deflate the data of the page");
  bytes.resize(size);
  return base64(bytes);
}

void write_page(const std::filesystem::path& file, const Structure& structure, const Report& report,
                const PageTimelineReport& timeline, const PageHead& head) {
  const std::string_view page = page_template();
  const std::size_t mark = page.find(data_mark);
  if (mark == std::string_view::npos) {
    throw std::runtime_error(
        "this program was built without its HTML page: install Node.js 18 or later with npm "
        "(Debian: apt install nodejs npm), configure again and build");
  }
  base::OutputFile out(file.string());
  out.append(page.substr(0, mark));
  out.append(page_data(page_json(structure, report, timeline, head)));
  out.append(page.substr(mark + data_mark.size()));
  out.finish();
}

}  // namespace eventspace
