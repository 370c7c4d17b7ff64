// SPDX-License-Identifier: Apache-2.0
// wrappers/schedule.cpp — rounds of a path as operations of a group with one member on each host.
#include "wrappers/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "base/errors.hpp"
#include "base/usage_error.hpp"
#include "eventspace/group_record.hpp"
#include "groups/execution/prepared_call.hpp"
#include "groups/host_group.hpp"
#include "groups/selection/network_of.hpp"
#include "groups/selection/selection.hpp"
#include "paths/host/deployment.hpp"

namespace wrappers {
namespace {

using paths::OperationKind;

/// Returns the first thread of each host that has threads.
std::vector<std::uint32_t> members_of(const paths::Plan& plan) {
  std::vector<std::uint32_t> ranks;
  for (const auto& host : plan.hosts)
    if (host.threads > 0) ranks.push_back(host.first_thread);
  return ranks;
}

/// Returns the reason why no schedule supports the operation for the plan's hosts; "" if a schedule
/// supports it.
std::string why_not(const paths::Plan& plan, const groups::Call& call) {
  const groups::SelectionKey key =
      groups::key_of(call,
                     {.collective = call.collective,
                      .topology = nullptr,
                      .counts = collectives::Counts::each(call.counts.front(), 1)},
                     groups::element_bytes_of(call));
  try {
    const auto hosts = groups::participants_of(plan);
    // To find the best schedule would take long. It is enough to know that there are routes between
    // all hosts, because a schedule then exists.
    if (groups::is_selected(call.algorithm) && !plan.decisions)
      groups::network_of(plan, hosts);
    else
      groups::Selector(plan, hosts).answer(key);
  } catch (const base::UsageError& error) {
    return error.mistake();
  } catch (const base::ConfigError& error) {
    std::string all = error.what();
    for (std::size_t end = all.find('\n'); end != std::string::npos; end = all.find('\n', end))
      all.replace(end, 1, "; ");
    return all;
  }
  return {};
}

/// Returns the reason why the hosts cannot perform the collective together; "" if they can. Each
/// host with threads must have exactly one wrapper for the collective, and all these wrappers must
/// have equal settings. The first of the wrappers reports a wrong number of wrappers. A wrapper
/// whose settings differ from those of the first wrapper reports the difference.
std::string disagreement(const paths::WrapperPlace& place, const std::string& collective) {
  const paths::Plan& plan = place.plan();
  const auto is_of_it = [&](const paths::Plan::PlanWrapper& one) {
    const base::Settings* const name = one.settings.find("collective");
    return one.kind == "schedule" && name != nullptr && name->text() == collective;
  };
  const auto first = std::find_if(plan.wrappers.begin(), plan.wrappers.end(), is_of_it);
  if (first == plan.wrappers.end()) return {};
  const auto& here = plan.wrappers[place.wrapper()];
  if (&here != &*first)
    return base::print_settings(here.settings) == base::print_settings(first->settings)
               ? ""
               : fmt::format("host {} declares collective {} differently, at {}",
                             plan.hosts[first->host].name, collective,
                             first->settings.position().text());
  std::map<std::uint32_t, std::size_t> times;
  for (const std::uint32_t host : groups::participants_of(plan)) times[host] = 0;
  for (const auto& wrapper : plan.wrappers)
    if (is_of_it(wrapper)) ++times[wrapper.host];
  for (const auto& [host, count] : times)
    if (count != 1)
      return fmt::format(
          "expected one schedule of collective {} on each host with threads, found {} on {}",
          collective, count, plan.hosts[host].name);
  return {};
}

}  // namespace

groups::Call declared_call(const paths::Reduction& reduction, const std::string& by) {
  groups::Call call;
  call.collective = collectives::Collective::allreduce;
  call.scalar = reduction.shape.scalar;
  call.operation = reduction.operation->name;
  call.values = reduction.values;
  call.counts = {reduction.shape.count};
  call.algorithm = by;
  call.is_canonical = true;
  return call;
}

Schedule::Schedule(paths::Deployment& deployment, std::uint32_t wrapper, std::string collective,
                   std::string by, paths::Reduction reduction)
    : deployment_(deployment),
      wrapper_(wrapper),
      collective_(std::move(collective)),
      by_(std::move(by)),
      reduction_(std::move(reduction)) {}

void Schedule::start() {
  const std::string& label = deployment_.label();
  const std::vector<std::uint32_t> members = members_of(deployment_.plan());
  group_ = std::make_shared<groups::HostGroup>(deployment_,
                                               eventspace::group_of_collective(label, collective_),
                                               &members, groups::Failing::alone);
  group_->prepare(declared_call(reduction_, by_));
}

paths::Result Schedule::operate(paths::Operation operation, paths::Next next) {
  if (paths::is_farewell(operation.kind)) end(operation);
  if (operation.kind != OperationKind::move) return next(std::move(operation));
  if (operation.failure)
    group_->operations().fail(operation.sequence, operation.failure, groups::Failing::alone);
  else
    join(operation);
  return next(std::move(operation));
}

void Schedule::join(paths::Operation& operation) {
  const base::Sign sign =
      reduction_.sign_of(deployment_.plan(), wrapper_, operation.path, operation.contributions);
  if (const std::string why = reduction_.wrong(operation.payload, sign); !why.empty()) {
    const paths::Failure failure =
        deployment_.failure(name(), operation.path, why, paths::FailureCause::refused_value);
    group_->operations().fail(operation.sequence, failure, groups::Failing::alone);
    throw paths::TravelError(*failure);
  }
  reduction_.normalize(operation);
  base::Buffer result(operation.payload.size());
  groups::Call call = declared_call(reduction_, by_);
  call.in = operation.payload.bytes();
  call.out = result.bytes();
  const std::uint32_t me = group_->view().place(0);
  const auto running =
      group_->enter(me, operation.sequence, groups::borrowed(call), group_->prepare(call), true);
  group_->wait(*running, me);
  deployment_.traffic().add_messages(deployment_.plan().paths[operation.path].graph_number,
                                     running->wan);
  operation.payload = std::move(result).freeze();
  operation.contributions = deployment_.plan().thread_count();
}

/// Fails all later rounds on all hosts, because this host takes no part in them.
void Schedule::end(const paths::Operation& operation) {
  group_->operations().fail(
      operation.sequence,
      operation.failure
          ? operation.failure
          : deployment_.failure(name(), operation.path,
                                fmt::format("threads of host {} have ended", deployment_.name()),
                                paths::FailureCause::released),
      groups::Failing::all_behind);
}

paths::WrapperKind schedule_kind() {
  paths::WrapperKind kind;
  kind.name = "schedule";
  kind.help =
      "Combines the values of all hosts with threads by a schedule, and continues with the result.";
  kind.settings = {{"by", "word", "best", "An algorithm, with parameters after a colon, or best."},
                   {"collective", "word", "required",
                    "Name of the graph; the hosts of one graph belong together."}};
  for (const paths::SettingHelp& setting : paths::reduction_settings())
    kind.settings.push_back(setting);
  kind.job = paths::Job::other;
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace& place) -> paths::MakeWrapper {
    const std::string by = reader.word("by").value_or("best");
    const std::string collective = reader.required_word("collective", "the name of a graph");
    const paths::Reduction reduction = paths::read_reduction(reader);
    if (const std::string why = disagreement(place, collective); !why.empty()) {
      reader.mistake("collective", why);
      return {};
    }
    const auto participants = groups::participants_of(place.plan());
    const bool is_asked = reduction.operation != nullptr && reduction.shape.count > 0 &&
                          // Only the first host reports an unsupported operation.
                          !participants.empty() && participants.front() == place.host();
    if (const std::string why = is_asked ? why_not(place.plan(), declared_call(reduction, by)) : "";
        !why.empty())
      reader.mistakes().add(reader.position_of("by"), why);
    return [=, wrapper = place.wrapper()](paths::Deployment& deployment) {
      return std::make_unique<Schedule>(deployment, wrapper, collective, by, reduction);
    };
  };
  return kind;
}

}  // namespace wrappers
