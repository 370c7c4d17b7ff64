// SPDX-License-Identifier: Apache-2.0
// groups/execution/leaders.cpp — selection and execution of schedules between machines
#include "groups/execution/leaders.hpp"

#include "groups/calls/memory.hpp"
#include "groups/execution/execution.hpp"
#include "paths/host/host.hpp"

namespace groups {
Leaders::Leaders(const paths::Deployment& deployment, paths::MessageGroup& lanes,
                 const Machines& machines, const std::vector<std::uint32_t>& hosts)
    : runtime_(deployment.runtime()),
      lanes_(lanes),
      machines_(machines),
      hosts_(hosts),
      selector_(Selector::of(deployment.host().shared_plan(),
                             hosts_of(machines.leaders(std::nullopt), hosts))) {}

std::shared_ptr<const Selection> Leaders::selection(SelectionKey question) const {
  question.root = machines_.machine_of(question.root);
  // With two machines there are only two values to fold, and every schedule folds them in the same
  // order. Schedules that do not guarantee a canonical order are then permitted, too.
  if (machines_.size() == 2 && question.worst == collectives::Order::canonical)
    question.worst = collectives::Order::in_order;
  return selector_->answer(question);
}

paths::Traffic Leaders::run(const RegionOperation& operation, const SelectionKey& question,
                            const MachineGroup::Leading& leading) const {
  const auto choice = selection(question);
  const collectives::CollectiveSpec& task = choice->task;
  Memory memory(operation.element_bytes);
  if (!leading.in.empty())
    memory.lend(collectives::in, collectives::in_range(task, leading.machine), leading.in);
  const collectives::Range out = collectives::out_range(task, leading.machine);
  memory.lend(collectives::out, out, out.count == 0 ? std::span<std::byte>() : leading.out);
  const Share share{.name = operation.name,
                    .plan = {.me = leading.machine, .topology = task.topology.get()},
                    .memory = memory,
                    .fold = operation.fold,
                    .limits = {.patience = operation.patience},
                    .trace = operation.trace,
                    .participants = leading.leaders};
  const auto hosts = hosts_of(leading.leaders, hosts_);
  Execution execution(runtime_, &lanes_, hosts, {});
  execution.run(share, choice->algorithm->program(task, choice->parameters, leading.machine));
  paths::Traffic traffic;
  for (const auto& [peer, sent] : execution.sent()) traffic += {sent.messages, sent.bytes};
  return traffic;
}

}  // namespace groups
