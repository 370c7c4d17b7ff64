// SPDX-License-Identifier: Apache-2.0
// paths/config/read_collectives.cpp — reads collectives: what they combine, by which algorithm.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/near_match.hpp"
#include "paths/config/low_level.hpp"
#include "paths/config/multi_cluster.hpp"

namespace paths {
namespace {

using base::Settings;

/// Those that collectives are made of.
constexpr std::array<std::string_view, 14> wrapper_kinds = {
    "allreduce", "reduce",  "broadcast",    "barrier",        "forward",
    "store",     "observe", "emulate_link", "prefetch",       "push",
    "periodic",  "lagged",  "lagged_check", "condition_check"};

const base::Position command_line{"command line", 0, 0};

class CollectiveReader {
 public:
  CollectiveReader(const Overrides& overrides, MultiCluster& all, base::Mistakes& mistakes)
      : overrides_(overrides), all_(all), mistakes_(mistakes) {}

  void read(const Settings& name, const Settings& value) {
    collective_ = {};
    collective_.name = name;
    base::MapReader reader(value, mistakes_, "collective " + name.text());
    collective_.kind =
        reader.choice("kind", {"allreduce", "reduce", "broadcast", "barrier"}, "allreduce");
    read_value(reader);
    read_algorithm(reader);
    read_condition_of(reader);
    read_root(reader);
    collective_.fan_out = static_cast<std::uint32_t>(reader.integer("fan_out", 0, 2, 1'000'000));
    collective_.instrumented =
        read_instrument(reader, overrides_, {wrapper_kinds.begin(), wrapper_kinds.end()});
    reader.finish();
    all_.collectives.push_back(collective_);
  }

 private:
  bool reduces() const { return collective_.kind == "allreduce" || collective_.kind == "reduce"; }

  void read_value(base::MapReader& reader) {
    std::vector<Settings::Entry> settings;
    const auto keep = [&](std::string_view key) {
      for (const auto& entry : reader.map().entries())
        if (entry.first.text() == key) settings.push_back(entry);
    };
    if (reduces()) {
      collective_.operation = reader.choice("operation", base::reduce_operation_names(), "sum");
      sign_ = read_sign(reader);
      if (!reader.has("operation"))
        settings.emplace_back(Settings::scalar("operation", reader.position()),
                              Settings::scalar("sum", reader.position()));
      keep("operation");
      keep("contributions");
    }
    if (collective_.kind != "barrier") {
      const std::string text = reader.required_word("template", "a template such as f64");
      std::string wrong;
      const auto value = pastset::Template::parse(text, &wrong);
      if (!value && reader.take("template").is_scalar()) reader.mistake("template", wrong);
      if (value) collective_.value = *value;
      keep("template");
    }
    collective_.settings = Settings::map(std::move(settings), reader.position());
  }

  void read_algorithm(base::MapReader& reader) {
    if (collective_.kind != "allreduce") return;
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
    collective_.all_to_all = graph == "all_to_all";
    collective_.relaxation = read_relaxation(reader, collective_.all_to_all);
  }

  void set_algorithm(const std::string& word, const base::Position& position,
                     std::string_view dashes) {
    std::string wrong;
    const auto algorithm = parse_algorithm(word, wrong);
    if (!algorithm) return mistakes_.add(position, fmt::format("{}algorithm: {}", dashes, wrong));
    collective_.all_to_all = algorithm->all_to_all;
    collective_.relaxation = algorithm->relaxation;
  }

  void read_condition_of(base::MapReader& reader) {
    const bool relaxed = collective_.relaxation.kind == Relaxation::Kind::conditional;
    if (collective_.kind != "allreduce") return;
    if (!reader.has("condition")) {
      if (!relaxed) return;
      const std::string message = fmt::format(
          "condition: missing in collective {}, expected one such as {{less: 0.01}}, "
          "because its relaxation is conditional",
          collective_.name.text());
      mistakes_.add(reader.position(), message);
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
    const auto spec = read_condition(reader, "condition", fields[0].scalar);
    if (!spec) return;
    std::string reason = why_no_condition(collective_.operation, spec->comparison);
    if (reason.empty() && relaxed)
      reason = why_not_provable(collective_.operation, sign_, spec->comparison);
    if (!reason.empty()) reader.mistake("condition", reason);
  }

  /// The first host with threads of the first cluster that has one, or what `root` says.
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
    if (!cluster) {
      std::vector<std::string_view> names;
      for (const auto& one : all_.clusters) names.emplace_back(one.name.text());
      mistakes_.add(position,
                    fmt::format("{}: {}", what, not_named("CLUSTER/HOST", written, names)));
      return;
    }
    const auto hosts = all_.computing(*cluster);
    const std::string host = slash == std::string::npos ? "" : word.substr(slash + 1);
    const auto found = std::find_if(hosts.begin(), hosts.end(), [&](std::uint32_t one) {
      return host.empty() || all_.host_name(one) == host;
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

  const Overrides& overrides_;
  MultiCluster& all_;
  base::Mistakes& mistakes_;
  MultiCluster::Collective collective_;
  base::Sign sign_ = base::Sign::any;
};

}  // namespace

void read_collectives(const Settings& section, const Overrides& overrides,
                      MultiCluster& multi_cluster, base::Mistakes& mistakes) {
  CollectiveReader reader(overrides, multi_cluster, mistakes);
  for (const auto& [name, value] : section.entries())
    if (check_name(name, "a collective", mistakes)) reader.read(name, value);
  const bool reduces =
      std::any_of(multi_cluster.collectives.begin(), multi_cluster.collectives.end(),
                  [](const MultiCluster::Collective& one) { return one.kind == "allreduce"; });
  if (overrides.algorithm && !reduces)
    mistakes.add(command_line, "--algorithm: the config has no collective of kind allreduce");
}

}  // namespace paths
