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

/// Returns a number as the page's lists contain it: -1 for `none`.
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

/// Returns a tree as JSON. Its properties are lists with a value for each Probe (contributor at a
/// collector). A list of objects, one for each Probe, would take more space.
Json json_of_tree(const Shape& shape, const Tree& tree) {
  const auto place_of_probe = [&](std::uint32_t probe) {
    return probe == none ? -1 : static_cast<std::int64_t>(shape.probes[probe].place);
  };
  Json host = Json::array(), hop = Json::array(), below = Json::array(), join = Json::array(),
       join_above = Json::array(), above = Json::array(), thread = Json::array();
  for (const std::uint32_t number : tree.probes) {
    const Probe& probe = shape.probes[number];
    host.push_back(shape.structure.host_of(probe.stage));
    hop.push_back(probe.hop);
    below.push_back(place_of_probe(probe.below));
    above.push_back(place_of_probe(probe.above));
    join.push_back(number_of(probe.join));
    join_above.push_back(number_of(probe.join_above));
    thread.push_back(probe.leaf == none ? -1 : number_of(shape.leaves[probe.leaf].thread));
  }
  Json joins = Json::array();
  for (const std::uint32_t number : tree.joins) {
    Json contributors = Json::array();
    for (const std::uint32_t probe : shape.joins[number].contributors)
      contributors.push_back(place_of_probe(probe));
    joins.push_back({{"number", number},
                     {"below", place_of_probe(shape.joins[number].below)},
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

/// Returns a stretch (a span of the run's time) as JSON. The property `parts` has the number of
/// intervals of each thread. Each other property is a list with a value for each interval.
Json json_of_stretch(const TimelineReport::Stretch& stretch) {
  Json parts = Json::array(), label = Json::array(), thread = Json::array(), nanos = Json::array();
  for (const auto& of_thread : stretch.threads) {
    parts.push_back(of_thread.size());
    for (const auto& part : of_thread) {
      label.push_back(number_of(part.label));
      thread.push_back(number_of(part.thread));
      nanos.push_back(part.nanos);
    }
  }
  return {{"begin", stretch.begin_nanos},
          {"end", stretch.end_nanos},
          {"parts", parts},
          {"label", label},
          {"thread", thread},
          {"nanos", nanos}};
}

/// Returns the steps of the critical path as JSON. Instead of the begin of a step, the JSON has the
/// gap between the end of the step before and this begin.
Json json_of_path(const TimelineReport& timeline) {
  Json gap = Json::array(), nanos = Json::array(), label = Json::array(), from = Json::array(),
       to = Json::array();
  std::int64_t end = 0;
  for (const auto& step : timeline.path) {
    gap.push_back(step.begin_nanos - end);
    nanos.push_back(step.nanos);
    label.push_back(step.label);
    from.push_back(step.from_thread);
    to.push_back(step.to_thread);
    end = step.begin_nanos + step.nanos;
  }
  return {{"whole", timeline.has_whole_path},
          {"gap", gap},
          {"nanos", nanos},
          {"label", label},
          {"from", from},
          {"to", to}};
}

Json json_of_timeline(const TimelineReport& timeline) {
  Json labels = Json::array();
  for (const TimeRow& row : timeline.labels)
    labels.push_back({{"operation", row.operation},
                      {"cause", words_of(row.cause).name},
                      {"text", text_of(row)}});
  Json stretches = Json::array();
  for (const auto& stretch : timeline.stretches) stretches.push_back(json_of_stretch(stretch));
  Json shares = Json::array();
  for (const auto& share : timeline.shares)
    shares.push_back({share.block, share.label, share.nanos});
  Json iteration_lengths = Json::array();
  std::int64_t begin = timeline.first_iteration_nanos;
  for (const std::int64_t end : timeline.iteration_ends) {
    iteration_lengths.push_back(end - begin);
    begin = end;
  }
  return {{"nanos", timeline.nanos},
          {"common_clock", timeline.has_common_clock},
          {"labels", labels},
          {"stretches", stretches},
          {"path", json_of_path(timeline)},
          {"blocks", timeline_blocks},
          {"shares", shares},
          {"iterations",
           {{"begin", timeline.first_iteration_nanos},
            {"each", timeline.iterations_in_each},
            {"lengths", iteration_lengths}}}};
}

/// Returns texts that the page and the report for a terminal have in common.
Json json_of_words(const Report& report) {
  Json causes = Json::array(), costs = Json::array();
  for (std::size_t cause = 0; cause < time_causes; ++cause) {
    TimeRow row;
    row.operation = "waiting";
    row.cause = static_cast<TimeCause>(cause);
    causes.push_back({{"name", time_cause_words[cause].name},
                      {"text", time_cause_words[cause].text},
                      {"waiting", is_of_thread(row.cause) ? text_of(row) : ""}});
  }
  for (const Finding& finding : report.findings) costs.push_back(cost_text(finding, report.time));
  return {{"causes", causes},
          {"iterations", text_of(report.time.iterations)},
          {"sensitivity", sensitivity_text(report.time)},
          {"costs", costs},
          {"without_findings", text_without_findings(report)},
          {"notes", notes_of(report)}};
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

std::string page_json(const Structure& structure, const Report& report, const PageHead& head) {
  const Json json = {{"head", json_of_head(head)},
                     {"report", to_json(report)},
                     {"words", json_of_words(report)},
                     {"shape", json_of_shape(Shape(structure))},
                     {"timeline", json_of_timeline(report.timeline)}};
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
                const PageHead& head) {
  const std::string_view page = page_template();
  const std::size_t mark = page.find(data_mark);
  if (mark == std::string_view::npos) {
    throw std::runtime_error(
        "this program was built without its HTML page: install Node.js 18 or later with npm "
        "(Debian: apt install nodejs npm), configure again and build");
  }
  base::OutputFile out(file.string());
  out.append(page.substr(0, mark));
  out.append(page_data(page_json(structure, report, head)));
  out.append(page.substr(mark + data_mark.size()));
  out.finish();
}

}  // namespace eventspace
