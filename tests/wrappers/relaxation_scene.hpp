// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/relaxation_scene.hpp — random multi-clusters under every relaxation, on one host.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "paths/joins/decision.hpp"
#include "runtime/random.hpp"
#include "tests/support/one_host.hpp"
#include "wrappers/condition_check.hpp"

namespace relaxation_tests {

using base::Nanos;
using paths::Condition;

/// A relaxation: how late results may be, and how values are transferred.
struct Relaxation {
  enum class Kind : std::uint8_t { exact, periodic, lagged, conditional, budget };
  enum class Transfer : std::uint8_t { pull, push, demand };
  Kind kind = Kind::exact;
  std::uint64_t rounds = 0;  ///< periodic: rounds per check; lagged, budget: rounds of lateness
  std::uint64_t every = 1;   ///< budget: number of rounds in one message
  Transfer transfer = Transfer::pull;
  std::uint64_t count = 1;  ///< number of tuples in one request
  bool all_to_all = true;

  bool is_late() const { return kind == Kind::lagged || kind == Kind::budget; }
  /// Returns whether each cluster must receive every value of every other cluster.
  bool tells_batches() const { return all_to_all && is_late(); }
};

/// A set of clusters: bit c stands for cluster c.
using ClusterSet = std::uint32_t;

enum class Fault : std::uint8_t {
  none,
  contribution,  ///< a thread's contribution fails
  store,         ///< the result element refuses a tuple
  link,          ///< transfers from other clusters fail from one message on
  asks,          ///< requests to other clusters fail from one message on
  deadline,      ///< a thread arrives only after the deadline of a round
};

struct SceneOptions {
  bool may_fail = true;
  std::optional<Relaxation::Kind> only = {};  ///< relaxation to use; nullopt = any
};

/// A random test program: its clusters, its values and its fault. The constructor makes all random
/// choices from the seed.
struct Scene {
  Scene(std::uint64_t seed, SceneOptions options);

  std::uint32_t clusters() const { return static_cast<std::uint32_t>(threads.size()); }
  ClusterSet everyone() const { return (1u << clusters()) - 1; }
  std::uint64_t contributors(ClusterSet set) const;
  /// Returns the combination of the values of the clusters in `set`. Combines the values of the
  /// threads in each cluster first, and then the results of the clusters.
  base::Payload fold(std::uint64_t iteration, ClusterSet set) const;
  base::Payload partial(std::uint64_t iteration, std::uint32_t cluster) const;
  bool is_proved_by(std::uint64_t iteration, ClusterSet set) const;
  Condition expected(std::uint64_t iteration) const;
  Nanos work(std::uint32_t cluster, std::uint32_t thread, std::uint64_t iteration) const;

  const Relaxation& relaxation() const { return algorithm; }
  bool may_prove() const { return relaxation().kind == Relaxation::Kind::conditional; }
  bool asks() const { return relaxation().transfer == Relaxation::Transfer::demand; }
  bool has_batches() const { return relaxation().tells_batches(); }
  /// Returns whether the round of an iteration continues down to the check of the condition.
  bool is_checked(std::uint64_t iteration) const {
    return relaxation().kind != Relaxation::Kind::periodic ||
           (iteration + 1) % relaxation().rounds == 0;
  }
  std::uint64_t lag() const { return relaxation().is_late() ? relaxation().rounds : 0; }
  /// Returns the index of the first message that a failing link does not deliver.
  std::uint64_t faulty_message() const {
    if (!algorithm.all_to_all) return faulty_iteration;
    return has_batches() ? faulty_iteration / relaxation().every : faulty_iteration / 2;
  }
  /// Returns the relaxation's name without its numbers.
  std::string family() const;

  std::uint64_t seed;
  std::vector<std::uint32_t> threads;  // number of threads of each cluster
  std::uint64_t iterations;
  Relaxation algorithm;
  paths::Decision decision;
  std::vector<std::vector<std::vector<base::Payload>>> values;  // [iteration][cluster][thread]
  Nanos work_max, link_max;
  double stall_chance;
  Fault fault = Fault::none;
  std::uint32_t faulty_cluster = 0, faulty_thread = 0;
  std::uint64_t faulty_iteration = 0;

 private:
  void draw_algorithm(runtime::Random& random, std::optional<Relaxation::Kind> only);
  void draw_transfer(runtime::Random& random);
  void draw_operation(runtime::Random& random);
  void draw_values(runtime::Random& random);
  void draw_constant(runtime::Random& random);
  void draw_fault(runtime::Random& random);
  base::Payload value(double drawn) const;
  base::Payload add(const base::Payload& left, const base::Payload& right) const;
};

/// Outcome for one thread in one iteration.
struct Answer {
  paths::Result result;
  std::string error;  // "" = no error
  Nanos took{0};
};

/// Number of tuples that one cluster requested and received from another cluster.
struct Transferred {
  std::uint64_t asked = 0;  // requested tuples
  std::uint64_t came = 0;
  std::vector<std::uint64_t> asked_in;  // iterations of the requests
};

/// Function that is called with each operation that leaves over a link.
using Saw = std::function<void(const paths::Operation&)>;

/// The scene's clusters, all on one host. Each cluster has an allreduce, the wrappers of the
/// relaxation and a store. For each pair of clusters, other wrappers transfer the results of one
/// cluster to the other cluster over links. The links delay each message at random, and keep the
/// order of messages.
class MultiCluster {
 public:
  MultiCluster(const Scene& scene, wrappers::ConditionCheckSwitches switches);

  /// Runs every thread through all iterations, including after errors.
  /// Throws: Deadlock.
  void run();

  /// Returns the results of a cluster, indexed by thread and iteration.
  const std::vector<std::vector<Answer>>& answers(std::uint32_t cluster) const {
    return answers_.at(cluster);
  }
  /// Returns the number of tuples that cluster `into` requested from cluster `from`, and the number
  /// of tuples that it received.
  const Transferred& transferred(std::uint32_t into, std::uint32_t from) {
    return transferred_[{into, from}];
  }

 private:
  using Words = test_support::Words;

  std::string cache_name(std::uint32_t c, std::uint32_t from) const;
  std::uint32_t add_faulty(std::uint32_t c);
  std::uint32_t add_join(std::uint32_t c);
  std::uint32_t add_check(std::uint32_t c);
  std::uint32_t add_late_check(std::uint32_t c);
  std::uint32_t add_refuses(std::uint32_t c);
  std::uint32_t add_link(const std::string& name, Fault fault, std::uint32_t faulty_cluster,
                         Saw saw);
  void add_elements(std::uint32_t c);
  void add_cluster(std::uint32_t c);
  void add_tree();
  void add_transfer(std::uint32_t into, std::uint32_t from);
  void add_push(const std::string& name, const Words& settings, const std::string& into,
                const std::string& marks, std::uint32_t link);
  bool fails(Fault fault, std::uint32_t cluster, std::uint64_t iteration) const;
  void run_thread(std::uint32_t c, std::uint32_t thread);

  const Scene& scene_;
  const wrappers::ConditionCheckSwitches switches_;
  runtime::Random link_random_;
  pastset::Template value_;
  test_support::PlanBuilder builder_;
  std::vector<std::uint32_t> paths_;  // index of a cluster's path, indexed by cluster
  std::optional<test_support::OneHost> here_;
  std::vector<std::vector<std::vector<Answer>>> answers_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Transferred> transferred_;
};

}  // namespace relaxation_tests
