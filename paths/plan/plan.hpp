// SPDX-License-Identifier: Apache-2.0
// paths/plan/plan.hpp — a communication structure as a value: hosts, elements, wrappers, stages,
// paths.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/digest.hpp"
#include "base/settings.hpp"
#include "pastset/shared/access.hpp"
#include "pastset/shared/sizes.hpp"
#include "pastset/template.hpp"
#include "paths/operation.hpp"
#include "paths/plan/ways.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// The low level of the config, resolved: the paths of every thread and where they meet, which form
/// the trees of Bongo et al. 2004, §III-A. Built from YAML (config.hpp) or by code; the
/// same plan on every host of a run, told apart from others by its digest.
///
/// Everything refers by index into these vectors. Nothing is kept per thread: a path stands for a
/// range of threads of one host.
struct Plan {
  enum class Transport : std::uint8_t { tcp, ipc };
  /// Their words, in the order of the enum.
  static constexpr std::array<std::string_view, 2> transport_words = {"tcp", "ipc"};
  enum class Connection : std::uint8_t { per_path, shared };

  struct PlanHost {
    std::string name;
    std::uint32_t cluster = 0;
    std::uint32_t threads = 0;       ///< of the application; 0 for a gateway
    std::uint32_t first_thread = 0;  ///< rank of its thread 0 in the whole program
    double speed = 1.0;              ///< computing takes declared time divided by this
    std::string address;             ///< "tcp://127.0.0.1:7700" or "ipc:///path"
    base::Position position;
    std::vector<std::string> groups{};  ///< inside its cluster, outermost first
    bool shares_space = false;          ///< of elements that say nothing of it
  };
  struct PlanElement {
    std::string name;
    std::uint32_t host = 0;
    pastset::Template tuple_template;
    std::uint64_t delta = 0;
    std::uint64_t keep_newest = 1;
    /// In memory that other processes of the machine may map, where hosts are processes.
    std::optional<pastset::SharedSizes> shared{};
    base::Position position;
  };
  struct PlanWrapper {
    std::string name;  ///< "" for one written in place on a path
    std::string kind;
    std::uint32_t host = 0;
    base::Settings settings;  ///< a map
    std::uint32_t slots = 0;  ///< contributors that enter it (counted, not written)
  };
  struct PlanStage {
    std::uint32_t wrapper = 0;
    StageId below = no_stage;
    std::uint32_t slot = 0;
    std::uint32_t role = 0;
  };
  struct PlanPath {
    std::string graph;  ///< the collective's or element's name, by which a thread finds it
    std::uint32_t host = 0;
    std::uint32_t first_thread = 0;  ///< of that host
    std::uint32_t threads = 0;       ///< 0: driven by its first wrapper (prefetch), no thread
    std::uint32_t slot = 0;          ///< its first thread's slot at its first stage
    StageId stage = no_stage;        ///< where it begins
    std::uint32_t graph_number = 0;  ///< index into `graphs`: set by finish_plan()
    base::Position position;
  };
  /// What paths of one name are together. Of those that the config says nothing of, as of elements
  /// with paths to them, only the name is known.
  struct PlanGraph {
    std::string name;
    std::string kind;          ///< of a collective, or "exchange"
    std::string of;            ///< the collective or exchange that it belongs to
    std::string algorithm;     ///< as paths/config/algorithm.hpp has it; "" when there is no choice
    base::Settings settings;   ///< what is reduced, as the kind's joins have it
    base::Settings condition;  ///< null when there is none
    base::Position position;
    std::uint64_t threads = 0;  ///< that have paths of this name: set by finish_plan()
  };

  /// Threads that are called together what the config says; who uses them is its own affair.
  struct PlanGroup {
    std::string name;
    std::vector<std::uint32_t> threads;  ///< ranks, rising
  };

  /// Where paths enter a host from another one: slots in a row of one stage.
  struct Entrance {
    std::uint32_t from_host = 0;
    StageId stage = no_stage;
    std::uint32_t slot = 0;
    std::uint32_t slots = 0;
    std::uint32_t path = 0;  ///< one that enters here, for messages
  };

  /// What one host has of all this, so that a host need not look through the whole plan.
  struct HostPlan {
    std::vector<std::uint32_t> elements;
    std::vector<std::uint32_t> wrappers;
    std::vector<StageId> stages;
    std::vector<std::uint32_t> paths;  ///< that begin there
    std::vector<Entrance> entrances;
    /// How often the host will see the release of a path that passes through it: of threads'
    /// paths (its own included) and of those that wrappers drive.
    std::uint64_t thread_releases = 0;
    std::uint64_t background_releases = 0;
  };

  std::vector<std::string> clusters;
  std::vector<PlanHost> hosts;
  std::vector<PlanElement> elements;
  std::vector<PlanWrapper> wrappers;
  std::vector<PlanStage> stages;
  std::vector<PlanPath> paths;

  Transport transport = Transport::tcp;
  /// Nothing says where hosts listen: it is 127.0.0.1 and the ports from the usual one.
  bool are_addresses_usual = false;
  Connection connection = Connection::per_path;
  bool security_plain = false;  ///< listening beyond loopback was allowed in words
  base::Nanos deadline = std::chrono::seconds(60);
  bool deadline_written = false;
  std::uint64_t stack_bytes = 0;  ///< of a thread; 0: not written
  runtime::Waiting waiting = runtime::Waiting::adaptive;
  bool shared_memory = true;  ///< between processes of one machine, where they can have it
  bool requires_shared_memory = false;  ///< the config says true: without it a host fails
  pastset::SharedAccess shared_access = pastset::SharedAccess::own_processes;
  base::Nanos lock_patience = pastset::usual_lock_patience;  ///< of shared spaces
  /// Of every config at the high level; printed, and so part of the digest, with `lanes` only.
  std::optional<Ways> ways;
  LaneSettings lanes;
  std::vector<PlanGroup> groups;
  std::vector<PlanGraph> graphs;  ///< of every path, in their order: completed by finish_plan()
  base::Digest digest;            ///< of print_plan(): set by finish_plan()
  std::vector<HostPlan> shares;   ///< per host: set by finish_plan()

  /// Names to indices, made by index_names(): without them every look-up is a search.
  std::unordered_map<std::string, std::uint32_t> host_index;
  std::unordered_map<std::string, std::uint32_t> element_index;
  void index_names();

  /// Nothing for a word of none.
  static std::optional<Transport> transport_named(std::string_view word);
  std::string_view transport_word() const {
    return transport_words.at(static_cast<std::size_t>(transport));
  }
  std::uint32_t thread_count() const;
  std::optional<std::uint32_t> host_named(std::string_view name) const;
  std::optional<std::uint32_t> graph_named(std::string_view name) const;
  std::vector<std::string_view> graph_names() const;
  std::optional<std::uint32_t> element_named(std::string_view name) const;
  const std::string& cluster_of(std::uint32_t host) const { return clusters[hosts[host].cluster]; }
  std::uint32_t host_of(StageId stage) const { return wrappers[stages[stage].wrapper].host; }
  /// "thread alpha-0/3": who began an operation, of a path's `thread`; of a path that a wrapper
  /// begins, "host alpha-1".
  std::string beginner(std::uint32_t path, std::uint32_t thread) const;
  /// "thread alpha-0/3", "host alpha-1", "cluster beta": whose contribution enters `wrapper` at
  /// `slot`.
  std::string contributor(std::uint32_t wrapper, std::uint32_t slot) const;
};

}  // namespace paths
