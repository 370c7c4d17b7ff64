// SPDX-License-Identifier: Apache-2.0
// eventspace/structure.cpp — structure as JSON, with checks that all numbers are valid.
#include "eventspace/structure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/visible.hpp"

namespace eventspace {
namespace {

using Json = nlohmann::ordered_json;

constexpr int structure_version = 1;

/// Collects errors. It keeps only the first few errors, because a file that is not a structure
/// would give an error for every entry.
class Wrongs {
 public:
  void add(std::string what) {
    if (++count_ <= told_max) told_.push_back(std::move(what));
  }
  void expect_one_of(std::size_t count, std::uint64_t number, std::string_view of,
                     std::string_view where, std::size_t index) {
    if (number >= count)
      add(fmt::format("{}[{}] refers to {} {}, there are {}", where, index, of, number, count));
  }
  void throw_if_any() const {
    if (count_ == 0) return;
    throw std::runtime_error(
        fmt::format("{}{}", fmt::join(told_, "; "),
                    count_ > told_max ? fmt::format("; and {} more", count_ - told_max) : ""));
  }

 private:
  static constexpr std::size_t told_max = 5;
  std::size_t count_ = 0;
  std::vector<std::string> told_;
};

void check_hosts(const Structure& structure, Wrongs& wrongs) {
  std::uint64_t rank = 0;
  for (std::size_t i = 0; i < structure.hosts.size(); ++i) {
    const auto& host = structure.hosts[i];
    wrongs.expect_one_of(structure.clusters.size(), host.cluster, "cluster", "hosts", i);
    if (host.first_thread != rank)
      wrongs.add(
          fmt::format("hosts[{}] begins with thread {}, expected {}: ranks go on from host "
                      "to host",
                      i, host.first_thread, rank));
    rank = std::uint64_t{host.first_thread} + host.threads;
    if (rank > std::numeric_limits<std::uint32_t>::max())
      wrongs.add(fmt::format("hosts[{}] has too many threads", i));
  }
}

void check_wrappers(const Structure& structure, Wrongs& wrongs) {
  for (std::size_t i = 0; i < structure.wrappers.size(); ++i) {
    const auto& wrapper = structure.wrappers[i];
    wrongs.expect_one_of(structure.hosts.size(), wrapper.host, "host", "wrappers", i);
    for (const std::uint32_t cluster : wrapper.combines)
      wrongs.expect_one_of(structure.clusters.size(), cluster, "cluster", "wrappers", i);
  }
}

/// Checks that no stage is below itself, so that each chain of stages ends.
void check_ends(const Structure& structure, Wrongs& wrongs) {
  const auto& stages = structure.stages;
  std::vector<std::uint32_t> seen_from(stages.size(), no_stage);
  for (std::uint32_t begin = 0; begin < stages.size(); ++begin) {
    std::uint32_t stage = begin;
    while (stage < stages.size() && seen_from[stage] == no_stage) {
      seen_from[stage] = begin;
      stage = stages[stage].below;
    }
    if (stage < stages.size() && seen_from[stage] == begin)
      wrongs.add(fmt::format("stages[{}] is below itself", stage));
  }
}

void check_streams(const Structure& structure, Wrongs& wrongs) {
  for (std::size_t i = 0; i < structure.streams.size(); ++i)
    for (const std::uint32_t cluster : {structure.streams[i].from, structure.streams[i].to})
      wrongs.expect_one_of(structure.clusters.size(), cluster, "cluster", "streams", i);
}

void check_stages(const Structure& structure, Wrongs& wrongs) {
  for (std::size_t i = 0; i < structure.stages.size(); ++i) {
    const auto& stage = structure.stages[i];
    wrongs.expect_one_of(structure.wrappers.size(), stage.wrapper, "wrapper", "stages", i);
    if (stage.below != no_stage)
      wrongs.expect_one_of(structure.stages.size(), stage.below, "stage", "stages", i);
  }
  check_ends(structure, wrongs);
}

void check_paths(const Structure& structure, Wrongs& wrongs) {
  for (std::size_t i = 0; i < structure.paths.size(); ++i) {
    const auto& path = structure.paths[i];
    wrongs.expect_one_of(structure.stages.size(), path.stage, "stage", "paths", i);
    wrongs.expect_one_of(structure.hosts.size(), path.host, "host", "paths", i);
    if (path.host >= structure.hosts.size()) continue;
    const auto& host = structure.hosts[path.host];
    if (path.threads > 0 && std::uint64_t{path.first_thread} + path.threads > host.threads)
      wrongs.add(fmt::format("paths[{}] is of threads {} to {} of host {}, which has {}", i,
                             path.first_thread, std::uint64_t{path.first_thread} + path.threads - 1,
                             host.name, host.threads));
  }
}

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Returns a JSON number as 32 bits. Throws if the number is negative or too large, because the
/// conversion would change it.
std::uint32_t number_of(const Json& json) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > most)
    throw std::runtime_error(
        fmt::format("expected a number up to {}, found {}", most, line_of(json)));
  return json.get<std::uint32_t>();
}

std::uint32_t stage_of(const Json& json) { return json.is_null() ? no_stage : number_of(json); }

Structure::Host host_of(const Json& json) {
  return {json.at("name"), number_of(json.at("cluster")), number_of(json.at("first_thread")),
          number_of(json.at("threads"))};
}

Structure::Wrapper wrapper_of(const Json& json) {
  Structure::Wrapper wrapper{json.at("name"),
                             json.at("kind"),
                             number_of(json.at("host")),
                             number_of(json.at("slots")),
                             json.at("settings"),
                             json.at("position")};
  if (json.contains("combines"))
    for (const Json& cluster : json.at("combines")) wrapper.combines.push_back(number_of(cluster));
  if (!json.contains("job")) {
    set_job_by_kind(wrapper);
    return wrapper;
  }
  wrapper.job = job_named(json.at("job").get_ref<const std::string&>());
  wrapper.answers_in_kind = json.value("answers_in_kind", false);
  return wrapper;
}

Structure::Path path_of(const Json& json) {
  return {json.at("graph"),
          number_of(json.at("host")),
          number_of(json.at("first_thread")),
          number_of(json.at("threads")),
          number_of(json.at("slot")),
          stage_of(json.at("stage"))};
}

/// Calls `read` for each entry of the list `name`. Errors contain the index of the entry.
template <class Read>
void read_list(const Json& all, const char* name, const Read& read) {
  std::size_t index = 0;
  for (const Json& one : all.at(name)) {
    try {
      read(one);
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format("{}[{}]: {}", name, index, error.what()));
    }
    ++index;
  }
}

Structure read_structure(const Json& all) {
  if (all.at("version") != structure_version)
    throw std::runtime_error(fmt::format("is of version {}; this program reads version {}",
                                         line_of(all.at("version")), structure_version));
  Structure structure;
  all.at("clusters").get_to(structure.clusters);
  read_list(all, "hosts", [&](const Json& one) { structure.hosts.push_back(host_of(one)); });
  read_list(all, "wrappers",
            [&](const Json& one) { structure.wrappers.push_back(wrapper_of(one)); });
  read_list(all, "stages", [&](const Json& one) {
    structure.stages.push_back(
        {number_of(one.at(0)), stage_of(one.at(1)), number_of(one.at(2)), number_of(one.at(3))});
  });
  read_list(all, "paths", [&](const Json& one) { structure.paths.push_back(path_of(one)); });
  if (all.contains("streams"))
    read_list(all, "streams", [&](const Json& one) {
      structure.streams.push_back(
          {number_of(one.at(0)), number_of(one.at(1)), number_of(one.at(2))});
    });
  return structure;
}

/// Returns a text about a parse error at `byte`. It names the line in which the text ends too
/// early, or in which the text is no longer JSON.
std::string where_it_ends(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const bool is_cut = text.substr(before.size()).find_first_not_of(" \n\r\t") == text.npos;
  if (text.empty()) return "the file is empty";
  return is_cut ? fmt::format("the file ends in the middle, in line {}", line)
                : fmt::format("it is no JSON from line {} on", line);
}

Json parsed(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw std::runtime_error(where_it_ends(text, error.byte));
  }
}

/// Removes the text in brackets with which messages of the JSON library begin.
std::string without_id(std::string what) {
  const auto id = what.find("[json.exception.");
  if (id == std::string::npos) return what;
  const auto end = what.find("] ", id);
  return end == std::string::npos ? what : what.erase(id, end + 2 - id);
}

/// Appends a list with one line for each entry, so that people and text tools can search the list.
void append_list(std::string& text, std::string_view name, const std::vector<std::string>& lines) {
  text +=
      fmt::format(",\n\"{}\": [{}{}]", name, lines.empty() ? "" : "\n", fmt::join(lines, ",\n"));
}

Json json_of_stage(std::uint32_t stage) { return stage == no_stage ? Json() : Json(stage); }

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

std::uint32_t Structure::thread_count() const {
  return hosts.empty() ? 0 : hosts.back().first_thread + hosts.back().threads;
}

std::uint32_t Structure::host_of_thread(std::uint32_t rank) const {
  // A host without threads has the same first rank as the next host. If several hosts have the same
  // first rank, the last host of them has the thread.
  const auto behind = std::upper_bound(
      hosts.begin(), hosts.end(), rank,
      [](std::uint32_t wanted, const Host& host) { return wanted < host.first_thread; });
  return static_cast<std::uint32_t>(behind - hosts.begin()) - 1;
}

std::string Structure::thread_name(std::uint32_t rank) const {
  if (rank >= thread_count()) return fmt::format("thread {}", rank);
  const Host& host = hosts[host_of_thread(rank)];
  return fmt::format("{}/{}", host.name, rank - host.first_thread);
}

namespace {

/// Returns the text that follows the setting `key` in the wrapper's settings; "" if the wrapper has
/// no such setting.
std::string_view text_behind(const Structure::Wrapper& wrapper, std::string_view key) {
  const std::string_view settings = wrapper.settings;
  for (std::size_t at = settings.find(key); at != std::string_view::npos;
       at = settings.find(key, at + 1)) {
    const std::size_t behind = at + key.size();
    if (behind >= settings.size() || settings[behind] != ':') continue;
    if (at > 0 && is_word(settings[at - 1])) continue;
    return settings.substr(behind + 1);
  }
  return {};
}

std::string_view without_blanks(std::string_view text) {
  const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string_view setting_of(const Structure::Wrapper& wrapper, std::string_view key) {
  const std::string_view text = text_behind(wrapper, key);
  return without_blanks(text.substr(0, text.find_first_of(",}\n")));
}

std::vector<std::string_view> settings_of(const Structure::Wrapper& wrapper, std::string_view key) {
  std::string_view text = without_blanks(text_behind(wrapper, key));
  std::vector<std::string_view> values;
  if (text.empty()) return values;
  while (text.starts_with("- ")) {  // a list with one value in each line
    const std::size_t end = text.find('\n');
    values.push_back(without_blanks(text.substr(2, end - 2)));
    text = end == std::string_view::npos ? std::string_view() : without_blanks(text.substr(end));
  }
  if (!values.empty()) return values;
  if (text.front() != '[') return {setting_of(wrapper, key)};
  text = text.substr(1, text.find(']') - 1);
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    values.push_back(without_blanks(text.substr(0, comma)));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return values;
}

bool names_element(const Structure::Wrapper& wrapper, std::string_view element) {
  const std::string_view settings = wrapper.settings;
  if (element.empty()) return false;
  const auto is_in_name = [](char c) { return is_word(c) || c == '-' || c == '.'; };
  for (std::size_t at = settings.find(element); at != std::string_view::npos;
       at = settings.find(element, at + 1)) {
    const std::size_t behind = at + element.size();
    if (at > 0 && is_in_name(settings[at - 1])) continue;
    if (behind == settings.size()) return true;
    const bool is_key = settings[behind] == ':';
    if (!is_key && !is_in_name(settings[behind])) return true;
  }
  return false;
}

void set_job_by_kind(Structure::Wrapper& wrapper) {
  static const std::map<std::string_view, Job> jobs = {{"allreduce", Job::join},
                                                       {"reduce", Job::join},
                                                       {"broadcast", Job::join},
                                                       {"barrier", Job::join},
                                                       {"forward", Job::crossing},
                                                       {"emulate_link", Job::link},
                                                       {"condition_check", Job::check},
                                                       {"lagged_check", Job::check},
                                                       {"periodic", Job::gate},
                                                       {"store", Job::store},
                                                       {"observe", Job::store},
                                                       {"prefetch", Job::prefetch},
                                                       {"push", Job::push},
                                                       {"event_collector", Job::collector}};
  const auto found = jobs.find(wrapper.kind);
  wrapper.job = found == jobs.end() ? Job::other : found->second;
  wrapper.answers_in_kind = wrapper.kind == "allreduce";
}

std::string to_json(const Structure& structure) {
  std::vector<std::string> hosts, wrappers, stages, paths, streams;
  for (const auto& host : structure.hosts)
    hosts.push_back(line_of({{"name", host.name},
                             {"cluster", host.cluster},
                             {"first_thread", host.first_thread},
                             {"threads", host.threads}}));
  for (const auto& wrapper : structure.wrappers) {
    Json json = {{"name", wrapper.name},         {"kind", wrapper.kind},
                 {"host", wrapper.host},         {"slots", wrapper.slots},
                 {"settings", wrapper.settings}, {"position", wrapper.position},
                 {"job", job_name(wrapper.job)}};
    if (wrapper.answers_in_kind) json["answers_in_kind"] = true;
    if (!wrapper.combines.empty()) json["combines"] = wrapper.combines;
    wrappers.push_back(line_of(json));
  }
  for (const auto& stage : structure.stages)
    stages.push_back(line_of({stage.wrapper, json_of_stage(stage.below), stage.slot, stage.role}));
  for (const auto& path : structure.paths)
    paths.push_back(line_of({{"graph", path.graph},
                             {"host", path.host},
                             {"first_thread", path.first_thread},
                             {"threads", path.threads},
                             {"slot", path.slot},
                             {"stage", json_of_stage(path.stage)}}));
  for (const auto& one : structure.streams)
    streams.push_back(line_of({one.from, one.to, one.count}));
  std::string text = fmt::format("{{\"version\": {},\n\"clusters\": {}", structure_version,
                                 line_of(Json(structure.clusters)));
  append_list(text, "hosts", hosts);
  append_list(text, "wrappers", wrappers);
  append_list(text, "stages", stages);
  append_list(text, "paths", paths);
  if (!structure.streams.empty()) append_list(text, "streams", streams);
  return text + "}\n";
}

Structure structure_from_json(std::string_view text) {
  try {
    Structure structure = read_structure(parsed(text));
    Wrongs wrongs;
    check_hosts(structure, wrongs);
    check_wrappers(structure, wrongs);
    check_stages(structure, wrongs);
    check_paths(structure, wrongs);
    check_streams(structure, wrongs);
    wrongs.throw_if_any();
    return structure;
  } catch (const std::exception& error) {
    throw std::runtime_error(
        fmt::format("the structure of the run: {}", base::visible(without_id(error.what()))));
  }
}

}  // namespace eventspace
