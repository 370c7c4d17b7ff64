// SPDX-License-Identifier: Apache-2.0
// paths/plan/plan.hpp — communication structure: hosts, elements, wrappers, stages and paths.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/address.hpp"
#include "base/digest.hpp"
#include "base/settings.hpp"
#include "pastset/shared/access.hpp"
#include "pastset/shared/sizes.hpp"
#include "pastset/template.hpp"
#include "paths/operation.hpp"
#include "paths/plan/ways.hpp"
#include "runtime/runtime.hpp"

namespace tuning {
struct HostCosts;
}
namespace tuner {
class DecisionTable;
}

namespace paths {

struct HostKeys;

/// Communication structure of a run: the paths of every thread, and the joins where they meet. The
/// paths form the trees of Bongo et al. 2004, §III-A. A plan has the contents of a low-level
/// config, with all names resolved. The config reader (config.hpp) or the program's code builds the
/// plan. All hosts of a run have the same plan, and compare its digest.
///
/// Hosts, elements, wrappers, stages and paths refer to each other by their indexes in the vectors
/// of this struct. The plan has no data for single threads: a path stands for a range of threads of
/// one host.
struct Plan {
  enum class Connection : std::uint8_t { per_path, shared };
  /// Protection of connections over a network.
  enum class Security : std::uint8_t {
    run,      ///< encryption with a key pair that the whole run shares
    network,  ///< no encryption by PATHS: the network itself is protected
    plain,    ///< no encryption; strangers can read and forge messages
    keys,     ///< encryption with a key pair of each host
  };
  /// Words for the values of Security in a config, in the order of the values. `keys` has no word,
  /// because a config writes `keys` as a map.
  static constexpr std::array<std::string_view, 3> security_words = {"run", "network", "plain"};

  struct PlanHost {
    std::string name;
    std::uint32_t cluster = 0;
    std::uint32_t threads = 0;       ///< number of application threads; 0 for a gateway
    std::uint32_t first_thread = 0;  ///< rank of the host's thread 0 among all threads of the plan
    double speed = 1.0;              ///< factor by which declared computing times are divided
    std::string address;             ///< "tcp://127.0.0.1:7700" or "ipc:///path"
    base::Position position;
    std::vector<std::string> groups{};  ///< groups of hosts that contain this host, outermost first
    /// Whether elements of this host that do not have the setting `shared` are shared.
    bool shares_space = false;
  };
  struct PlanElement {
    std::string name;
    std::uint32_t host = 0;
    pastset::Template tuple_template;
    std::uint64_t delta = 0;
    std::uint64_t keep_newest = 1;
    /// Sizes of the memory of an element that other processes of the machine may map; nullopt if
    /// the element is in memory of its own process.
    std::optional<pastset::SharedSizes> shared{};
    base::Position position;
  };
  struct PlanWrapper {
    std::string name;  ///< name of the wrapper; "" if the wrapper is written in place
    std::string kind;
    std::uint32_t host = 0;
    base::Settings settings;  ///< map from names of settings to values
    std::uint32_t slots = 0;  ///< number of contributors; count_slots() sets it
    /// Maximum number of other hosts that an operation passes before it arrives at this wrapper;
    /// set by finish_plan().
    std::uint32_t hosts_above = 0;
  };
  struct PlanStage {
    std::uint32_t wrapper = 0;
    StageId below = no_stage;
    std::uint32_t slot = 0;
    std::uint32_t role = 0;
  };
  struct PlanPath {
    std::string graph;  ///< name of the collective or element, by which a thread finds the path
    std::uint32_t host = 0;
    std::uint32_t first_thread = 0;  ///< index of the path's first thread on the host
    std::uint32_t threads = 0;       ///< 0 if the path's first wrapper starts the operations
    std::uint32_t slot = 0;          ///< slot of the path's first thread at the path's first stage
    StageId stage = no_stage;        ///< first stage of the path
    std::uint32_t graph_number = 0;  ///< index of the graph in `graphs`; set by finish_plan()
    base::Position position;
  };
  /// Common data of all paths of one graph. If these paths are only declared as paths to an
  /// element, only the name of the graph is known.
  struct PlanGraph {
    std::string name;
    std::string kind;          ///< kind of collective; "exchange" for an exchange
    std::string of;            ///< name of the collective or exchange to which the graph belongs
    std::string algorithm;     ///< setting `algorithm` of the collective; "" if not given
    base::Settings settings;   ///< settings of the reduction, as in all joins of the graph
    base::Settings condition;  ///< condition of the collective; null if it has no condition
    base::Position position;
    std::uint64_t threads = 0;  ///< number of threads that have a path; set by finish_plan()
  };

  /// Named set of threads. The config declares it, and modules such as groups/ use it.
  struct PlanGroup {
    std::string name;
    std::vector<std::uint32_t> threads;  ///< ranks of the members, in ascending order
  };

  /// Stage that paths from another host enter, and the slots of the stage that these paths use.
  struct Entrance {
    std::uint32_t from_host = 0;
    StageId stage = no_stage;
    std::uint32_t slot = 0;
    std::uint32_t slots = 0;
    std::uint32_t path = 0;  ///< some path that enters the stage, for error messages
  };

  /// Part of the plan that concerns one host, so that a host need not search the whole plan.
  struct HostPlan {
    std::vector<std::uint32_t> elements;
    std::vector<std::uint32_t> wrappers;
    std::vector<StageId> stages;
    std::vector<std::uint32_t> paths;  ///< indexes of the paths that begin on the host
    std::vector<Entrance> entrances;
    /// Number of releases that will pass this host, from paths that begin at a thread of any host.
    std::uint64_t thread_releases = 0;
    /// Number of releases that will pass this host, from paths whose first wrapper starts the
    /// operations.
    std::uint64_t background_releases = 0;
  };

  std::vector<std::string> clusters;
  std::vector<PlanHost> hosts;
  std::vector<PlanElement> elements;
  std::vector<PlanWrapper> wrappers;
  std::vector<PlanStage> stages;
  std::vector<PlanPath> paths;

  const base::TransportKind* transport = base::transport_kinds.data();
  /// Whether the config has no addresses. Hosts then listen on 127.0.0.1 with the default ports.
  bool are_addresses_usual = false;
  Connection connection = Connection::per_path;
  Security security = Security::run;
  bool security_written = false;  ///< whether the config has the key; the key is printed only then
  /// Whether hosts may connect from addresses that the config does not have (`behind: nat`).
  bool is_behind_nat = false;
  /// Pairs of clusters, the lower index first, whose hosts connect to each other without
  /// encryption, because the network between them is protected (`security: network` of a link).
  std::set<std::pair<std::uint32_t, std::uint32_t>> protected_links;
  /// Public keys of the hosts; nullptr unless `security` is Security::keys. The digest of the plan
  /// covers the name of the file with the keys, not the keys. The keys can therefore be replaced
  /// machine by machine.
  std::shared_ptr<const HostKeys> host_keys;
  /// Interval at which hosts send signs of life (`beat`), and duration after which a host that has
  /// sent no sign of life counts as gone (`silent`).
  struct Liveness {
    base::Nanos beat = std::chrono::seconds(1);
    base::Nanos silent = std::chrono::seconds(15);
    bool is_written = false;  ///< whether the config has the key; the key is printed only then
  };
  Liveness liveness;
  base::Nanos deadline = std::chrono::seconds(60);
  bool deadline_written = false;
  std::uint64_t stack_bytes = 0;  ///< stack size of each thread; 0 = not set in the config
  runtime::Waiting waiting = runtime::Waiting::adaptive;
  bool shared_memory = true;  ///< whether processes of one machine use shared memory if they can
  bool requires_shared_memory = false;  ///< whether a host fails if it cannot use shared memory
  pastset::SharedAccess shared_access = pastset::SharedAccess::own_processes;
  base::Nanos lock_patience = pastset::usual_lock_patience;  ///< lock timeout in shared spaces
  /// Routes between all hosts. Every high-level config sets this member. print_plan() prints the
  /// routes, and the digest covers them, only if the config has the key `lanes`.
  std::optional<Ways> ways;
  LaneSettings lanes;
  /// Table from which groups take their schedules; nullptr = groups choose schedules by predicted
  /// times. The digest of the plan covers the table.
  std::shared_ptr<const tuner::DecisionTable> decisions;
  /// Time that hosts spend on each message and fold; nullptr = the config states no such costs.
  /// Work on the virtual clock then takes no time.
  std::shared_ptr<const tuning::HostCosts> costs;
  std::vector<PlanGroup> groups;
  /// Graphs in the order of their first paths; set by finish_plan().
  std::vector<PlanGraph> graphs;
  base::Digest digest;           ///< digest of the printed plan; set by finish_plan()
  std::vector<HostPlan> shares;  ///< part of the plan for each host; set by finish_plan()

  /// Index of each host or element, keyed by the name. index_names() fills these maps. If they are
  /// empty, every look-up searches the vector.
  std::unordered_map<std::string, std::uint32_t> host_index;
  std::unordered_map<std::string, std::uint32_t> element_index;
  void index_names();

  static std::optional<Security> security_named(std::string_view word);
  /// Returns whether hosts of two clusters, or of one cluster, encrypt what they send to each other
  /// over a network.
  bool encrypts_between(std::uint32_t cluster, std::uint32_t other) const;
  std::uint32_t thread_count() const;
  std::optional<std::uint32_t> host_named(std::string_view name) const;
  std::optional<std::uint32_t> graph_named(std::string_view name) const;
  std::optional<std::uint32_t> element_named(std::string_view name) const;
  const std::string& cluster_of(std::uint32_t host) const { return clusters[hosts[host].cluster]; }
  /// Returns the last stage of all paths that pass `stage`.
  StageId end_of(StageId stage) const {
    while (stages[stage].below != no_stage) stage = stages[stage].below;
    return stage;
  }
  std::uint32_t host_of(StageId stage) const { return wrappers[stages[stage].wrapper].host; }
  /// Returns text that names the origin of the operations of a path: "thread alpha-0/3", or "host
  /// alpha-1" if a wrapper drives the path. `thread` is the index of the thread on the path.
  std::string beginner(std::uint32_t path, std::uint32_t thread) const;
  /// Returns text that names the contributor at `slot` of `wrapper`, such as "thread alpha-0/3",
  /// "host alpha-1" or "cluster beta".
  std::string contributor(std::uint32_t wrapper, std::uint32_t slot) const;
};

}  // namespace paths
