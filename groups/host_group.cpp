// SPDX-License-Identifier: Apache-2.0
// groups/host_group.cpp — execution of an operation by one member of the host
#include "groups/host_group.hpp"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <utility>

#include "groups/calls/local.hpp"
#include "paths/host/elements/shared_elements.hpp"
#include "runtime/continuation.hpp"
#include "runtime/polling/busy_poll_scope.hpp"

namespace groups {
namespace {

/// Upper limits of short operations: bytes of the arrays, and number of hosts. In a short
/// operation, folds and copies take a few microseconds, so the thread keeps polling between waits.
constexpr std::size_t attentive_bytes_max = 32 * 1024, attentive_hosts_max = 64;

/// Traces contain predictions for groups of at most this number of hosts. The time to compute a
/// prediction grows with the number of messages, which may be the square of the number of hosts.
constexpr std::size_t predicted_hosts_max = 1024;

/// Returns the name of an operation, with a digest that includes the schedule. Hosts with equal
/// calls may select different schedules, because plan files and measured links are local.
OperationName with_schedule(OperationName name, const Selection& choice) {
  name.signature_digest = combined_digest(name.signature_digest, choice.signature_digest);
  return name;
}

bool is_short(Local& local, const Fold& fold, std::size_t hosts) {
  return local.in().size() + local.out().size() <= attentive_bytes_max &&
         hosts <= attentive_hosts_max && fold.is_built_in();
}

/// Returns a failure whose reason also quotes this host's call. Does not change a reason that
/// quotes this call already, or that names an operation but quotes no call.
paths::Failure with_call(const GroupView& view, const Running& running,
                         const paths::TravelError& error) {
  std::string reason = error.reason();
  const auto says = [&](std::string_view text) { return reason.find(text) != std::string::npos; };
  const std::string mine = call_text(view, running.name.number, *running.prepared);
  if (!says(mine) && (!says("operation ") || says(" calls '"))) reason += "; " + mine;
  return std::make_shared<paths::TravelError>(
      error.host().empty() ? view.deployment().name() : error.host(), "group " + view.name(),
      error.wrapper(), reason, error.cause());
}

/// Returns the messages that an execution has sent to other clusters.
paths::Traffic wan_traffic_of(const GroupView& view, const Execution& execution) {
  paths::Traffic wan;
  for (const auto& [peer, sent] : execution.sent())
    if (view.is_in_other_cluster(peer)) wan += {sent.messages, sent.bytes};
  return wan;
}

}  // namespace

HostGroup::HostGroup(paths::Deployment& deployment, std::string name,
                     const std::vector<std::uint32_t>* threads, Failing failing,
                     const Origin& origin)
    : view_(deployment, std::move(name), threads),
      failing_(failing),
      origin_(origin),
      trace_(GroupTrace::of(deployment, view_.layout(), view_.participant(), view_.name(),
                            HostGroups::of(deployment.host()).trace_numbers())),
      operations_(view_, failing, trace_.get(),
                  {.turn_of = [this](const PreparedCall& prepared) -> std::uint64_t {
                     return prepared.can_share_memory && machine_ ? machine_->new_turn() : 0;
                   },
                   .end = [this] { HostGroups::of(view_.deployment().host()).forget(*this); }}),
      preparer_(view_),
      executions_(deployment.runtime(), view_.hosts(),
                  work_rates_of(deployment.host().plan(), view_.hosts()[view_.participant()],
                                deployment.runtime())) {
  if (view_.hosts().size() == 1) return;
  lanes_ = deployment.host().lanes().join(
      view_.name(), {view_.selector(), &view_.hosts()},
      {.channels = std::numeric_limits<std::uint64_t>::max(),
       .describe = [this](std::uint64_t number) { return operations_.call_text_of(number); }});
  operations_.connect(lanes_.get());
  if (failing_ == Failing::all_behind && deployment.shared_elements().are_between_processes())
    share_memory();
}

/// Creates the objects for operations in shared memory, if hosts of the group are on one machine.
void HostGroup::share_memory() {
  machines_ =
      Machines::of(view_.plan(), view_.layout().hosts(), *view_.selector()->network().topology);
  if (!machines_) return;
  preparer_.take_machines(*machines_);
  if (!view_.deployment().shared_elements().are_shared()) return;
  machine_ = std::make_unique<MachineGroup>(MachineGroup::Parts{
      view_.runtime(), *lanes_, view_.hosts(), *machines_, view_.participant()});
  if (!machines_->is_one())
    leaders_ = std::make_unique<Leaders>(view_.deployment(), *lanes_, *machines_, view_.hosts());
}

/// Leaves the message group before the other data members are destroyed. Until then, the message
/// group may call `describe` (see the constructor), which reads operations_.
HostGroup::~HostGroup() {
  machine_.reset();
  leaders_.reset();
  lanes_.reset();
}

/// Does `work`, which carries out the operation or throws, and ends the operation.
template <class Work>
void HostGroup::carry_out(const std::shared_ptr<Running>& running, const Work& work) {
  std::exception_ptr stop;
  const paths::Failure failure = failure_of(*running, stop, work);
  if (running->turn > 0) machine_->end(running->turn);
  if (running->trace) running->trace->end(running->calls, failure != nullptr);
  runtime::DeferredWakes wakes;
  if (!failure && lanes_ != nullptr)
    lanes_->close(
        running->name.number,
        std::shared_ptr<const std::string>(running->prepared, &running->prepared->signature),
        running->shared_digest);
  operations_.end(*running, failure, wakes);
  if (stop) std::rethrow_exception(stop);
}

/// Does `work` for an operation. Returns its failure; nullptr on success. Sets `stop` if the thread
/// or fiber was stopped.
template <class Work>
paths::Failure HostGroup::failure_of(const Running& running, std::exception_ptr& stop,
                                     const Work& work) {
  const auto failure_with = [&](const std::string& why, paths::FailureCause cause) {
    return view_.failure_of(fmt::format("{}: {}", running.name.text(), why), cause);
  };
  try {
    work();
    return nullptr;
  } catch (const paths::TravelError& error) {
    return with_call(view_, running, error);
  } catch (const WrongContribution& wrong) {
    return failure_with(fmt::format("{}: {}", view_.thread_text(wrong.place()), wrong.what()),
                        paths::FailureCause::refused_value);
  } catch (const base::BadValue& bad) {
    return failure_with(bad.what(), paths::FailureCause::refused_value);
  } catch (const std::exception& error) {
    return failure_with(error.what(), paths::FailureCause::application);
  } catch (...) {
    stop = std::current_exception();
    return failure_with("a thread that carried it out was stopped", paths::FailureCause::ended);
  }
}

std::shared_ptr<Running> HostGroup::enter(std::uint32_t place, std::uint64_t number,
                                          const std::shared_ptr<const Call>& call,
                                          const std::shared_ptr<const PreparedCall>& prepared,
                                          bool waits) {
  const auto [running, is_last] = operations_.enter(place, number, call, prepared, waits);
  if (!is_last) return running;
  if (waits)
    carry_out(running, [this, &running = *running] { execute(running); });
  else
    view_.runtime()
        .spawn(runtime::ContextRole::service, {"group", view_.name(), number},
               [self = shared_from_this(), running] {
                 self->carry_out(running, [&] { self->execute(*running); });
               })
        .detach();
  return running;
}

// ---- repeated calls ----------------------------------------------------------------------------

bool HostGroup::run_at_once(std::uint32_t place, std::uint64_t& number, const Call& call,
                            RepeatedCall& known) {
  const std::shared_ptr<const PreparedCall>& prepared = known.prepared;
  const auto begun = operations_.begin_at_once(number, prepared);
  if (!begun) return false;
  const Selection& choice = *prepared->choice;
  const OperationName name =
      with_schedule({number++, begun->signature_digest, view_.name(), call.collective}, choice);
  const std::atomic<bool> is_abandoned{false};
  try {
    machine_->run({.turn = begun->turn,
                   .name = name,
                   .task = choice.task,
                   .digest = name.signature_digest,
                   .text = prepared->signature,
                   .element_bytes = prepared->question.element_bytes,
                   // Operations in shared memory do not write to `in`.
                   .in = {const_cast<std::byte*>(call.in.data()), call.in.size()},
                   .out = call.out,
                   .places = nullptr,
                   .is_in_unchecked = known.is_fold,
                   .fold = known.fold,
                   .patience = patience_of(name),
                   .trace = nullptr,
                   .is_abandoned = is_abandoned},
                  {});
  } catch (...) {
    const auto running = std::make_shared<Running>();
    running->name = {name.number, begun->signature_digest, view_.name(), call.collective};
    running->prepared = prepared;
    running->turn = begun->turn;
    carry_out(running, [this, error = std::current_exception()] {
      try {
        std::rethrow_exception(error);
      } catch (const OwnBadValue& own) {
        throw WrongContribution(view_.place(0), own);
      }
    });
    operations_.throw_to(place, *running->failure);
  }
  lanes_->close(name.number, {prepared, &prepared->signature}, name.signature_digest);
  note_algorithm(shared_memory_name);
  return true;
}

// ---- execution ---------------------------------------------------------------------------------

/// Returns how long an operation waits for other hosts, and how it asks them. Borrows `name`.
Patience HostGroup::patience_of(const OperationName& name) const {
  const auto ask_hosts = [this, &name] {
    lanes_->ask({.channel = name.number,
                 .signature_digest = name.signature_digest,
                 .parent = origin_.group,
                 .parent_channel = origin_.operation,
                 .threads = [this](std::uint32_t host) {
                   // The members of a declared collective are hosts, not threads.
                   return failing_ == Failing::alone ? std::string() : view_.threads_text(host);
                 }});
  };
  return {.longest = view_.plan().deadline,
          .is_written = view_.plan().deadline_written,
          .ask_hosts = ask_hosts};
}

void HostGroup::execute(Running& running) {
  const Call& call = *running.calls.front();
  Fold fold;
  if (const base::ReduceOperation* operation = operation_of(call))
    if (call.has_values) fold = Fold(*operation, call.scalar, call.values);
  const auto& choice = preparer_.selection_of(*running.prepared);
  operations_.check(running.name.number);
  const std::size_t element_bytes = running.prepared->question.element_bytes;
  Local local(view_.layout(), view_.participant(), running.calls, running.prepared->counts, fold,
              element_bytes);
  if (running.turn == 0 || !RegionExecution::can_work_in_place(choice->task.collective))
    local.separate_in();
  const OperationName name = with_schedule(running.name, *choice);
  const Patience patience = patience_of(name);
  if (running.turn > 0 &&
      execute_on_machine(
          {.turn = running.turn,
           .name = name,
           .task = choice->task,
           .digest = name.signature_digest,
           .text = running.prepared->signature,
           .element_bytes = element_bytes,
           .in = local.in(),
           .out = local.out(),
           .places = running.calls.front()->places ? &*running.calls.front()->places : nullptr,
           .is_in_unchecked = local.is_in_unchecked(),
           .fold = fold,
           .patience = patience,
           .trace = running.trace.get(),
           .is_abandoned = running.is_abandoned},
          running, local))
    return;
  local.separate_in();
  execute_schedule(name, choice, patience, running, local, fold);
  local.distribute();
  if (view_.layout().size() == 1) fold.alone(local.out());
}

/// Carries out this host's steps of a schedule.
void HostGroup::execute_schedule(const OperationName& name,
                                 const std::shared_ptr<const Selection>& chosen,
                                 const Patience& patience, Running& running, Local& local,
                                 Fold& fold) {
  const Selection& choice = *chosen;
  const ScheduleTrace schedule = schedule_trace_of(running, chosen);
  if (running.trace) running.trace->set_schedule(schedule);
  note_algorithm(schedule.algorithm);
  const Call& call = *running.calls.front();
  const std::uint32_t me = view_.participant();
  Memory memory(running.prepared->question.element_bytes, call.has_values);
  const auto lend = [&](collectives::Buffer buffer, collectives::Range range,
                        std::span<std::byte> bytes) { memory.lend(buffer, range, bytes); };
  if (call.collective != collectives::Collective::broadcast)
    lend(collectives::in, collectives::in_range(choice.task, me), local.in());
  lend(collectives::out, collectives::out_range(choice.task, me), local.out());
  const Share share{.name = name,
                    .plan = {.me = me,
                             .topology = choice.task.topology.get(),
                             .ports = CallPreparer::ports_of(call, choice)},
                    .memory = memory,
                    .fold = fold,
                    .limits = {.window = call.window, .patience = patience},
                    .trace = running.trace.get(),
                    .is_in_unchecked = local.is_in_unchecked()};
  std::unique_ptr<Execution> execution = executions_.take(lanes_.get());
  {
    std::optional<runtime::BusyPollScope> attention;
    if (is_short(local, fold, view_.hosts().size())) attention.emplace();
    try {
      execution->run(share, choice.algorithm->program(choice.task, choice.parameters, me));
    } catch (const base::BadValue&) {
      local.name_contributor();
      throw;
    }
  }
  running.wan = wan_traffic_of(view_, *execution);
  executions_.give_back(std::move(execution));
}

/// Carries out the operation in shared memory by MachineGroup::run(). Returns false if the group
/// has no shared region.
bool HostGroup::execute_on_machine(const RegionOperation& operation, Running& running,
                                   Local& local) {
  // The lambda captures only two pointers, so that std::function needs no allocation.
  const auto between = [this, &running](const RegionOperation& its,
                                        const MachineGroup::Leading& leading) {
    running.wan = leaders_->run(its, running.prepared->question, leading);
  };
  std::string_view name;
  try {
    name = machine_->run(operation, between);
    if (name.empty()) return false;
  } catch (const OwnBadValue& own) {
    // Collectives that do not work in place may have reordered `in`. name_contributor() then finds
    // the index of the wrong value in the member's own array.
    if (!RegionExecution::can_work_in_place(operation.task.collective)) local.name_contributor();
    throw WrongContribution(view_.place(0), own);
  }
  running.shared_digest = operation.name.signature_digest;
  ScheduleTrace schedule{std::string(name)};
  if (leaders_ != nullptr) {
    const auto between_machines = leaders_->selection(running.prepared->question);
    schedule.algorithm += "+" + between_machines->text();
    schedule.reason = name_of(between_machines->reason);
  }
  if (running.trace) running.trace->set_schedule(schedule);
  note_algorithm(schedule.algorithm);
  throw_if_abandoned(operation);
  local.distribute();
  return true;
}

/// Describes the schedule of an operation for its trace. Predicts the time of the operation only if
/// this host records the prediction, because to predict takes about as long as a small operation.
ScheduleTrace HostGroup::schedule_trace_of(const Running& running,
                                           const std::shared_ptr<const Selection>& choice) const {
  ScheduleTrace schedule{choice->text(), std::string(name_of(choice->reason))};
  if (!running.trace) return schedule;
  const tuner::Decision* const row = choice->decision;
  if (row != nullptr) schedule.row = std::to_string(row->position.line);
  if (!running.trace->records_prediction() || view_.hosts().size() > predicted_hosts_max)
    return schedule;
  schedule.predicted =
      preparer_.predict(*running.prepared, choice, running.trace->takes_stated_times());
  if (row != nullptr && row->why.predicted > base::Nanos(0))
    schedule.measured_per_predicted = static_cast<double>(row->why.time.count()) /
                                      static_cast<double>(row->why.predicted.count());
  return schedule;
}

/// Stores the name that last_algorithm() returns.
void HostGroup::note_algorithm(std::string_view name) {
  const runtime::Lock lock(mutex_);
  if (last_algorithm_ != name) last_algorithm_ = name;
}

void HostGroup::wait(Running& running, std::uint32_t place, runtime::Deadline deadline) {
  std::exception_ptr stop;
  try {
    wait_for_end(running, place, deadline);
  } catch (const runtime::Stop&) {
    stop = std::current_exception();
  }
  if (stop) {
    abandon(running, place);
    std::rethrow_exception(stop);
  }
  if (running.failure) operations_.throw_to(place, *running.failure);
}

/// Fails the operation of a member whose thread was stopped: the arrays of that member are freed,
/// and no other member or host may use them any more.
void HostGroup::abandon(Running& running, std::uint32_t place) const {
  if (lanes_ == nullptr || running.completion.done()) return;
  running.is_abandoned = true;
  lanes_->fail({running.name.number, running.name.number},
               fmt::format("{}: {} was stopped", running.name.text(), view_.thread_text(place)),
               paths::FailureCause::ended);
}

/// Waits until the operation has ended and the arrays are free. After the config's deadline, fails
/// an operation whose members have not all arrived. After the deadline `given`, fails any operation
/// that waits for members or hosts. After such a failure, still waits until the operation has
/// ended, because the arrays are in use until then.
void HostGroup::wait_for_end(Running& running, std::uint32_t place, runtime::Deadline given) {
  while (!running.completion.done()) {
    const runtime::Deadline until = runtime::sooner(view_.runtime(), view_.deadline(), given);
    if (running.completion.wait(until, {"members of", view_.name(), running.name.number})) return;
    const bool is_given = until.at == given.at;
    if (is_given) given = runtime::Deadline::never();
    operations_.fail_late(running, is_given ? std::optional(place) : std::nullopt);
  }
}

std::optional<std::uint32_t> HostGroup::index_for_mapping() const {
  if (machine_ == nullptr || !machines_->is_one() || !view_.layout().has_one_each())
    return std::nullopt;
  return machines_->index_of(view_.participant());
}

std::string HostGroup::last_algorithm() const {
  runtime::Lock lock(mutex_);
  return last_algorithm_;
}

}  // namespace groups
