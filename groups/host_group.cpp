// SPDX-License-Identifier: Apache-2.0
// groups/host_group.cpp — arrival of members, and execution of an operation by one of them
#include "groups/host_group.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "base/digest.hpp"
#include "base/usage_error.hpp"
#include "groups/local.hpp"
#include "paths/host/shared_elements.hpp"
#include "runtime/continuation.hpp"
#include "runtime/scheduler/busy_poll_scope.hpp"

namespace groups {
namespace {

/// Upper limits of short operations: bytes of the arrays, and number of hosts. In a short
/// operation, folds and copies take a few microseconds, so the thread keeps polling between waits.
constexpr std::size_t attentive_bytes_max = 32 * 1024, attentive_hosts_max = 64;

/// Returns the host number in the run for each participant of the layout.
std::vector<std::uint32_t> run_hosts(const paths::Deployment& deployment, const Layout& layout) {
  if (&deployment.plan() == &deployment.host().plan()) return layout.hosts();
  std::vector<std::uint32_t> hosts;
  for (const std::uint32_t host : layout.hosts())
    hosts.push_back(*deployment.host().plan().host_named(deployment.plan().hosts[host].name));
  return hosts;
}

std::uint32_t participant_at(const Layout& layout, std::uint32_t host) {
  const auto& hosts = layout.hosts();
  const auto found = std::lower_bound(hosts.begin(), hosts.end(), host);
  return static_cast<std::uint32_t>(found - hosts.begin());
}

struct Lent {
  const std::byte* begin;
  const std::byte* end;
  std::size_t member;
  bool is_out;
};

/// Returns two arrays of different members that overlap, of which at least one is an `out`; nullopt
/// if there are none. Writing to such an `out` would change the other array. Relies on earlier
/// checks that the arrays of one member are identical or do not overlap.
std::optional<std::pair<Lent, Lent>> overlapping(const Calls& calls) {
  std::vector<Lent> all;
  for (std::size_t member = 0; member < calls.size(); ++member) {
    const auto [in, out] = std::pair(calls[member]->in, calls[member]->out);
    if (!calls[member]->has_values) return std::nullopt;
    if (!out.empty()) all.push_back({out.data(), out.data() + out.size(), member, true});
    if (!in.empty() && (out.empty() || in.data() != out.data()))
      all.push_back({in.data(), in.data() + in.size(), member, false});
  }
  const std::less<const std::byte*> before;
  std::sort(all.begin(), all.end(),
            [&](const Lent& left, const Lent& right) { return before(left.begin, right.begin); });
  const Lent* farthest = nullptr;
  const Lent* farthest_out = nullptr;
  for (const Lent& one : all) {
    const Lent* const other = one.is_out ? farthest : farthest_out;
    if (other != nullptr && before(one.begin, other->end)) return std::pair(*other, one);
    if (farthest == nullptr || before(farthest->end, one.end)) farthest = &one;
    if (one.is_out && (farthest_out == nullptr || before(farthest_out->end, one.end)))
      farthest_out = &one;
  }
  return std::nullopt;
}

/// Returns the digest of two digests, such as that of all earlier calls and that of the next call.
std::uint64_t digest_of(std::uint64_t before, std::uint64_t after) {
  const std::array<std::uint64_t, 2> both{before, after};
  return base::digest_of(std::as_bytes(std::span(both))).low;
}

/// Returns the name of an operation, with a digest that includes the schedule. Hosts with equal
/// calls may select different schedules, because plan files and measured links are local.
OperationName with_schedule(OperationName name, const Selection& choice) {
  name.signature_digest = digest_of(name.signature_digest, choice.signature_digest);
  return name;
}

}  // namespace

HostGroup::HostGroup(paths::Deployment& deployment, std::string name,
                     const std::vector<std::uint32_t>* threads, Failing failing,
                     const Origin& origin)
    : deployment_(deployment),
      name_(std::move(name)),
      shared_layout_(Layout::of(deployment.plan(), threads)),
      layout_(*shared_layout_),
      me_(participant_at(layout_, deployment.index())),
      failing_(failing),
      origin_(origin),
      selector_(Selector::of(deployment.host().shared_plan(), run_hosts(deployment, layout_))),
      hosts_(selector_->hosts()),
      trace_(GroupTrace::of(deployment, layout_, me_, name_)),
      members_(layout_.digest()),
      signature_digest_(members_),
      executions_(deployment.runtime(), hosts_,
                  work_rates_of(deployment.host().plan(), hosts_[me_], deployment.runtime())) {
  if (layout_.hosts().size() > 1)
    lanes_ = deployment.host().lanes().join(
        name_, {selector_, &hosts_},
        {.channels = std::numeric_limits<std::uint64_t>::max(),
         .describe = [this](std::uint64_t number) {
           const runtime::Lock lock(mutex_);
           const auto running = running_.find(number);
           return running == running_.end() ? std::string() : call_text(*running->second);
         }});
  if (lanes_ == nullptr || failing_ != Failing::all_behind ||
      !deployment_.shared_elements().are_between_processes())
    return;
  machines_ = Machines::of(deployment_.plan(), layout_.hosts(), *selector_->network().topology);
  if (!machines_ || !deployment_.shared_elements().are_shared()) return;
  machine_ = std::make_unique<MachineGroup>(
      MachineGroup::Parts{deployment_.runtime(), *lanes_, hosts_, *machines_, me_});
  if (!machines_->is_one())
    leaders_ = std::make_unique<Leaders>(deployment_, *lanes_, *machines_, hosts_);
}

/// Leaves the message group before the other data members are destroyed. Until then, the message
/// group may call `describe` (see the constructor), which reads running_.
HostGroup::~HostGroup() {
  machine_.reset();
  leaders_.reset();
  lanes_.reset();
}

std::string HostGroup::thread_text(std::uint32_t place) const {
  const auto& host = deployment_.plan().hosts[layout_.hosts()[layout_.participant_at(place)]];
  return fmt::format("thread {}/{}", host.name, layout_.thread_at(place) - host.first_thread);
}

runtime::Deadline HostGroup::deadline() const {
  return paths::deadline_of(deployment_.plan(), runtime());
}

paths::Failure HostGroup::failure_of(const std::string& reason, paths::FailureCause cause) const {
  return std::make_shared<paths::TravelError>(deployment_.name(), "group " + name_, "", reason,
                                              cause);
}

std::shared_ptr<Running> HostGroup::open(std::uint64_t number) {
  std::shared_ptr<Running>& running = running_[number];
  if (running == nullptr) {
    running = std::make_shared<Running>();
    running->name = {number, 0, name_};
    running->calls.resize(layout_.members_on(me_));
    if (trace_) running->trace = trace_->share(number);
  }
  return running;
}

/// Returns the reason for which an operation cannot succeed; nullptr if there is none. The reason
/// is that the operation or an earlier one has failed, or that a member has left before this
/// operation.
paths::Failure HostGroup::known_failure(std::uint64_t number) const {
  const auto behind = failures_.upper_bound(number);
  if (behind != failures_.begin()) return std::prev(behind)->second;
  for (const auto& [place, left] : left_)
    if (number >= left.from)
      return failure_of(fmt::format("{} {}", thread_text(place), left.why), left.cause);
  return nullptr;
}

std::shared_ptr<Running> HostGroup::enter(std::uint32_t place, std::uint64_t number,
                                          const std::shared_ptr<const Call>& call,
                                          const std::shared_ptr<const PreparedCall>& prepared,
                                          bool waits) {
  std::shared_ptr<Running> running;
  {
    runtime::Lock lock(mutex_);
    if (const paths::Failure failure = known_failure(number)) {
      fail(lock, number, failure, failing_);
      lock.unlock();  // tell() locks the mutex of HostGroups, never while mutex_ is held
      tell(place, *failure);
    }
    running = open(number);
    if (running->come == 0) {
      running->prepared = prepared;
      running->name.collective = call->collective;
    } else if (running->prepared != prepared &&
               running->prepared->signature != prepared->signature) {
      const auto other = std::find_if(running->calls.begin(), running->calls.end(),
                                      [](const auto& one) { return one != nullptr; });
      const std::string why =
          fmt::format("operation {} of group {}: {} calls '{}', but {} calls '{}'", number, name_,
                      thread_text(place), prepared->signature,
                      thread_text(layout_.first_on(me_) +
                                  static_cast<std::uint32_t>(other - running->calls.begin())),
                      running->prepared->signature);
      fail(lock, number, failure_of(why, paths::FailureCause::application), failing_);
      throw base::UsageError(why);
    }
    running->calls[place - layout_.first_on(me_)] = call;
    if (running->trace) running->trace->came(place - layout_.first_on(me_), waits);
    if (++running->come < running->calls.size()) return running;
    if (const std::string why = overlap_text(*running); !why.empty()) {
      fail(lock, number, failure_of(why, paths::FailureCause::application), failing_);
      throw base::UsageError(why);
    }
    running->has_begun = true;
    const std::uint64_t before = failing_ == Failing::alone ? members_ : signature_digest_;
    signature_digest_ = digest_of(before, prepared->digest);
    running->name.signature_digest = signature_digest_;
    begun_ = number + 1;
    last_ = prepared;
    if (prepared->can_share_memory && machine_ != nullptr) running->turn = machine_->new_turn();
  }
  if (waits)
    carry_out(running);
  else
    runtime()
        .spawn(runtime::ContextRole::service, {"group", name_, number},
               [self = shared_from_this(), running] { self->carry_out(running); })
        .detach();
  return running;
}

/// Returns an error text if the `out` array of a member overlaps an array of another member;
/// otherwise "".
std::string HostGroup::overlap_text(const Running& running) const {
  if (running.calls.size() == 1) return "";
  const auto found = overlapping(running.calls);
  if (!found) return "";
  const auto text = [this](const Lent& one) {
    return fmt::format("`{}` of {}", one.is_out ? "out" : "in",
                       thread_text(layout_.first_on(me_) + static_cast<std::uint32_t>(one.member)));
  };
  return fmt::format("{}: {} overlaps {}; expected what a member writes apart from others' arrays",
                     running.name.text(), text(found->first), text(found->second));
}

void HostGroup::carry_out(const std::shared_ptr<Running>& running) {
  paths::Failure failure;
  std::exception_ptr stop;
  try {
    execute(*running);
  } catch (const paths::TravelError& error) {
    failure = told(*running, error);
  } catch (const WrongContribution& wrong) {
    failure = failure_of(
        fmt::format("{}: {}: {}", running->name.text(), thread_text(wrong.place()), wrong.what()),
        paths::FailureCause::refused_value);
  } catch (const base::BadValue& bad) {
    failure = failure_of(fmt::format("{}: {}", running->name.text(), bad.what()),
                         paths::FailureCause::refused_value);
  } catch (const std::exception& error) {
    failure = failure_of(fmt::format("{}: {}", running->name.text(), error.what()),
                         paths::FailureCause::application);
  } catch (...) {
    failure = failure_of(
        fmt::format("{}: a thread that carried it out was stopped", running->name.text()),
        paths::FailureCause::ended);
    stop = std::current_exception();
  }
  if (running->turn > 0) machine_->end(running->turn);
  if (running->trace) running->trace->end(running->calls, failure != nullptr);
  runtime::DeferredWakes wakes;
  if (!failure && lanes_ != nullptr)
    lanes_->close(
        running->name.number,
        std::shared_ptr<const std::string>(running->prepared, &running->prepared->signature),
        running->shared_digest);
  {
    runtime::Lock lock(mutex_);
    running_.erase(running->name.number);
    running->calls.clear();
    if (failure) {
      fail(lock, running->name.number, failure, failing_);
      running->failure = failure;
    }
    end_if_over(lock);
  }
  running->completion.complete(wakes);
  if (stop) std::rethrow_exception(stop);
}

/// Returns a text that describes the operation and the call of this host's first member.
std::string HostGroup::call_text(const Running& running) const {
  return fmt::format("in operation {} of group {} {} calls '{}'", running.name.number, name_,
                     thread_text(layout_.first_on(me_)), running.prepared->signature);
}

/// Returns a failure whose reason also quotes this host's call. Adds no call to a reason that
/// contains this call already, or that names an operation without quoting a call.
paths::Failure HostGroup::told(const Running& running, const paths::TravelError& error) const {
  std::string reason = error.reason();
  const auto says = [&](std::string_view text) { return reason.find(text) != std::string::npos; };
  const std::string mine = call_text(running);
  if (!says(mine) && (!says("operation ") || says(" calls '"))) reason += "; " + mine;
  return std::make_shared<paths::TravelError>(
      error.host().empty() ? deployment_.name() : error.host(), "group " + name_, error.wrapper(),
      reason, error.cause());
}

Selector& HostGroup::selector_for(const Call& call) const {
  return call.selector ? *call.selector : *selector_;
}

std::shared_ptr<Selector> HostGroup::selector_by(const tuning::MeasuredNetwork& measured) const {
  return Selector::of(deployment_.host().shared_plan(), hosts_, &measured);
}

std::shared_ptr<const PreparedCall> HostGroup::prepare(const Call& call) {
  const Machines* const machines = machines_ ? &*machines_ : nullptr;
  std::shared_ptr<const PreparedCall> prepared;
  if (PreparedCallCache::keep(call)) {
    runtime::Lock lock(mutex_);
    prepared = prepared_.of(call, layout_, machines);
  } else {
    prepared = std::make_shared<const PreparedCall>(call, layout_, machines);
  }
  if (!is_selected(call.algorithm) || deployment_.plan().decisions) check_algorithm(*prepared);
  if (call.window > 0 || call.ports.receiving > 0) check_window(call, *prepared);
  return prepared;
}

/// Throws: UsageError if the limit of unfinished steps is smaller than the schedule needs, because
///         hosts would deadlock. Accepts any limit if messages can be sent by credit: a smaller
///         limit may then suffice, depending on message sizes.
void HostGroup::check_window(const Call& call, const PreparedCall& prepared) const {
  const auto choice = selection_of(prepared);
  const pricing::Ports& ports = choice->planned ? choice->planned->execution.ports : call.ports;
  if (ports.receiving == 0 && deployment_.host().plan().lanes.inbox_bytes > 0) return;
  const std::size_t window = pricing::window_of(call.window, hosts_.size());
  const auto least = selector_for(call).least_window(*choice, ports, window);
  if (least == window) return;
  const std::string expected =
      least ? fmt::format("a window of {} unfinished steps or more, found {}", *least, window)
            : fmt::format(
                  "a schedule that ends with so few ports ({} receiving), found one that "
                  "ends with no window",
                  ports.receiving);
  throw base::UsageError(fmt::format("group {}: {} by {}: expected {}", name_,
                                     name_of(call.collective), choice->text(), expected));
}

/// Throws: UsageError if the call's algorithm does not support the collective that the schedule
///         performs between hosts.
void HostGroup::check_algorithm(const PreparedCall& prepared) const {
  const collectives::Collective between = prepared.question.collective;
  try {
    selection_of(prepared);
  } catch (const base::UsageError& error) {
    if (between == prepared.call.collective) throw;
    throw base::UsageError(fmt::format("group {}: {} of these members is {} between hosts; {}",
                                       name_, name_of(prepared.call.collective), name_of(between),
                                       error.mistake()));
  }
}

std::shared_ptr<const Selection> HostGroup::selection_of(const PreparedCall& prepared) const {
  {
    runtime::Lock lock(mutex_);
    if (prepared.choice != nullptr) return prepared.choice;
  }
  auto choice = selector_for(prepared.call).answer(prepared.question);
  runtime::Lock lock(mutex_);
  return prepared.choice = std::move(choice);
}

void HostGroup::execute(Running& running) {
  const Call& call = *running.calls.front();
  Fold fold;
  if (const base::ReduceOperation* operation = operation_of(call))
    if (call.has_values) fold = Fold(*operation, call.scalar, call.values);
  const auto choice = selection_of(*running.prepared);
  {
    runtime::Lock lock(mutex_);
    if (const paths::Failure failure = known_failure(running.name.number))
      throw paths::TravelError(*failure);
  }
  const std::size_t element_bytes = running.prepared->question.element_bytes;
  Local local(layout_, me_, running.calls, running.prepared->counts, fold, element_bytes);
  if (running.turn == 0 || !RegionExecution::can_work_in_place(choice->task.collective))
    local.separate_in();
  const OperationName name = with_schedule(running.name, *choice);
  const Patience patience{.longest = deployment_.plan().deadline,
                          .is_written = deployment_.plan().deadline_written,
                          .ask_hosts = [this, &name] { ask_hosts(name); }};
  if (running.turn > 0 && execute_on_machine({.turn = running.turn,
                                              .name = name,
                                              .task = choice->task,
                                              .digest = name.signature_digest,
                                              .text = running.prepared->signature,
                                              .element_bytes = element_bytes,
                                              .in = local.in(),
                                              .out = local.out(),
                                              .is_in_unchecked = local.is_in_unchecked(),
                                              .fold = fold,
                                              .patience = patience,
                                              .trace = running.trace.get(),
                                              .is_abandoned = running.is_abandoned},
                                             running, local))
    return;
  local.separate_in();
  chose(running, choice->text(), name_of(choice->reason));
  Memory memory(element_bytes, call.has_values);
  const auto lend = [&](collectives::Buffer buffer, collectives::Range range,
                        std::span<std::byte> bytes) { memory.lend(buffer, range, bytes); };
  if (call.collective != collectives::Collective::broadcast)
    lend(collectives::in, collectives::in_range(choice->task, me_), local.in());
  lend(collectives::out, collectives::out_range(choice->task, me_), local.out());
  const Share share{
      .name = name,
      .plan = {.me = me_,
               .topology = choice->task.topology.get(),
               .ports = choice->planned ? choice->planned->execution.ports : call.ports},
      .memory = memory,
      .fold = fold,
      .limits = {.window = call.window, .patience = patience},
      .trace = running.trace.get(),
      .is_in_unchecked = local.is_in_unchecked()};
  std::unique_ptr<Execution> execution = executions_.take(lanes_.get());
  {
    std::optional<runtime::BusyPollScope> attention;
    const bool is_short = local.in().size() + local.out().size() <= attentive_bytes_max &&
                          layout_.hosts().size() <= attentive_hosts_max && fold.is_built_in();
    if (is_short) attention.emplace();
    try {
      execution->run(share, choice->algorithm->program(choice->task, choice->parameters, me_));
    } catch (const base::BadValue&) {
      local.name_contributor();
      throw;
    }
  }
  running.wan = wan_traffic_of(*execution);
  executions_.give_back(std::move(execution));
  local.distribute();
  if (layout_.size() == 1) fold.alone(local.out());
}

/// Carries out the operation in shared memory. Returns false if the group has no shared region
/// (MachineGroup).
bool HostGroup::execute_on_machine(const RegionOperation& operation, Running& running,
                                   Local& local) {
  // Captures two pointers only, which a std::function holds without an allocation.
  const auto between = [this, &running](const RegionOperation& its,
                                        const MachineGroup::Leading& leading) {
    running.wan = leaders_->run(its, running.prepared->question, leading);
  };
  try {
    if (!machine_->run(operation, between)) return false;
  } catch (const OwnBadValue& own) {
    // Collectives that do not work in place may have reordered `in`. name_contributor() then finds
    // the index of the wrong value in the member's own array.
    if (!RegionExecution::can_work_in_place(operation.task.collective)) local.name_contributor();
    throw WrongContribution(layout_.first_on(me_), own);
  }
  running.shared_digest = operation.name.signature_digest;
  std::string algorithm(shared_memory_name);
  std::string_view reason;
  if (leaders_ != nullptr) {
    const auto between_machines = leaders_->selection(running.prepared->question);
    algorithm += "+" + between_machines->text();
    reason = name_of(between_machines->reason);
  }
  chose(running, std::move(algorithm), reason);
  throw_if_abandoned(operation);
  local.distribute();
  return true;
}

/// Stores the algorithm of the operation for last_algorithm() and for the trace.
void HostGroup::chose(Running& running, std::string algorithm, std::string_view reason) {
  if (running.trace) running.trace->chose(algorithm, reason);
  runtime::Lock lock(mutex_);
  last_algorithm_ = std::move(algorithm);
}

void HostGroup::ask_hosts(const OperationName& name) const {
  lanes_->ask({.channel = name.number,
               .signature_digest = name.signature_digest,
               .parent = origin_.group,
               .parent_channel = origin_.operation,
               .threads = [this](std::uint32_t host) { return threads_text(host); }});
}

/// Returns the threads of the members on a host, in the format that Host::why_absent() reads.
/// Returns "" for Failing::alone, the mode of wrappers/schedule.cpp: its groups have no threads as
/// members, only one member per host.
std::string HostGroup::threads_text(std::uint32_t host) const {
  if (failing_ == Failing::alone) return {};
  const auto participant =
      static_cast<std::uint32_t>(std::find(hosts_.begin(), hosts_.end(), host) - hosts_.begin());
  const std::uint32_t first = deployment_.plan().hosts[layout_.hosts()[participant]].first_thread;
  std::vector<std::uint32_t> threads;
  for (std::uint32_t place = layout_.first_on(participant);
       place < layout_.first_on(participant + 1); ++place)
    threads.push_back(layout_.thread_at(place) - first);
  std::sort(threads.begin(), threads.end());
  return fmt::format("{}:{}", deployment_.label(), paths::EndedThreads::list_text(threads));
}

paths::Traffic HostGroup::wan_traffic_of(const Execution& execution) const {
  const auto cluster = [&](std::uint32_t participant) {
    return deployment_.plan().hosts[layout_.hosts()[participant]].cluster;
  };
  paths::Traffic wan;
  for (const auto& [peer, sent] : execution.sent())
    if (cluster(peer) != cluster(me_)) wan += {sent.messages, sent.bytes};
  return wan;
}

void HostGroup::wait(Running& running, std::uint32_t place, runtime::Deadline deadline) {
  std::exception_ptr stop;
  try {
    wait_for_end(running, place, deadline);
  } catch (const runtime::Stop&) {
    stop = std::current_exception();
  }
  if (stop) {
    take_memory_back(running, place);
    std::rethrow_exception(stop);
  }
  if (running.failure) tell(place, *running.failure);
}

/// Fails the operation of a member that was stopped, because the member's arrays are freed although
/// other members and hosts may still use them.
void HostGroup::take_memory_back(Running& running, std::uint32_t place) const {
  if (lanes_ == nullptr || running.completion.done()) return;
  running.is_abandoned = true;
  lanes_->fail({running.name.number, running.name.number},
               fmt::format("{}: {} was stopped", running.name.text(), thread_text(place)),
               paths::FailureCause::ended);
}

/// Waits until the operation has ended and the arrays are free. After the config's deadline, fails
/// an operation whose members have not all arrived. After the deadline `given`, fails any operation
/// that waits for members or hosts. Continues to wait after such a failure.
void HostGroup::wait_for_end(Running& running, std::uint32_t place, runtime::Deadline given) {
  while (!running.completion.done()) {
    const runtime::Deadline until = runtime::sooner(runtime(), deadline(), given);
    if (running.completion.wait(until, {"members of", name_, running.name.number})) return;
    const bool is_given = until.at == given.at;
    if (is_given) given = runtime::Deadline::never();
    runtime::Lock lock(mutex_);
    const auto found = running_.find(running.name.number);
    const bool has_ended = found == running_.end() || found->second.get() != &running;
    if (has_ended || (running.has_begun && (!is_given || lanes_ == nullptr))) continue;
    std::string who;
    for (std::size_t member = 0; member < running.calls.size(); ++member)
      if (running.calls[member] == nullptr)
        who += (who.empty() ? "" : ", ") +
               thread_text(layout_.first_on(me_) + static_cast<std::uint32_t>(member));
    fail(lock, running.name.number,
         failure_of(fmt::format("{}: {} before the deadline of {}", running.name.text(),
                                running.has_begun ? "did not end" : who + " did not arrive",
                                is_given ? thread_text(place)
                                         : base::format_time(deployment_.plan().deadline)),
                    paths::FailureCause::deadline),
         failing_);
  }
}

/// Throws the failure, and records that the thread of this member received it. If the thread then
/// ends with an error, its other groups report this failure as the cause.
void HostGroup::tell(std::uint32_t place, const paths::TravelError& failure) const {
  HostGroups::of(deployment_.host()).note(layout_.thread_at(place), failure);
  throw paths::TravelError(failure);
}

bool HostGroup::come(std::uint32_t place) {
  runtime::Lock lock(mutex_);
  if (left_.contains(place)) return false;
  if (!come_.insert(place).second)
    throw base::UsageError(fmt::format("group {}: {} is in it already", name_, thread_text(place)));
  return true;
}

void HostGroup::look_for_ended() {
  const paths::EndedThreads& ended = deployment_.ended_threads();
  if (ended.empty()) return;
  const std::uint32_t first = deployment_.plan().hosts[deployment_.index()].first_thread;
  for (std::uint32_t place = layout_.first_on(me_); place < layout_.first_on(me_ + 1); ++place)
    if (const std::uint32_t thread = layout_.thread_at(place) - first; ended.has(thread))
      see_ended(thread);
}

void HostGroup::see_ended(std::uint32_t thread) {
  const std::uint32_t number = deployment_.plan().hosts[deployment_.index()].first_thread + thread;
  runtime::Lock lock(mutex_);
  for (std::uint32_t place = layout_.first_on(me_); place < layout_.first_on(me_ + 1); ++place) {
    if (layout_.thread_at(place) != number) continue;
    if (come_.contains(place) || left_.contains(place)) return;
    const std::string why = "has ended without joining it";
    left_[place] = {.why = why};
    fail(lock, 0,
         failure_of(fmt::format("{} {}", thread_text(place), why), paths::FailureCause::released),
         failing_);
    return end_if_over(lock);
  }
}

void HostGroup::wait_until_over() {
  if (over_.wait(deadline(), {"members to leave", name_, 0})) return;
  runtime::Lock lock(mutex_);
  std::vector<std::string> who;
  for (std::uint32_t place = layout_.first_on(me_); place < layout_.first_on(me_ + 1); ++place)
    if (!left_.contains(place)) who.push_back(thread_text(place));
  throw paths::TravelError(
      deployment_.name(), "group " + name_, "",
      fmt::format(
          "one of this name was made before, and {} not left it before the deadline of {}",
          who.empty() ? "what was started has" : fmt::format("{} has", fmt::join(who, ", ")),
          base::format_time(deployment_.plan().deadline)),
      paths::FailureCause::deadline);
}

void HostGroup::leave(std::uint32_t place, std::uint64_t number, bool is_failing) {
  std::string why = is_failing ? "has failed" : "has left the group";
  paths::FailureCause cause = paths::FailureCause::released;
  if (is_failing) {
    const auto noted = HostGroups::of(deployment_.host()).noted(layout_.thread_at(place));
    cause = noted.reason.empty() ? paths::FailureCause::application : noted.cause;
    if (!noted.reason.empty()) why += "; it received the error: " + noted.reason;
  }
  runtime::Lock lock(mutex_);
  left_[place] = {number, why, cause};
  const bool is_missed = std::any_of(running_.begin(), running_.end(), [&](const auto& one) {
    return one.first >= number && !one.second->has_begun;
  });
  if (is_missed || is_failing)
    fail(lock, number, failure_of(fmt::format("{} {}", thread_text(place), why), cause), failing_);
  end_if_over(lock);
}

/// Returns the number and digest of the operations in which this host took part. Other hosts
/// compare them with their own. After a failure, returns only the reason of the failure, because
/// the failed operation may have succeeded on another host.
paths::Participation HostGroup::participation() const {
  if (failing_ == Failing::alone) return {};
  if (!failures_.empty()) return {.text = failures_.begin()->second->reason()};
  std::string text = fmt::format("after {} operation{}", begun_, begun_ == 1 ? "" : "s");
  if (last_ != nullptr) text += fmt::format(", the last '{}'", last_->signature);
  return {begun_, digest_of(signature_digest_, begun_), std::move(text)};
}

/// Ends the group if all members have left: notifies other hosts and frees the name. Requires:
/// `lock` is held. The function unlocks it while it notifies.
void HostGroup::end_if_over(runtime::Lock& lock) {
  if (left_.size() < layout_.members_on(me_) || !running_.empty() || is_over_) return;
  is_over_ = true;
  const paths::Participation part = participation();
  lock.unlock();
  if (lanes_ != nullptr) lanes_->leave_after(part);
  HostGroups::of(deployment_.host()).forget(*this);
  over_.complete();
  lock.lock();
}

void HostGroup::fail(std::uint64_t number, const paths::Failure& failure, Failing failing) {
  runtime::Lock lock(mutex_);
  fail(lock, number, failure, failing);
}

/// Records the failure, and fails the affected operations that have not begun. Operations under way
/// end normally, or fail when their messages fail. Requires: `lock` is held. The function unlocks
/// it while it notifies other hosts.
void HostGroup::fail(runtime::Lock& lock, std::uint64_t number, const paths::Failure& failure,
                     Failing failing) {
  const bool is_alone = failing == Failing::alone;
  if (!is_alone) {
    const auto behind = failures_.upper_bound(number);
    if (behind == failures_.begin()) failures_.emplace(number, failure);
  }
  std::vector<std::shared_ptr<Running>> ended;
  for (auto one = running_.lower_bound(number); one != running_.end();) {
    if (is_alone && one->first != number) break;
    if (one->second->has_begun) {
      ++one;
      continue;
    }
    one->second->failure = failure;
    one->second->calls.clear();
    ended.push_back(one->second);
    one = running_.erase(one);
  }
  lock.unlock();
  for (const auto& one : ended) one->completion.complete();
  if (lanes_ != nullptr)
    lanes_->fail({number, is_alone ? number : paths::Channels().last}, failure->reason(),
                 failure->cause());
  lock.lock();
}

std::string HostGroup::last_algorithm() const {
  runtime::Lock lock(mutex_);
  return last_algorithm_;
}

}  // namespace groups
