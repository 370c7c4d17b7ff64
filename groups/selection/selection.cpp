// SPDX-License-Identifier: Apache-2.0
// groups/selection/selection.cpp — choice of the best schedule or of the named one.
#include "groups/selection/selection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/address.hpp"
#include "base/digest.hpp"
#include "base/errors.hpp"
#include "base/link_model/link_model.hpp"
#include "base/near_match.hpp"
#include "base/settings_print.hpp"
#include "base/usage_error.hpp"
#include "collectives/algorithms/all.hpp"
#include "collectives/cost/best.hpp"
#include "collectives/cost/evaluator.hpp"
#include "collectives/cost/least_window.hpp"
#include "collectives/planner/planners.hpp"
#include "collectives/planner/schedule_file.hpp"
#include "groups/selection/network_of.hpp"
#include "runtime/wait.hpp"

namespace groups {
namespace {

/// Returns a text that identifies the counts: different counts have different texts.
std::string text_of(const collectives::Counts& counts) {
  const std::size_t blocks = counts.blocks();
  if (counts.total() / blocks == counts.largest() && counts.total() % blocks == 0)
    return fmt::format("{} x {}", blocks, counts.largest());
  std::vector<collectives::Count> all;
  for (std::size_t block = 0; block < blocks; ++block) all.push_back(counts.block(block).count);
  return base::digest_of(std::as_bytes(std::span(all))).text();
}

std::string text_of(const SelectionKey& question) {
  return fmt::format("{} from {} of {} of {} bytes, {} or better, by {}",
                     name_of(question.collective), question.root, text_of(question.counts),
                     question.element_bytes, name_of(question.worst), question.algorithm);
}

bool is_free(const tuning::LinkModel& model) { return model == tuning::LinkModel(); }

/// Returns the costs that the selection assumes. If the network has no costs at all, assumes the
/// costs of a machine's memory or of a fast network, so that bytes cost time. Otherwise the
/// schedule with the fewest messages would be the best for any size.
AssumedCosts assumed_for(const pricing::Network& network) {
  if (!network.frame_costs.empty()) return {.has_network = true};
  const auto are_free = [](const std::vector<tuning::LinkModel>& models) {
    return std::all_of(models.begin(), models.end(), is_free);
  };
  if (!are_free(network.outgoing) || !are_free(network.receiving) ||
      !std::all_of(network.links.begin(), network.links.end(),
                   [](const auto& one) { return is_free(one.model) && !one.has_streams(); }))
    return {.message = std::chrono::microseconds(100), .has_network = true};
  return {.message = std::chrono::microseconds(20),
          .bits_per_second = 20e9,
          .fold_bytes_per_second = 10e9};
}

pricing::Network with_costs(pricing::Network network, const AssumedCosts& assumed) {
  network.message_cost = assumed.message;
  if (assumed.has_network) return network;
  network.fold_bytes_per_second = assumed.fold_bytes_per_second;
  for (auto* models : {&network.outgoing, &network.receiving})
    for (tuning::LinkModel& model : *models) model = {base::Nanos(0), assumed.bits_per_second};
  return network;
}

/// Returns whether the reduction gives the same bits in any order of its values. Floating-point
/// minima and maxima do not: 0 and -0 are equal, and the first of them is the result.
bool is_exact(const Call& call) {
  const bool is_floating = call.scalar == base::Scalar::f32 || call.scalar == base::Scalar::f64;
  const std::string_view operation = call.operation;
  if (operation == "min" || operation == "max") return !is_floating;
  return operation == "min_location" || operation == "max_location" ||
         operation.starts_with("logical_") || operation.starts_with("bitwise_");
}

constexpr std::string_view best_word = "best", tuned_word = "tuned", file_word = "file";

[[noreturn]] void throw_unknown(const std::string& name) {
  std::vector<std::string_view> names{best_word, tuned_word, file_word};
  for (const auto& algorithm : collectives::all_algorithms()) names.emplace_back(algorithm.name);
  for (const auto& planner : planning::all_planners()) names.emplace_back(planner.name);
  throw std::invalid_argument(fmt::format(
      "expected best, an algorithm (see `paths algorithms`), a planner (see `paths plan`) or "
      "file:FILE, found '{}'{}",
      name, base::did_you_mean(name, names)));
}

std::vector<std::string> names_of(const paths::Plan& plan,
                                  const std::vector<std::uint32_t>& hosts) {
  std::vector<std::string> names;
  for (const std::uint32_t host : hosts) names.push_back(plan.hosts[host].name);
  return names;
}

/// Returns the shape of a group, by which tables of decisions are searched. Hosts count as one
/// machine if their addresses differ only in the port.
tuner::Shape shape_of(const paths::Plan& plan, const std::vector<std::uint32_t>& hosts,
                      const collectives::Topology& topology) {
  std::set<std::string> machines;
  for (const std::uint32_t host : hosts)
    machines.insert(base::interface_of(plan.hosts[host].address));
  return {.clusters = static_cast<std::uint32_t>(topology.clusters()),
          .hosts = static_cast<std::uint32_t>(hosts.size()),
          .machines = static_cast<std::uint32_t>(machines.size()),
          .transport = plan.transport->word};
}

/// Sets signature_digest, which must be equal on all hosts.
void sign(const SelectionKey& key, Selection& choice) {
  choice.signature_digest =
      base::digest_of(fmt::format("{}\n{}\n{}", text_of(key), choice.text(),
                                  choice.planned ? choice.planned->digest().text() : ""))
          .low;
}

/// Returns the costs of hosts that the taken links or the plan state; nullptr if neither does.
std::shared_ptr<const tuning::HostCosts> costs_of(const paths::Plan& plan,
                                                  const TakenFiles& taken) {
  if (taken.links == nullptr || !taken.links->costs) return plan.costs;
  return {taken.links, &*taken.links->costs};
}

}  // namespace

bool does(const std::string& asked, collectives::Collective collective) {
  const auto [name, words] = collectives::split_at_colon(asked);
  if (is_selected(asked)) return true;
  if (name == file_word) return collective == collectives::Collective::allgather;
  if (const planning::Planner* const planner = planning::planner_named(name)) {
    planner->read(words);
    return collective == collectives::Collective::allgather;
  }
  const collectives::Algorithm* const algorithm = collectives::find_algorithm(name);
  if (algorithm == nullptr) throw_unknown(name);
  algorithm->read(words);
  return algorithm->does(collective);
}

bool is_planned(const std::string& asked) {
  const std::string name = collectives::split_at_colon(asked).first;
  return name == file_word || planning::plans(name);
}

bool is_selected(const std::string& asked) { return asked == best_word || asked == tuned_word; }

std::string_view name_of(Reason reason) {
  switch (reason) {
    case Reason::named: return "named";
    case Reason::pinned: return "pinned";
    case Reason::tuned: return "tuned";
    case Reason::borrowed: return "borrowed";
    case Reason::priced: return "priced";
    case Reason::assumed: return "assumed";
  }
  return "";
}

collectives::Order worst_order(const Call& call) {
  if (call.collective == collectives::Collective::barrier) return collectives::Order::differs;
  if (!is_reduction(call.collective)) return collectives::Order::differs;
  if (is_exact(call)) return collectives::Order::by_block;
  if (call.is_canonical && is_selected(call.algorithm)) return collectives::Order::canonical;
  const bool is_ours = call.operation == "sum" || call.operation == "product" ||
                       call.operation == "min" || call.operation == "max";
  return is_ours && !is_selected(call.algorithm) ? collectives::Order::by_block
                                                 : collectives::Order::in_order;
}

SelectionKey key_of(const Call& call, collectives::CollectiveSpec between_hosts,
                    std::size_t element_bytes) {
  const bool is_barrier = between_hosts.collective == collectives::Collective::barrier;
  return {.collective = between_hosts.collective,
          .root = between_hosts.root,
          .counts = std::move(between_hosts.counts),
          .element_bytes = is_barrier ? 0 : element_bytes,
          .worst = worst_order(call),
          .algorithm = call.algorithm};
}

std::string Selection::text() const {
  if (planned) return planned->name;
  const std::string words = parameters.text();
  return words.empty() ? algorithm->name : fmt::format("{}:{}", algorithm->name, words);
}

struct Selector::SelectionCache {
  runtime::Mutex mutex;
  std::map<std::string, std::shared_ptr<const Selection>> known;
  std::map<std::string, std::optional<std::size_t>> windows;
  // Predicted times on network() and on links(), for each selection and element size. The cache
  // keeps the selections, so that no new selection gets the address of an old one.
  std::map<std::tuple<std::shared_ptr<const Selection>, std::size_t, bool>, base::Nanos> predicted;
};

void TakenFiles::read_links(const std::string& text, const std::string& file) {
  links =
      std::make_shared<const tuning::MeasuredNetwork>(tuning::parse_measured_network(text, file));
}

void TakenFiles::read_decisions(const std::string& text, const std::string& file) {
  decisions = tuner::parse_decision_table(text, file);
}

std::string TakenFiles::text() const {
  std::string text;
  if (links != nullptr)
    text += " for links measured as " + base::digest_of(print(*links, "")).text();
  if (decisions != nullptr)
    text += " by decisions " + base::digest_of(base::print_settings(decisions->settings())).text();
  return text;
}

Selector::Selector(const paths::Plan& plan, const std::vector<std::uint32_t>& hosts,
                   const TakenFiles& taken)
    : hosts_(hosts),
      names_(names_of(plan, hosts)),
      taken_(taken),
      links_(taken.links ? network_of(plan, hosts, *taken.links) : network_of(plan, hosts)),
      assumed_(assumed_for(links_)),
      costs_(costs_of(plan, taken)),
      decisions_(taken.decisions ? taken.decisions : plan.decisions),
      shape_(shape_of(plan, hosts, *links_.topology)),
      network_(with_costs(links_, assumed_)),
      answers_(std::make_unique<SelectionCache>()) {}

Selector::~Selector() = default;

std::shared_ptr<Selector> Selector::of(const std::shared_ptr<const paths::Plan>& plan,
                                       const std::vector<std::uint32_t>& hosts,
                                       const TakenFiles& taken) {
  struct Known {
    std::weak_ptr<const paths::Plan> plan;
    std::weak_ptr<Selector> selector;
  };
  static runtime::Mutex mutex;
  static std::map<std::tuple<const paths::Plan*, std::vector<std::uint32_t>, std::string>, Known>
      all;
  runtime::Lock lock(mutex);
  std::erase_if(all, [](const auto& one) { return one.second.selector.expired(); });
  Known& known = all[{plan.get(), hosts, taken.text()}];
  if (known.plan.lock() == plan)
    if (auto selector = known.selector.lock()) return selector;
  auto made = std::make_shared<Selector>(*plan, hosts, taken);
  known = {plan, made};
  return made;
}

std::shared_ptr<const Selection> Selector::answer(const SelectionKey& question) {
  const std::string text = text_of(question);
  {
    runtime::Lock lock(answers_->mutex);
    if (const auto found = answers_->known.find(text); found != answers_->known.end())
      return found->second;
  }
  std::shared_ptr<const Selection> choice = decide(question);
  runtime::Lock lock(answers_->mutex);
  return answers_->known.try_emplace(text, std::move(choice)).first->second;
}

std::optional<std::size_t> Selector::least_window(const Selection& choice,
                                                  const pricing::Ports& ports, std::size_t from) {
  const std::string asked =
      fmt::format("{} {} {} {} {} {} {}", choice.signature_digest, from, ports.sending,
                  ports.receiving, ports.receiving_across, ports.are_apart, ports.are_in_order);
  {
    runtime::Lock lock(answers_->mutex);
    if (const auto found = answers_->windows.find(asked); found != answers_->windows.end())
      return found->second;
  }
  const auto least =
      pricing::least_window(pricing::programs_of(*choice.algorithm, choice.task, choice.parameters),
                            choice.task.group(), ports, from);
  runtime::Lock lock(answers_->mutex);
  return answers_->windows[asked] = least;
}

base::Nanos Selector::predict(const std::shared_ptr<const Selection>& selection,
                              std::size_t element_bytes, bool on_links) {
  if (selection->planned) return base::Nanos(0);
  const std::tuple key(selection, element_bytes, on_links);
  {
    runtime::Lock lock(answers_->mutex);
    if (const auto found = answers_->predicted.find(key); found != answers_->predicted.end())
      return found->second;
  }
  const base::Nanos time =
      pricing::price(*selection->algorithm, selection->task, selection->parameters, element_bytes,
                     on_links ? links_ : network_)
          .time;
  runtime::Lock lock(answers_->mutex);
  return answers_->predicted[key] = time;
}

std::shared_ptr<const Selection> Selector::decide(const SelectionKey& question) const {
  auto choice = std::make_shared<Selection>();
  choice->task = {question.collective, network_.topology, question.counts, question.root};
  const auto refuse = [&](const char* why) {
    throw base::UsageError(
        fmt::format("{} by {}: {}", name_of(question.collective), question.algorithm, why));
  };
  try {
    if (is_selected(question.algorithm)) {
      if (question.algorithm == tuned_word && decide_by_table(question, *choice)) {
        sign(question, *choice);
        return choice;
      }
      choice->reason = assumed_.has_network ? Reason::priced : Reason::assumed;
      const pricing::Best best =
          pricing::best_of(choice->task, question.element_bytes, network_, question.worst);
      choice->algorithm = best.candidate.algorithm;
      choice->parameters = best.candidate.parameters;
    } else {
      decide_by_name(question, *choice);
    }
  } catch (const std::invalid_argument& error) {
    refuse(error.what());
  } catch (const base::ConfigError& error) {
    refuse(error.what());
  }
  sign(question, *choice);
  return choice;
}

std::optional<tuner::DecisionTable::Found> Selector::row_for(const SelectionKey& question,
                                                             tuner::Bytes size) const {
  if (!decisions_) return std::nullopt;
  return decisions_->find(question.collective, shape_, question.worst, size);
}

/// Selects the schedule that the table of decisions names for the operation. Returns false if there
/// is no table, or if the table has no row for the operation.
/// Throws: std::invalid_argument if the row's schedule cannot carry out the operation.
bool Selector::decide_by_table(const SelectionKey& question, Selection& choice) const {
  const auto found = row_for(question, tuner::size_of(choice.task, question.element_bytes));
  if (!found) return false;
  const tuner::Decision& decision = *found->decision;
  const auto parameters = decision.parameters_for(
      question.element_bytes, choice.task.vector().count * question.element_bytes);
  std::string why = decision.algorithm->why_not(choice.task, parameters);
  if (const auto order = why.empty() && is_reduction(question.collective)
                             ? decision.algorithm->order(choice.task, parameters)
                             : collectives::Order::canonical;
      order > question.worst)
    why = fmt::format("it sums up as '{}', and the operation may be summed up as '{}' or better",
                      name_of(order), name_of(question.worst));
  if (!why.empty()) {
    if (found->is_borrowed) return false;
    throw std::invalid_argument(
        fmt::format("{}: {}: {}", decision.position.text(), decision.use(), why));
  }
  choice.algorithm = decision.algorithm;
  choice.parameters = parameters;
  choice.decision = &decision;
  choice.table = decisions_;
  choice.reason = decision.is_pinned   ? Reason::pinned
                  : found->is_borrowed ? Reason::borrowed
                                       : Reason::tuned;
  return true;
}

namespace {

/// Clears the fields of a planned schedule's ports that only the planner's model uses. Keeps the
/// limits that the executor applies.
/// Throws: std::invalid_argument for half duplex.
void keep_to_hosts(pricing::Ports& ports) {
  if (ports.is_half_duplex)
    throw std::invalid_argument(
        "hosts of a run send and receive at once: ports=half can be priced, not run");
  ports.cost = base::Nanos(0);
  ports.blocks = false;
  if (!ports.are_in_order) ports.sending = 0;
}

}  // namespace

/// Reads the planned schedule from a file (`file:...`), or lets the named planner compute it.
/// Throws: std::invalid_argument, ConfigError.
planning::Contender Selector::planned(const SelectionKey& question,
                                      const collectives::CollectiveSpec& task) const {
  const auto [name, words] = collectives::split_at_colon(question.algorithm);
  if (name == file_word) {
    if (task.collective != collectives::Collective::allgather)
      throw std::invalid_argument(fmt::format("files have schedules of allgathers, and that is {}",
                                              name_of(task.collective)));
    std::vector read{planning::load_schedule(words, {names_, task.counts, question.element_bytes})};
    planning::compare(read, network_, task.counts, question.element_bytes);
    return std::move(read.front());
  }
  const planning::Planner& planner = *planning::planner_named(name);
  const collectives::Parameters parameters = planner.read(words);
  planning::Contender made =
      planning::plan(planner, parameters, task, question.element_bytes, network_);
  if (made.name == name) made.name += ":" + parameters.text();
  return made;
}

namespace {

/// Returns a text that suggests parameters with which the named algorithm supports the operation.
std::string try_text(const SelectionKey& question, const Selection& choice) {
  const std::string words =
      choice.algorithm->remedy(choice.task, choice.parameters, question.worst);
  if (words.empty()) return "";
  const bool has_parameters = !collectives::split_at_colon(question.algorithm).second.empty();
  return fmt::format("; try {}{}", has_parameters ? "" : choice.algorithm->name + ":", words);
}

}  // namespace

/// Selects the schedule that the key names.
/// Throws: std::invalid_argument if that schedule does not support the operation.
void Selector::decide_by_name(const SelectionKey& question, Selection& choice) const {
  const auto [name, words] = collectives::split_at_colon(question.algorithm);
  if (is_planned(question.algorithm)) {
    choice.planned = planned(question, choice.task);
    if (choice.planned->striping != 0 && choice.planned->striping != network_.striping)
      throw std::invalid_argument(
          fmt::format("expected streams={}, which is what lanes of the config take (`lanes: "
                      "{{striping: {}}}`), "
                      "found {}",
                      network_.striping, network_.striping, choice.planned->striping));
    keep_to_hosts(choice.planned->execution.ports);
    choice.algorithm = &choice.planned->algorithm;
    choice.parameters = choice.planned->parameters;
    return;
  }
  does(question.algorithm, question.collective);
  choice.algorithm = &collectives::algorithm_named(name);
  choice.parameters = choice.algorithm->read(words);
  if (choice.parameters.has("element") && words.find("element=") == std::string::npos)
    choice.parameters.set("element",
                          std::to_string(std::max<std::size_t>(1, question.element_bytes)));
  if (const std::string why = choice.algorithm->why_not(choice.task, choice.parameters);
      !why.empty())
    throw std::invalid_argument(why + try_text(question, choice));
  if (!is_reduction(question.collective)) return;
  if (const auto order = choice.algorithm->order(choice.task, choice.parameters);
      order > question.worst)
    throw std::invalid_argument(
        fmt::format("it sums up as '{}', and the operation may be summed up as '{}' or better{}",
                    name_of(order), name_of(question.worst), try_text(question, choice)));
}

}  // namespace groups
