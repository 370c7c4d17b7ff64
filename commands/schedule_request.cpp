// SPDX-License-Identifier: Apache-2.0
// commands/schedule_request.cpp — parsing of options about schedules, with all mistakes.
#include "commands/schedule_request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <limits>
#include <stdexcept>

#include "base/near_match.hpp"
#include "collectives/algorithms/all.hpp"
#include "collectives/cost/bound.hpp"
#include "groups/selection/network_of.hpp"
#include "paths/config/config.hpp"
#include "wrappers/all.hpp"

namespace commands {
namespace {

using collectives::Algorithm;
using collectives::Collective;
using collectives::CollectiveSpec;
using collectives::Count;
using collectives::Counts;
using collectives::Rank;
using collectives::Topology;

constexpr std::uint64_t participants_max = 1'000'000;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts{""};
  for (const char letter : text) {
    if (letter == at)
      parts.emplace_back();
    else
      parts.back() += letter;
  }
  return parts;
}

/// Returns the error message for the name of an unknown host. The message does not list all hosts,
/// because there may be many.
std::string no_such_host(const std::string& found, const std::vector<std::string>& hosts) {
  return fmt::format("expected a host of the config that has threads, found '{}'{}", found,
                     base::did_you_mean(found, {hosts.begin(), hosts.end()}));
}

void read_config(const std::string& file, Participants& read, base::Mistakes& mistakes) {
  try {
    read.plan = std::make_shared<const paths::Plan>(paths::load_plan(file, wrappers::all_kinds()));
    const paths::Plan& plan = *read.plan;
    read.network = groups::network_of(plan);
    read.topology = read.network->topology;
    const std::vector<std::uint32_t> hosts = groups::participants_of(plan);
    for (const std::uint32_t host : hosts) read.hosts.push_back(plan.hosts[host].name);
    if (plan.shared_memory) read.machines = groups::Machines::of(plan, hosts, *read.topology);
    for (std::size_t cluster = 0; cluster < read.topology->clusters(); ++cluster)
      read.clusters.push_back(plan.cluster_of(hosts[read.topology->cluster(cluster)[0]]));
  } catch (const base::ConfigError& error) {
    for (const auto& [position, message] : error.mistakes())
      mistakes.add(position.file.empty() ? base::Position{file, 0, 0} : position, message);
  }
}

void read_clusters(const std::string& text, Participants& read, base::Mistakes& mistakes) {
  std::vector<std::size_t> sizes;
  std::uint64_t all = 0;
  for (const std::string& word : split(text, ',')) {
    const auto size = base::parse_natural(word);
    if (!size || *size == 0 || *size > participants_max) {
      add_mistake(
          mistakes,
          fmt::format("--clusters: expected the number of hosts of each, such as 4,4, found '{}'",
                      word));
      continue;
    }
    all += *size;
    sizes.push_back(*size);
  }
  if (all > participants_max)
    add_mistake(mistakes, fmt::format("--clusters: expected at most {} hosts in total, found {}",
                                      participants_max, all));
  if (sizes.empty() || all > participants_max) return;
  read.topology = std::make_shared<const Topology>(Topology::clustered(sizes));
  for (Rank rank = 0; rank < read.topology->size(); ++rank)
    read.hosts.push_back(fmt::format("{}", rank));
  for (std::size_t cluster = 0; cluster < read.topology->clusters(); ++cluster)
    read.clusters.push_back(fmt::format("cluster {}", cluster));
}

/// Returns the host that a word in an option names. The word is the name of a host, CLUSTER/HOST,
/// or a rank.
Rank read_host(std::string_view option, const std::string& word, const Participants& all,
               base::Mistakes& mistakes) {
  for (Rank rank = 0; rank < all.hosts.size(); ++rank)
    if (word == all.hosts[rank] ||
        word == all.clusters[all.topology->cluster_of(rank)] + "/" + all.hosts[rank])
      return rank;
  const auto number = base::parse_natural(word);
  if (number && *number < all.hosts.size()) return static_cast<Rank>(*number);
  add_mistake(mistakes,
              fmt::format("{}: {}", option,
                          all.network ? no_such_host(word, all.hosts)
                                      : fmt::format("expected a host from 0 to {}, found '{}'",
                                                    all.hosts.size() - 1, word)));
  return 0;
}

/// Converts the sizes in the option `--size` to numbers of elements.
std::vector<Count> read_elements(const ScheduleOptions& options, Count element_bytes,
                                 base::Mistakes& mistakes) {
  std::vector<Count> elements;
  for (const std::string& word : split(options.size, ',')) {
    const auto bytes = base::parse_bytes(word);
    elements.push_back(bytes.value_or(0) / element_bytes);
    if (!bytes)
      add_mistake(mistakes, fmt::format("--size: expected a size such as 1MiB, found '{}'", word));
    else if (*bytes % element_bytes != 0)
      add_mistake(mistakes, fmt::format("--size: expected a whole number of elements of {}, found "
                                        "'{}'",
                                        base::format_bytes(element_bytes), word));
  }
  return elements;
}

void set_counts(const std::vector<Count>& elements, Count element_bytes, CollectiveSpec& task,
                base::Mistakes& mistakes) {
  const std::size_t blocks = task.counts.blocks();
  if (elements.size() != 1 && elements.size() != blocks) {
    add_mistake(mistakes,
                fmt::format("--size: expected one{}, found {}",
                            blocks == 1 ? "" : fmt::format(", or {}", blocks), elements.size()));
    return;
  }
  try {
    task.counts =
        elements.size() == 1 ? Counts::each(elements[0], blocks) : Counts::listed(elements);
    if (task.counts.total() > std::numeric_limits<Count>::max() / element_bytes)
      throw std::invalid_argument("their sum is more bytes than 64 bits can hold");
  } catch (const std::invalid_argument& error) {
    add_mistake(mistakes, fmt::format("--size: {}", error.what()));
  }
}

void read_task(const ScheduleOptions& options, Collective collective, Needed needed,
               ScheduleRequest& request, base::Mistakes& mistakes) {
  const Participants& all = request.participants;
  const auto element = base::parse_bytes(options.element);
  if (!element || *element == 0)
    add_mistake(mistakes,
                fmt::format("--element: expected a size such as 8B, found '{}'", options.element));
  request.element_bytes = std::max<Count>(element.value_or(1), 1);
  request.task = make_spec(collective, all.topology, 1);
  const bool has_one_block = request.task.counts.blocks() == 1;
  if (collective == Collective::barrier) {
    if (!options.size.empty())
      add_mistake(mistakes, "--size: a barrier moves no bytes; expected none");
  } else if (!options.size.empty()) {
    set_counts(read_elements(options, request.element_bytes, mistakes), request.element_bytes,
               request.task, mistakes);
  } else if (needed.size) {
    add_mistake(mistakes, "--size: expected a size such as 1MiB, found none");
  } else if (has_one_block) {
    request.task.counts = Counts::each(all.topology->size(), 1);
  }
  if (options.root.empty()) return;
  if (collectives::has_root(collective))
    request.task.root = read_host("--root", options.root, all, mistakes);
  else
    add_mistake(mistakes,
                fmt::format("--root: {} has none, found '{}'", name_of(collective), options.root));
}

/// Returns the allreduce that the config declares under that name; nullopt if there is none.
std::optional<DeclaredCollective> find_declared(const paths::Plan& plan, const std::string& name) {
  const auto number = plan.graph_named(name);
  if (!number || plan.graphs[*number].kind != name_of(Collective::allreduce)) return std::nullopt;
  const paths::Plan::PlanGraph& graph = plan.graphs[*number];
  const bool has_schedule =
      std::any_of(plan.wrappers.begin(), plan.wrappers.end(), [&](const auto& wrapper) {
        return wrapper.kind == "schedule" && wrapper.settings.find("collective") != nullptr &&
               wrapper.settings.find("collective")->text() == name;
      });
  return DeclaredCollective{name, graph.algorithm, has_schedule,
                            paths::reduction_of(graph.settings)};
}

/// Sets the spec of a collective that the config declares. Its size and root come from the config,
/// so the options `--size` and `--root` are mistakes.
void read_declared(const ScheduleOptions& options, ScheduleRequest& request,
                   base::Mistakes& mistakes) {
  const DeclaredCollective& declared = *request.declared;
  for (const auto& [option, given] :
       {std::pair("--size", !options.size.empty()), std::pair("--root", !options.root.empty())})
    if (given)
      add_mistake(mistakes, fmt::format("{}: expected none, because the config declares {}", option,
                                        declared.name));
  request.element_bytes = declared.reduction.shape.bytes() / declared.reduction.shape.count;
  request.task = make_spec(Collective::allreduce, request.participants.topology,
                           declared.reduction.shape.count);
}

/// Returns the names of the algorithms that support the collective, for an error message.
std::string those_for(Collective collective) {
  std::vector<std::string_view> names;
  for (const Algorithm& algorithm : collectives::all_algorithms())
    if (algorithm.does(collective)) names.emplace_back(algorithm.name);
  return base::either_of(names);
}

void read_algorithm(const std::string& text, ScheduleRequest& request, base::Mistakes& mistakes) {
  try {
    const auto [name, parameters] = collectives::split_at_colon(text);
    request.algorithm = &collectives::algorithm_named(name);
    request.parameters = request.algorithm->read(parameters);
  } catch (const std::invalid_argument& error) {
    add_mistake(mistakes, fmt::format("--algorithm: {}", error.what()));
  }
}

}  // namespace

void add_mistake(base::Mistakes& mistakes, const std::string& message) {
  mistakes.add({"command line", 0, 0}, message);
}

void add_group_options(CLI::App& command, ScheduleOptions& options) {
  command.add_option("FILE", options.file, "a config of either level, whose hosts take part");
  command
      .add_option("--clusters", options.clusters,
                  "instead of a config: number of hosts of each\ncluster, such as 4,4")
      ->type_name("COUNTS");
}

void add_task_options(CLI::App& command, ScheduleOptions& options) {
  command.add_option("--collective", options.collective, "broadcast, allreduce, ...")
      ->type_name("NAME");
  command
      .add_option("--size", options.size,
                  "size of the vector, or of each block;\nseveral, 8B,0B,16B, if blocks differ")
      ->type_name("SIZE");
  command.add_option("--element", options.element, "size of an element, which is never split")
      ->type_name("SIZE")
      ->capture_default_str();
}

void add_root_option(CLI::App& command, ScheduleOptions& options) {
  command.add_option("--root", options.root, "root host: its name, or its number from 0")
      ->type_name("HOST");
}

void add_algorithm_option(CLI::App& command, ScheduleOptions& options) {
  command
      .add_option("--algorithm", options.algorithm,
                  "one of `paths algorithms`, with parameters after\na colon: "
                  "stretched:exchange=two,stretch=64")
      ->type_name("NAME");
}

Participants read_participants(const ScheduleOptions& options, base::Mistakes& mistakes) {
  Participants read;
  if (options.file.empty() == options.clusters.empty())
    add_mistake(mistakes, fmt::format("expected a config or --clusters, found {}",
                                      options.file.empty() ? "neither" : "both"));
  else if (!options.file.empty())
    read_config(options.file, read, mistakes);
  else
    read_clusters(options.clusters, read, mistakes);
  return read;
}

std::optional<Collective> read_collective(const std::string& word, base::Mistakes& mistakes) {
  std::vector<std::string_view> known;
  for (const Collective collective : collectives::all_collectives) {
    if (name_of(collective) == word) return collective;
    known.push_back(name_of(collective));
  }
  add_mistake(mistakes, word.empty() ? fmt::format("--collective: expected {}, found none",
                                                   base::either_of(known))
                                     : "--collective: " + base::not_one_of(word, known));
  return std::nullopt;
}

ScheduleRequest read_request(const ScheduleOptions& options, Needed needed) {
  base::Mistakes mistakes;
  ScheduleRequest request;
  request.participants = read_participants(options, mistakes);
  const bool has_participants = request.participants.topology != nullptr;
  if (needed.may_be_declared && request.participants.plan)
    request.declared = find_declared(*request.participants.plan, options.collective);
  const auto collective = request.declared ? std::optional(Collective::allreduce)
                                           : read_collective(options.collective, mistakes);
  if (has_participants && !options.host.empty())
    request.host = read_host("--host", options.host, request.participants, mistakes);
  if (request.declared)
    read_declared(options, request, mistakes);
  else if (collective && has_participants)
    read_task(options, *collective, needed, request, mistakes);
  if (!options.algorithm.empty())
    read_algorithm(options.algorithm, request, mistakes);
  else if (needed.algorithm)
    add_mistake(mistakes, "--algorithm: expected " +
                              (collective ? those_for(*collective) : "one of `paths algorithms`") +
                              ", found none");
  if (request.algorithm != nullptr && collective && !request.algorithm->does(*collective))
    add_mistake(mistakes,
                fmt::format("--algorithm: {} is no {}; expected {}", request.algorithm->name,
                            name_of(*collective), those_for(*collective)));
  mistakes.throw_if_any();
  if (request.algorithm == nullptr) return request;
  if (const auto why = request.algorithm->why_not(request.task, request.parameters); !why.empty()) {
    const std::string words = request.algorithm->remedy(request.task, request.parameters);
    add_mistake(mistakes, fmt::format("--algorithm: {}: {}{}", request.schedule_text(), why,
                                      words.empty() ? "" : "; try " + words));
  }
  mistakes.throw_if_any();
  return request;
}

std::string ScheduleRequest::task_text() const {
  const collectives::Topology& topology = *participants.topology;
  std::vector<std::string> clusters;
  for (std::size_t cluster = 0; cluster < topology.clusters(); ++cluster)
    clusters.push_back(
        fmt::format("{} {}", participants.clusters[cluster], topology.cluster(cluster).size()));
  std::string text{name_of(task.collective)};
  if (task.collective != Collective::barrier)
    text += task.counts.blocks() == 1 ||
                    task.counts.largest() * task.counts.blocks() != task.counts.total()
                ? fmt::format(" of {}", base::format_bytes(bytes_of(task.counts.total())))
                : fmt::format(" of {} each", base::format_bytes(bytes_of(task.counts.largest())));
  if (collectives::has_root(task.collective))
    text += fmt::format(
        " {} {}",
        task.collective == Collective::broadcast || task.collective == Collective::scatter ? "from"
                                                                                           : "to",
        participants.hosts[task.root]);
  text += fmt::format(" over {} host{}", task.size(), task.size() == 1 ? "" : "s");
  if (topology.clusters() > 1)
    text += fmt::format(" in {} clusters ({})", topology.clusters(), fmt::join(clusters, ", "));
  return text;
}

std::string schedule_text(const Algorithm& algorithm, const CollectiveSpec& task,
                          const collectives::Parameters& parameters) {
  std::vector<std::string> values;
  for (const collectives::Parameter& parameter : algorithm.parameters)
    if (algorithm.matters(parameter, task.collective, parameters))
      values.push_back(parameter.name + "=" + parameters.word(parameter.name));
  return algorithm.name + (values.empty() ? "" : fmt::format(":{}", fmt::join(values, ",")));
}

std::string ScheduleRequest::schedule_text() const {
  return commands::schedule_text(*algorithm, task, parameters);
}

std::string with_names(const std::string& reason, const Participants& all) {
  const std::string before = "host ";
  const std::size_t at = reason.find(before);
  if (at == std::string::npos) return reason;
  const std::size_t from = at + before.size();
  const std::size_t end = std::min(reason.find(' ', from), reason.size());
  const auto rank = base::parse_natural(reason.substr(from, end - from));
  return rank ? reason.substr(0, from) + all.hosts.at(*rank) + reason.substr(end) : reason;
}

base::Nanos print_task(const ScheduleRequest& request) {
  const pricing::Bound bound =
      pricing::bound_of(request.task, request.element_bytes, *request.participants.network);
  std::cout << fmt::format("{}\n", request.task_text());
  if (bound.time > base::Nanos(0))
    std::cout << fmt::format("Lower bound: {} ({}).\n", milliseconds(bound.time),
                             with_names(bound.reason, request.participants));
  std::cout << '\n';
  return bound.time;
}

std::string ratio_text(base::Nanos time, base::Nanos bound) {
  if (bound <= base::Nanos(0)) return "";
  return fmt::format("{:.3f}",
                     static_cast<double>(time.count()) / static_cast<double>(bound.count()));
}

std::string milliseconds(base::Nanos time) {
  return fmt::format("{:.3f} ms", static_cast<double>(time.count()) / 1e6);
}

}  // namespace commands
