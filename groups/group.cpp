// SPDX-License-Identifier: Apache-2.0
// groups/group.cpp — validation and start of a member's operations.
#include "groups/group.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <exception>
#include <tuple>

#include "base/errors.hpp"
#include "base/link_model/measured_network.hpp"
#include "base/near_match.hpp"
#include "base/settings.hpp"
#include "base/text_file.hpp"
#include "base/usage_error.hpp"
#include "groups/execution/repeated_calls.hpp"
#include "groups/host_group.hpp"
#include "groups/selection/selection.hpp"
#include "paths/host/host.hpp"
#include "runtime/continuation.hpp"

namespace groups {
namespace {

using collectives::Collective;

const std::vector<std::uint32_t>& threads_of(const paths::Plan& plan, const std::string& name) {
  std::vector<std::string_view> names;
  for (const auto& group : plan.groups) {
    if (group.name == name) return group.threads;
    names.emplace_back(group.name);
  }
  throw base::UsageError(fmt::format("group {}: the config declares none of that name{}", name,
                                     base::did_you_mean(name, names)));
}

/// Computes the element count of a call without counts from the sizes of its arrays.
std::uint64_t count_of(const Call& call, std::size_t element_bytes, std::uint32_t members) {
  const std::uint64_t in = call.in.size() / element_bytes;
  const std::uint64_t out = call.out.size() / element_bytes;
  switch (call.collective) {
    case Collective::broadcast:
    case Collective::scatter:
    case Collective::reduce_scatter: return out;
    case Collective::alltoall: return (in + members - 1) / members;
    default: return in;
  }
}

[[noreturn]] void refuse(const std::string& group, const Call& call, const std::string& why) {
  throw base::UsageError(fmt::format("group {}: {}: {}", group, name_of(call.collective), why));
}

bool overlap(std::span<const std::byte> left, std::span<const std::byte> right) {
  const std::less<const std::byte*> before;
  return !left.empty() && !right.empty() && before(left.data(), right.data() + right.size()) &&
         before(right.data(), left.data() + left.size());
}

/// Checks that `in` and `out` are apart or the same array.
void check_apart(const std::string& group, const Call& call) {
  const bool is_in_place = call.in.data() == call.out.data() && call.in.size() == call.out.size();
  if (overlap(call.in, call.out) && !is_in_place)
    refuse(group, call, "`in` and `out` overlap; expected them apart, or one and the same");
}

void check_operation(const Call& call) {
  const base::ReduceOperation* const operation = base::reduce_operation(call.operation);
  if (operation == nullptr) {
    const auto known = base::reduce_operation_names();
    throw base::UsageError(fmt::format("{}: expected one of {}, found '{}'{}",
                                       name_of(call.collective), fmt::join(known, ", "),
                                       call.operation, base::did_you_mean(call.operation, known)));
  }
  if (operation->accepts && !operation->accepts(call.scalar))
    throw base::UsageError(fmt::format("{}: '{}' does not take {}", name_of(call.collective),
                                       call.operation, base::scalar_name(call.scalar)));
}

}  // namespace

Group::Group(paths::Thread& thread, std::string name)
    : Group(thread, std::move(name), nullptr, {}) {}

Group::Group(paths::Thread& thread, std::string name, const std::vector<std::uint32_t>& threads)
    : Group(thread, std::move(name), &threads, {}) {}

Group::Group(paths::Thread& thread, std::string name, const std::vector<std::uint32_t>* threads,
             const Origin& origin)
    : thread_(thread), exceptions_(std::uncaught_exceptions()) {
  rank_ = thread.rank();
  if (threads != nullptr) {
    const auto place = std::find(threads->begin(), threads->end(), rank_);
    if (place == threads->end())
      throw base::UsageError(
          fmt::format("group {}: the thread of rank {} is not in it", name, rank_));
    rank_ = static_cast<std::uint32_t>(place - threads->begin());
  }
  const std::string& label = thread.deployment().label();
  if (!label.empty()) name = label + "/" + name;
  auto& groups = HostGroups::of(thread.host());
  host_there_ = groups.is_there();
  group_ = groups.join(thread.deployment(), name, threads, rank_, origin);
  place_ = group_->view().layout().place(rank_);
  if (group_->can_run_at_once()) repeated_ = std::make_unique<RepeatedCalls>();
}

Group::Group(paths::Thread& thread, const Declared& declared)
    : Group(thread, declared.name, threads_of(thread.deployment().plan(), declared.name)) {}

Group::~Group() {
  if (forks_ != runtime::forks_until_here()) {
    runtime::keep_for_ever(std::move(group_));
    return;
  }
  if (host_there_.expired()) return;
  const bool is_failing = std::uncaught_exceptions() > exceptions_;
  group_->operations().leave(place_, next_, is_failing);
}

std::uint32_t Group::size() const { return group_->view().layout().size(); }

const collectives::Topology& Group::topology() const {
  return *group_->view().selector()->network().topology;
}

std::string Group::last_algorithm() const { return group_->last_algorithm(); }

/// Checks that the host exists, and that the caller is the member's thread.
void Group::check_caller(const Call& call) const {
  if (host_there_.expired()) refuse(group_->view().name(), call, "its host has ended");
  thread_.check_caller(name_of(call.collective), "group", group_->view().name());
}

/// Checks a call as far as one member can without the other members, and prepares the call.
/// Differences between the members' calls are found during the operation.
std::shared_ptr<const PreparedCall> Group::check(Call& call) const {
  const auto refuse = [&](const std::string& why) {
    groups::refuse(group_->view().name(), call, why);
  };
  check_caller(call);
  if (has_root(call.collective) && call.root >= size())
    refuse(fmt::format("expected a root below {}, found {}", size(), call.root));
  if (is_reduction(call.collective) && call.collective != Collective::barrier)
    check_operation(call);
  bind_tuples(call, rank_);
  const std::size_t element = element_bytes_of(call);
  if (call.in.size() % element != 0 || call.out.size() % element != 0)
    refuse(fmt::format("expected whole elements of {} bytes, found {} and {} bytes", element,
                       call.in.size(), call.out.size()));
  if (call.counts.empty()) call.counts = {count_of(call, element, size())};
  call.selector = selector_;
  const Selector& selector = selector_ ? *selector_ : *group_->view().selector();
  if (call.algorithm == "tuned" && !selector.has_decisions()) call.algorithm = "best";
  const auto prepared = group_->prepare(call);
  const CallCounts& counts = prepared->counts;
  for (const auto& [what, is_used, expected, found] :
       {std::tuple("in", reads(call, rank_), counts.in(rank_), call.in.size() / element),
        std::tuple("out", writes(call, rank_), counts.out(rank_), call.out.size() / element)}) {
    if (is_used && found != expected)
      refuse(fmt::format("expected {} elements in `{}`, found {}", expected, what, found));
  }
  call.in = call.in.first(counts.in(rank_)*element);
  call.out = call.out.first(counts.out(rank_) * element);
  check_apart(group_->view().name(), call);
  call.places = arrays_.places_of(call.in, call.out);
  return prepared;
}

/// Carries out a call that the member repeats, if the host can do so at once. Otherwise returns
/// false and does nothing.
bool Group::run_again(Call& call) {
  RepeatedCall* const known = repeated_->find(call);
  if (known == nullptr) return false;
  check_caller(call);
  const Call used{.collective = call.collective,
                  .in = call.in.first(known->read_bytes),
                  .out = call.out.first(known->written_bytes)};
  check_apart(group_->view().name(), used);
  return group_->run_at_once(place_, next_, used, *known);
}

void Group::run(Call call) {
  if (repeated_ != nullptr && run_again(call)) return;
  std::optional<RepeatedCall> given;
  if (repeated_ != nullptr && RepeatedCalls::can_keep(call)) given = RepeatedCalls::of(call);
  const auto prepared = check(call);
  const auto running = group_->enter(place_, next_, borrowed(call), prepared, true);
  ++next_;
  group_->wait(*running, place_);
  const bool has_shared_memory = running->shared_digest != 0 && !call.places;
  if (given && has_shared_memory) repeated_->keep(std::move(*given), call, rank_, prepared);
  if (call.into != nullptr) move_tuple(call, group_->view().deadline());
}

namespace {

/// Records in the trace that a member waits for an operation: from the construction of this object
/// to its destruction.
struct TracedWait {
  const Running& running;
  const std::size_t member;
  const std::int64_t begin_nanos = running.trace ? running.trace->now() : 0;
  ~TracedWait() {
    if (running.trace) running.trace->waited(member, begin_nanos);
  }
};

/// One member's part in a started operation. The handle and the host share this object, because the
/// host may still use the call after the handle has been destroyed.
struct StartedCall final : runtime::Pending<void> {
  StartedCall(Call given, std::uint32_t at) : call(std::move(given)), place(at) {}

  Call call;
  const std::uint32_t place;
  const std::uint32_t forks = runtime::forks_until_here();
  std::shared_ptr<Running> running;
  std::shared_ptr<HostGroup> group;  // group of the operation; null after take()

  runtime::Completion& completion() override { return running->completion; }
  std::string text() const override {
    return fmt::format("wait for operation {} of a group, {}", running->name.number,
                       name_of(call.collective));
  }
  void take(runtime::Deadline deadline) override {
    const std::shared_ptr<HostGroup> its = std::move(group);
    {
      const TracedWait traced{*running,
                              place - its->view().layout().first_on(its->view().participant())};
      its->wait(*running, place, deadline);
    }
    call.places.reset();  // the handle may exist for longer than the arrays
    move_tuple(call, runtime::sooner(its->view().runtime(), its->view().deadline(), deadline));
  }
  void drop() noexcept override {
    if (group == nullptr) return;
    if (forks != runtime::forks_until_here())
      return runtime::keep_for_ever(std::tuple(std::move(group), std::move(running)));
    try {
      take(runtime::Deadline::never());
    } catch (const std::exception&) {  // ignored, because the owner did not call wait()
    } catch (const runtime::Stop&) {   // the next wait of this thread or fiber throws Stop again
    }
  }
};

}  // namespace

Started Group::start(Call call) {
  const auto started = std::make_shared<StartedCall>(std::move(call), place_);
  const auto prepared = check(started->call);
  const std::shared_ptr<const Call> mine(started, &started->call);
  started->running = group_->enter(place_, next_, mine, prepared, false);
  started->group = group_;
  ++next_;
  return Started(started);
}

namespace {

/// Reads a file. Returns the text to broadcast to all members: 'y' followed by the file's text, or
/// 'n' followed by the error.
std::string read_for_all(const std::string& file) {
  try {
    return 'y' + base::load_text(file, base::settings_bytes_max);
  } catch (const base::ConfigError& error) {
    return fmt::format("n{}", error.what());
  }
}

}  // namespace

std::string Group::share_text(const std::string& file, std::uint32_t root) {
  std::string text = rank_ == root ? read_for_all(file) : "";
  std::vector<std::uint64_t> size{text.size()};
  run(broadcast(size, root));
  text.resize(size.front());
  run(broadcast(std::span(text), root));
  if (text.front() != 'y') throw base::ConfigError({{{"", 0, 0}, text.substr(1)}});
  return text.substr(1);
}

void Group::take(std::string_view what, const std::function<void(TakenFiles&)>& read) {
  try {
    TakenFiles taken = selector_ == nullptr ? TakenFiles() : selector_->taken();
    read(taken);
    if (repeated_ != nullptr) *repeated_ = {};
    // Throws ConfigError if the measured links do not match the clusters of the hosts.
    selector_ = Selector::of(thread_.host().shared_plan(), group_->view().hosts(), taken);
  } catch (const base::ConfigError& error) {
    throw base::UsageError(
        fmt::format("group {}: {} to take: {}", group_->view().name(), what, error.what()));
  }
}

void Group::take_links(const std::string& file, std::uint32_t root) {
  take("links", [&](TakenFiles& taken) { taken.read_links(share_text(file, root), file); });
}

void Group::take_decisions(const std::string& file, std::uint32_t root) {
  take("decisions", [&](TakenFiles& taken) { taken.read_decisions(share_text(file, root), file); });
}

std::unique_ptr<Group> Group::split(std::optional<std::int64_t> colour, std::int64_t key) {
  if (colour && *colour < 0)
    throw base::UsageError(
        fmt::format("group {}: split: expected a colour of 0 or more, or none, found {}",
                    group_->view().name(), *colour));
  // The name of the new group contains a number that no member has used before. An earlier group
  // with the same name as this group may have been split already.
  auto& groups = HostGroups::of(thread_.host());
  const std::array<std::int64_t, 3> mine{colour.value_or(-1), key,
                                         groups.next_split(thread_.rank())};
  std::vector<std::int64_t> all(mine.size() * size());
  const Origin origin{group_->id(), next_};
  run(allgather(mine, all));
  const auto said = [&](std::uint32_t rank) { return &all[mine.size() * rank]; };
  std::int64_t number = 0;
  for (std::uint32_t rank = 0; rank < size(); ++rank) number = std::max(number, said(rank)[2]);
  groups.next_split(thread_.rank(), number + 1);
  if (!colour) return nullptr;
  std::vector<std::uint32_t> members;
  for (std::uint32_t rank = 0; rank < size(); ++rank)
    if (said(rank)[0] == *colour) members.push_back(rank);
  std::stable_sort(members.begin(), members.end(), [&](std::uint32_t left, std::uint32_t right) {
    return said(left)[1] < said(right)[1];
  });
  for (std::uint32_t& member : members) member = group_->view().layout().thread(member);
  const std::string name = fmt::format("{}.{}.{}", group_->view().name(), number, *colour);
  return std::unique_ptr<Group>(new Group(thread_, name, &members, origin));
}

}  // namespace groups
