// SPDX-License-Identifier: Apache-2.0
// wrappers/condition_check.cpp — conditional allreduce between the roots of clusters.
#include "wrappers/condition_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.hpp"
#include "paths/joins/awaited_values.hpp"
#include "paths/joins/cluster_tuples.hpp"
#include "paths/plan/element_setting.hpp"
#include "paths/plan/plan.hpp"

namespace wrappers {

using paths::ClusterValue;
using paths::Deployment;
using paths::Operation;
using paths::OperationKind;
using paths::Origin;
using paths::Partial;
using paths::Result;
using paths::StageId;

/// Newest tuple and error mark of one cluster, as one call of look() found them.
struct ConditionCheck::Seen {
  const pastset::Element* element = nullptr;
  std::optional<Partial> part;
  std::optional<paths::TravelError> error;

  bool is_lost() const { return error && error->cause() == paths::FailureCause::peer_gone; }
  bool is_at(std::uint64_t sequence) const { return part && part->sequence == sequence; }
  bool is_past(std::uint64_t sequence) const { return part && part->sequence > sequence; }
};

struct ConditionCheck::Cluster {
  std::shared_ptr<pastset::Element> element;
  // Element through which this host requests the cluster's tuples. nullptr = this host requests
  // none, because the cluster is its own or pushes its tuples.
  std::shared_ptr<pastset::Element> asks;
  // Value that element->last() has once all requested tuples have arrived.
  std::uint64_t asked_for = 0;
  std::size_t watched = 0;  // index of the cluster's element in changes_

  bool will_send() const { return element->last() < asked_for; }
};

// ---- requests to other clusters --------------------------------------------------------------

/// Requests that one round sends to other clusters for their tuples.
class ConditionCheck::Asking {
 public:
  Asking(ConditionCheck& check, const Operation& operation)
      : check_(check), operation_(operation) {}

  /// Requests the tuples that an undecided round needs next. Ignores clusters with an error mark,
  /// because they no longer reply.
  void ask(const std::vector<Seen>& all) {
    if (check_.settings_.asks.empty()) return;
    std::vector<std::size_t> missing, will_send;
    for (std::size_t place = 0; place < all.size(); ++place) {
      if (all[place].is_at(operation_.sequence) || all[place].error) continue;
      (check_.clusters_[place].will_send() ? will_send : missing).push_back(place);
    }
    if (std::exchange(has_asked_, true)) {
      if (!will_send.empty()) return;
    } else {
      missing = fewest(all, std::move(will_send), std::move(missing));
    }
    for (const std::size_t place : missing) ask(check_.clusters_[place]);
  }

 private:
  /// Returns the clusters of `others` to ask: the fewest whose last known values would decide the
  /// round. The decision also counts the values of this round and the last known values of the
  /// clusters in `counted`. Clusters with the most useful last known values come first
  /// (is_better()). Returns all of `others` if even their last known values would not suffice.
  std::vector<std::size_t> fewest(const std::vector<Seen>& all, std::vector<std::size_t> counted,
                                  std::vector<std::size_t> others) const {
    if (would_decide(all, counted)) return {};
    std::stable_sort(others.begin(), others.end(), [&](std::size_t left, std::size_t right) {
      return is_better(all[left], all[right]);
    });
    for (std::size_t count = 1; count <= others.size(); ++count) {
      counted.push_back(others[count - 1]);
      if (would_decide(all, counted))
        return {others.begin(), others.begin() + std::ptrdiff_t(count)};
    }
    return others;
  }

  bool is_better(const Seen& left, const Seen& right) const {
    if (!left.part || !right.part) return left.part.has_value() && !right.part;
    return check_.settings_.decision.is_nearer(left.part->value, right.part->value);
  }

  bool would_decide(const std::vector<Seen>& all, const std::vector<std::size_t>& counted) const {
    std::vector<ClusterValue> values;
    for (std::size_t place = 0; place < all.size(); ++place) {
      const bool counts = all[place].is_at(operation_.sequence) ||
                          std::find(counted.begin(), counted.end(), place) != counted.end();
      if (counts && all[place].part)
        values.push_back({all[place].element->name(), all[place].part->value});
    }
    try {
      return check_.settings_.decision.proves(check_.settings_.decision.combine(values));
    } catch (const base::Overflow&) {
      return true;
    } catch (const base::BadValue&) {
      return false;  // values of different rounds may be incompatible
    }
  }

  void ask(Cluster& cluster) {
    cluster.asked_for = cluster.element->last() + check_.settings_.ask_for;
    cluster.asks->move(paths::ask_tuple({operation_.sequence, check_.settings_.ask_for}));
  }

  ConditionCheck& check_;
  const Operation& operation_;
  bool has_asked_ = false;
};

// ---- rounds ----------------------------------------------------------------------------------

ConditionCheck::ConditionCheck(Deployment& deployment, std::uint32_t wrapper,
                               ConditionCheckSettings settings, ConditionCheckSwitches switches)
    : deployment_(deployment),
      settings_(std::move(settings)),
      switches_(switches),
      contributors_(paths::count_contributors(deployment.plan(), wrapper)),
      result_(deployment.element(settings_.elements.own)),
      rounds_(deployment, *this, wrapper, result_, settings_.elements.all.size() > 1) {
  std::vector<pastset::Element*> others;
  for (const std::string& name : settings_.elements.all) {
    Cluster& cluster = clusters_.emplace_back();
    cluster.element = deployment.element(name);
    if (cluster.element == result_) {
      own_ = clusters_.size() - 1;
      continue;
    }
    cluster.watched = others.size();
    if (!settings_.asks.empty())
      cluster.asks = deployment.element(settings_.asks.at(others.size()));
    others.push_back(cluster.element.get());
  }
  if (clusters_.empty()) clusters_.emplace_back().element = result_;
  changes_ = std::make_unique<pastset::AnyChange>(std::move(others), &deployment.runtime());
}

ConditionCheck::~ConditionCheck() = default;

Result ConditionCheck::operate(Operation operation, paths::Next next) {
  return rounds_.operate(
      std::move(operation), next,
      [this](Operation move, const paths::Next& rest) { return decide(std::move(move), rest); });
}

Result ConditionCheck::decide(Operation operation, const paths::Next& next) {
  const paths::Decision& decision = settings_.decision;
  rounds_.check(operation, decision.reduction);
  const Partial own{operation.sequence, operation.contributions, operation.payload, last_exact_};
  Operation store = operation;
  store.payload = paths::partial_tuple(own, decision.reduction.shape.bytes());
  const Result stored = next(std::move(store));
  if (!settings_.asks.empty() && stored.number != operation.sequence) {
    rounds_.fail(operation,
                 fmt::format("round {} is tuple {} of {}: others ask for tuples by round, so "
                             "every round must pass here",
                             operation.sequence, stored.number, result_->name()),
                 paths::FailureCause::other);
  }
  fail_if_lost(operation.sequence);
  const bool is_one_tree = clusters_.size() == 1;
  if (!is_one_tree && settings_.may_prove && decision.proves(own.value)) {
    Result result = decision.proved(own.value, own.contributions, own.sequence);
    result.origin.kind = Origin::Kind::local;
    return result;
  }
  return wait_for_decision(operation, own, next.stage().id);
}

Result ConditionCheck::wait_for_decision(const Operation& operation, const Partial& own,
                                         StageId stage) {
  const runtime::Deadline deadline = runtime::Deadline::written_at(
      deployment_.round_end(operation.until, deployment_.plan().stages[stage].wrapper));
  const base::Nanos began = deployment_.runtime().now();
  paths::AwaitedValues reads(deployment_, stage, own.sequence, clusters_.size(), own_);
  Asking asking(*this, operation);
  bool has_waited = false;
  while (true) {
    const std::uint64_t changes = changes_->count();
    const std::vector<Seen> all = look(own);
    std::vector<std::optional<std::uint64_t>> sequences;
    for (const Seen& seen : all)
      sequences.push_back(seen.part ? std::optional(seen.part->sequence) : std::nullopt);
    reads.look(sequences);
    if (auto result = decide_from(all, operation)) {
      set_origin(*result, all, began, has_waited);
      return *std::move(result);
    }
    fail_if_hopeless(all, operation);
    asking.ask(all);
    has_waited = true;
    if (changes_->wait(changes, deadline)) continue;
    std::string missing;
    for (const Seen& seen : all) {
      if (seen.is_at(own.sequence)) continue;
      missing += (missing.empty() ? "" : ", ") + seen.element->name();
    }
    rounds_.fail(operation,
                 fmt::format("round {}: undecided at the deadline, nothing of this round in {}",
                             own.sequence, missing),
                 paths::FailureCause::deadline);
  }
}

/// Sets `result.origin` to the last tuple that has arrived from another cluster. Tuples of rounds
/// before this round do not count. If the round has waited, `origin.nanos` is the duration of the
/// wait. Otherwise `origin.nanos` is the age of the tuple.
void ConditionCheck::set_origin(Result& result, const std::vector<Seen>& all, base::Nanos began,
                                bool has_waited) const {
  if (clusters_.size() == 1) return;
  base::Nanos came{-1};
  for (std::size_t place = 0; place < all.size(); ++place) {
    const Seen& seen = all[place];
    if (place == own_ || !seen.part || seen.part->sequence < result.sequence) continue;
    const base::Nanos at = changes_->changed_at(clusters_[place].watched);
    if (at < came) continue;
    came = at;
    result.origin.cluster = static_cast<std::uint32_t>(place);
    result.origin.sequence = seen.part->sequence;
  }
  const base::Nanos now = deployment_.runtime().now();
  result.origin.kind = has_waited ? Origin::Kind::waited : Origin::Kind::cached;
  result.origin.nanos = (now - (has_waited ? began : came)).count();
}

std::vector<ConditionCheck::Seen> ConditionCheck::look(const Partial& own) const {
  std::vector<Seen> all;
  all.reserve(clusters_.size());
  for (const Cluster& cluster : clusters_)
    all.push_back(cluster.element == result_ ? Seen{result_.get(), own, std::nullopt}
                                             : look(cluster));
  return all;
}

/// Reads the error mark of a cluster's element, and then the newest tuple of the element. A marked
/// element gets no more tuples. If there is a mark, the tuple read is therefore the last one.
ConditionCheck::Seen ConditionCheck::look(const Cluster& cluster) const {
  Seen seen{cluster.element.get(), std::nullopt, std::nullopt};
  if (const auto mark = cluster.element->error_mark()) seen.error = paths::error_of_mark(*mark);
  if (const auto newest = cluster.element->try_newest())
    seen.part = paths::read_partial(newest->payload, settings_.decision.reduction.shape.bytes());
  return seen;
}

std::optional<Result> ConditionCheck::decide_from(const std::vector<Seen>& all,
                                                  const Operation& operation) {
  const std::uint64_t sequence = operation.sequence;
  if (auto adopted = adopt(all, sequence)) return adopted;
  std::uint64_t contributions = 0;
  std::size_t known = 0;
  bool went_past = false;
  for (const Seen& seen : all) {
    went_past |= seen.is_past(sequence);
    if (!seen.is_at(sequence)) continue;
    ++known;
    contributions += seen.part->contributions;
  }
  const bool is_complete = known == all.size();
  if (!is_complete && !settings_.may_prove) return std::nullopt;
  std::optional<base::Payload> combined = combine(all, operation);
  if (!combined) {
    const Partial& own = *all[own_].part;
    return settings_.decision.proved(own.value, own.contributions, sequence);
  }
  base::Payload value = *std::move(combined);
  if (is_complete) {
    last_exact_ = paths::ExactPair{sequence, value};
    return settings_.decision.complete(std::move(value), contributions, sequence);
  }
  if (!went_past && !settings_.decision.proves(value)) return std::nullopt;
  return settings_.decision.proved(std::move(value), contributions, sequence);
}

/// If a tuple carries an exact pair of this round, returns the value of the pair as the complete
/// result. The pair then also becomes the newest exact pair of this root. Otherwise returns
/// nullopt.
std::optional<Result> ConditionCheck::adopt(const std::vector<Seen>& all, std::uint64_t sequence) {
  for (const Seen& seen : all) {
    if (!switches_.use_exact_pair || !seen.part || !seen.part->last_exact) continue;
    if (seen.part->last_exact->sequence != sequence) continue;
    const base::Payload value = seen.part->last_exact->value;
    if (switches_.record_adoption) last_exact_ = paths::ExactPair{sequence, value};
    return settings_.decision.complete(value, contributors_, sequence);
  }
  return std::nullopt;
}

/// Throws: TravelError if a host of another cluster was lost before that cluster's tuple of this
///         round arrived. The round fails even if the values of this cluster would decide it,
///         because a run with a lost host ends.
void ConditionCheck::fail_if_lost(std::uint64_t sequence) const {
  for (const Cluster& cluster : clusters_) {
    const auto mark = cluster.element->error_mark();
    const bool is_lost = mark && mark->cause == pastset::MarkCause::loss;
    if (cluster.element == result_ || !is_lost) continue;
    const Seen seen = look(cluster);
    if (!seen.is_at(sequence) && !seen.is_past(sequence)) throw paths::TravelError(*seen.error);
  }
}

/// Throws: TravelError if error marks prevent the decision of the round. A cluster without its
///         tuple of this round may still send that tuple, a later tuple or an exact pair. If the
///         cluster's element is marked, however, the cluster sends nothing more. The round then
///         fails, except if a cluster without a mark may still send a proof. If the mark tells that
///         a host was lost, the round fails in any case.
void ConditionCheck::fail_if_hopeless(const std::vector<Seen>& all,
                                      const Operation& operation) const {
  const Seen* marked = nullptr;
  bool is_hope = false;
  for (const Seen& seen : all) {
    if (seen.is_at(operation.sequence)) continue;
    if (!seen.error) is_hope = true;
    if (seen.error && (marked == nullptr || seen.is_lost())) marked = &seen;
  }
  if (marked != nullptr && (marked->is_lost() || !is_hope || !settings_.may_prove))
    throw paths::TravelError(*marked->error);
}

/// Combines the values of the clusters whose newest tuple belongs to this round. Returns nullopt if
/// the values overflow and the overflow proves the condition.
std::optional<base::Payload> ConditionCheck::combine(const std::vector<Seen>& all,
                                                     const Operation& operation) const {
  std::vector<ClusterValue> values;
  for (const Seen& seen : all)
    if (seen.is_at(operation.sequence)) values.push_back({seen.element->name(), seen.part->value});
  try {
    return settings_.decision.combine(values);
  } catch (const base::Overflow& overflow) {
    if (settings_.may_prove) return std::nullopt;
    rounds_.fail(operation, fmt::format("round {}: {}", operation.sequence, overflow.what()),
                 paths::FailureCause::refused_value);
  } catch (const base::BadValue& bad) {
    rounds_.fail(operation, fmt::format("round {}: {}", operation.sequence, bad.what()),
                 paths::FailureCause::refused_value);
  }
}

// ---- settings --------------------------------------------------------------------------------

namespace {

/// Reads the settings `asks` and `ask_for`. `asks` names an element of this host for each other
/// cluster.
void read_asks(base::MapReader& reader, const paths::WrapperPlace& place,
               ConditionCheckSettings& settings) {
  settings.asks = reader.words("asks");
  settings.ask_for = static_cast<std::uint64_t>(reader.integer("ask_for", 1, 1, 1'000'000));
  if (settings.asks.empty()) return;
  if (!settings.may_prove) reader.mistake("asks", "only relaxation: conditional asks");
  const std::size_t others = settings.elements.all.empty() ? 0 : settings.elements.all.size() - 1;
  if (settings.asks.size() != others)
    reader.mistake("asks", fmt::format("expected one for each of {} other clusters, found {}",
                                       others, settings.asks.size()));
  for (const std::string& name : settings.asks)
    paths::check_element(reader, "asks", name, place, paths::ask_template());
}

std::vector<paths::SettingHelp> settings_help() {
  std::vector<paths::SettingHelp> help = paths::reduction_settings();
  help.insert(help.begin(),
              {"relaxation", "exact or conditional", "exact",
               "exact: the value is complete; conditional: a part may decide the condition."});
  help.push_back({"condition", "condition", "none", "The test, such as {less: 0.01} or is_true."});
  help.push_back(
      {"result", "element", "required", "Element of this host with the results of this cluster."});
  help.push_back({"combine", "list of elements", "only result",
                  "Elements with the results of each cluster, in the order of clusters: `result` "
                  "and the caches."});
  help.push_back({"asks", "list of elements", "none",
                  "Elements for requests to each other cluster while the condition is undecided."});
  help.push_back(
      {"ask_for", "integer from 1 to 1000000", "1", "Number of tuples to ask for at once."});
  return help;
}

}  // namespace

paths::WrapperKind condition_check_kind() {
  paths::WrapperKind kind;
  kind.name = "condition_check";
  kind.help = "At the root of a cluster: combines the clusters' results and decides the condition.";
  kind.job = paths::Job::check;
  kind.may_answer_partial_values = true;
  kind.settings = settings_help();
  kind.template_below = [](const base::Settings&, const pastset::Template& above) {
    return paths::partial_template(above);
  };
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace& place) -> paths::MakeWrapper {
    ConditionCheckSettings settings;
    settings.may_prove = reader.choice("relaxation", {"exact", "conditional"}, "exact") ==
                         std::string_view("conditional");
    paths::Decision& decision = settings.decision;
    decision.reduction = paths::read_reduction(reader);
    decision.condition =
        paths::read_decided_condition(reader, decision.reduction, settings.may_prove);
    const auto value = pastset::Template::parse(reader.word("template", ""));
    settings.elements = paths::read_cluster_elements(
        reader, place, paths::partial_template(value.value_or(pastset::Template())));
    read_asks(reader, place, settings);
    return [settings, wrapper = place.wrapper()](Deployment& deployment) {
      return std::make_unique<ConditionCheck>(deployment, wrapper, settings);
    };
  };
  return kind;
}

}  // namespace wrappers
