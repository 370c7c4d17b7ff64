// SPDX-License-Identifier: Apache-2.0
// paths/config/read_collectives.cpp — reader of collectives: their values and algorithms.
#include <fmt/format.h>

#include <algorithm>

#include "base/near_match.hpp"
#include "paths/config/low_level.hpp"
#include "paths/config/multi_cluster.hpp"
#include "paths/joins/reduction.hpp"

namespace paths {
namespace {

using base::Settings;

const base::Position command_line{"command line", 0, 0};

class CollectiveReader {
 public:
  CollectiveReader(const WrapperKinds& kinds, const Overrides& overrides, MultiCluster& all,
                   base::Mistakes& mistakes)
      : kinds_(kinds), overrides_(overrides), all_(all), mistakes_(mistakes) {}

  void read(const Settings& name, const Settings& value) {
    collective_ = {};
    collective_.name = name;
    base::MapReader reader(value, mistakes_, "collective " + name.text());
    collective_.kind = reader.choice("kind", kinds_.collectives(), "allreduce");
    read_settings(reader);
    read_algorithm(reader);
    read_condition_of(reader);
    read_root(reader);
    collective_.fan_out = static_cast<std::uint32_t>(reader.integer("fan_out", 0, 2, 1'000'000));
    std::vector<std::string_view> kinds;
    for (const WrapperKind& kind : kinds_.all())
      if (kind.job != Job::collector) kinds.emplace_back(kind.name);
    collective_.instrumented = read_instrument(reader, overrides_, kinds);
    reader.finish();
    all_.collectives.push_back(collective_);
  }

 private:
  /// Reads and checks the settings that all joins of the collective get. After a mistake in these
  /// settings, no joins are created, because each join would report the same mistake.
  void read_settings(base::MapReader& reader) {
    const CollectiveKind& kind = *kinds_.at(collective_.kind).collective;
    if (kind.read != nullptr) kind.read(reader);
    collective_.settings = kind.own_settings(reader.map());
    const Settings* value = collective_.settings.find("template");
    if (value == nullptr) return;
    if (const auto parsed = pastset::Template::parse(value->text())) collective_.value = *parsed;
  }

  void read_algorithm(base::MapReader& reader) {
    collective_.algorithm = sequential_algorithm();
    if (!has_algorithms(collective_.kind)) return;
    const bool has_graph = reader.has("graph");
    const std::string graph = reader.choice("graph", {"tree", "all_to_all"}, "tree");
    const auto algorithm = reader.word("algorithm");
    if (overrides_.algorithm || algorithm) {
      const bool says_both = has_graph || reader.has("relaxation") || reader.has("transfer");
      for (const char* key : {"relaxation", "transfer"}) reader.take(key);
      if (algorithm && says_both)
        reader.mistake("algorithm",
                       "expected either algorithm or graph, relaxation and transfer, found both");
      if (overrides_.algorithm) return set_algorithm(*overrides_.algorithm, command_line, "--");
      return set_algorithm(*algorithm, reader.position_of("algorithm"), "");
    }
    collective_.algorithm = read_relaxation(reader, collective_.kind, graph == "all_to_all");
  }

  void set_algorithm(const std::string& word, const base::Position& position,
                     std::string_view dashes) {
    std::string wrong;
    const auto algorithm = parse_algorithm(word, collective_.kind, wrong);
    if (!algorithm) return mistakes_.add(position, fmt::format("{}algorithm: {}", dashes, wrong));
    collective_.algorithm = *algorithm;
    collective_.algorithm_position = position;
  }

  void read_condition_of(base::MapReader& reader) {
    if (!has_algorithms(collective_.kind)) return;
    const bool needs_proof = collective_.algorithm.word->needs_proof;
    if (!reader.has("condition")) {
      if (!needs_proof) return;
      const std::string message = fmt::format(
          "condition: missing in collective {}, expected one such as {{less: 0.01}}, "
          "because its relaxation is {}",
          collective_.name.text(), collective_.algorithm.word->name);
      mistakes_.add(reader.map().position(), message);
      return;
    }
    collective_.written_condition = reader.take("condition");
    const std::vector<pastset::Field>& fields = collective_.value.fields();
    if (fields.size() != 1 || fields[0].kind != pastset::Field::Kind::scalar) {
      if (!fields.empty())
        reader.mistake("condition", fmt::format("expected a template of one scalar, found '{}'",
                                                collective_.value.text()));
      return;
    }
    const auto spec = read_condition(reader, fields[0].scalar);
    if (!spec) return;
    const Reduction reduction = reduction_of(collective_.settings);
    std::string reason = why_no_condition(reduction.operation->name, spec->comparison);
    if (reason.empty() && needs_proof)
      reason = why_not_provable(reduction.operation->name, reduction.sign, spec->comparison,
                                reduction.shape.scalar, reduction.values);
    if (!reason.empty()) reader.mistake("condition", reason);
  }

  /// Reads the setting `root` of a collective. The default is the first host of the config that has
  /// threads.
  void read_root(base::MapReader& reader) {
    for (std::uint32_t cluster = 0; cluster < all_.clusters.size(); ++cluster) {
      const auto hosts = all_.computing(cluster);
      if (hosts.empty()) continue;
      collective_.root_cluster = cluster;
      collective_.root_host = hosts.front();
      break;
    }
    const auto written = reader.word("root");
    if (overrides_.root) return set_root(*overrides_.root, command_line, "--root");
    if (written) set_root(*written, reader.position_of("root"), "root");
  }

  void set_root(const std::string& word, const base::Position& position, std::string_view what) {
    const auto slash = word.find('/');
    const auto written = Settings::scalar(word.substr(0, slash), position);
    const auto cluster = all_.cluster_named(written.text());
    if (!cluster)
      return mistakes_.add(
          position, fmt::format("{}: {}", what,
                                not_named("CLUSTER/HOST", written, written_names(all_.clusters))));
    const auto hosts = all_.computing(*cluster);
    const std::string host = slash == std::string::npos ? "" : word.substr(slash + 1);
    const auto found = std::find_if(hosts.begin(), hosts.end(), [&](std::uint32_t one) {
      return slash == std::string::npos || all_.host_name(one) == host;
    });
    if (found == hosts.end()) {
      std::vector<std::string> names;
      for (const std::uint32_t one : hosts) names.push_back(all_.host_name(one));
      mistakes_.add(
          position,
          fmt::format("{}: {}", what,
                      not_named(fmt::format("a host with threads of cluster {}", written.text()),
                                Settings::scalar(host, position), {names.begin(), names.end()})));
      return;
    }
    collective_.root_cluster = *cluster;
    collective_.root_host = *found;
  }

  const WrapperKinds& kinds_;
  const Overrides& overrides_;
  MultiCluster& all_;
  base::Mistakes& mistakes_;
  MultiCluster::Collective collective_;
};

}  // namespace

void read_collectives(const Settings& section, const WrapperKinds& kinds,
                      const Overrides& overrides, MultiCluster& multi_cluster,
                      base::Mistakes& mistakes) {
  CollectiveReader reader(kinds, overrides, multi_cluster, mistakes);
  for (const auto& [name, value] : section.entries())
    if (check_name(name, "a collective", mistakes)) reader.read(name, value);
  const auto& all = multi_cluster.collectives;
  const bool has_some = std::any_of(all.begin(), all.end(), [](const auto& collective) {
    return has_algorithms(collective.kind);
  });
  if (!overrides.algorithm || has_some) return;
  std::vector<std::string_view> names = kinds.collectives();
  std::erase_if(names, [](std::string_view kind) { return !has_algorithms(kind); });
  mistakes.add(command_line, fmt::format("--algorithm: the config has no collective of kind {}",
                                         base::either_of(names)));
}

}  // namespace paths
