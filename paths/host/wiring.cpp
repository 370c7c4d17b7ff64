// SPDX-License-Identifier: Apache-2.0
// paths/host/wiring.cpp — wires a share of a plan, serves its peers, and ends in the right order.
#include "paths/host/wiring.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "base/errors.hpp"
#include "base/usage_error.hpp"
#include "paths/host/admission.hpp"
#include "paths/host/host.hpp"
#include "paths/host/shared_elements.hpp"
#include "paths/host/standing_calls.hpp"
#include "paths/plan/path_tuples.hpp"
#include "runtime/continuation.hpp"
#include "runtime/processes/process_end.hpp"

namespace paths {

Wiring::Wiring(Host& host, Reception& reception, std::shared_ptr<const WiringCall> call,
               std::shared_ptr<const Plan> plan, std::uint32_t index, HostNumbers numbers,
               const WrapperKinds& kinds, std::shared_ptr<const Peers> peers)
    : Site(host.runtime(), std::move(plan), index,
           call->label.empty() ? host.recorder() : records_),
      host_(host),
      reception_(reception),
      call_(std::move(call)),
      share_made_(reception.share(std::move(numbers))),
      share_(*share_made_),
      shared_elements_(std::make_unique<SharedElements>(runtime_, *plan_, index, *peers)),
      connections_(
          runtime_, std::move(peers), index, {call_, !label().empty()}, std::move(share_made_),
          reception.complaints(),
          [this](ConnectionId connection, Frame&& frame) { serve(connection, std::move(frame)); },
          [this](ConnectionId connection, ShortFrame&& frame) {
            serve(connection, std::move(frame));
          },
          [this](std::uint32_t peer, const std::string& reason, bool has_parted) {
            peer_gone(peer, reason, has_parted);
          }),
      admission_(std::make_unique<Admission>(*plan_, index, kinds)) {
  ENSURE_EQ(plan_->shares.size(), plan_->hosts.size());  // finish_plan() was called
  if (!label().empty()) host_.tell_of(*this, &WiringWatcher::made);
  const Plan::Share& share = plan_->shares[index];
  thread_releases_.expected = share.thread_releases;
  background_releases_.expected = share.background_releases;
  for (const std::uint32_t path : share.paths) {
    const bool has_threads = plan_->paths[path].threads > 0;
    values_.push_back(has_threads ? &paths::values_of(*plan_, kinds, path) : nullptr);
  }
  wire(share, kinds);
  if (!runtime_.is_virtual() || deadline().written)
    patience_ =
        std::make_unique<Patience>(runtime_, runtime::ContextName{"deadlines of", name(), index_},
                                   [this](base::Nanos now) { return end_late(now); });
  connections_.start();
  reception_.open(*call_, connections_, share_);
}

/// Of a run that ended well, finish() has done all this.
Wiring::~Wiring() {
  leave(fmt::format("host {} ended without ending wiring '{}'", name(), label()));
  reception_.end(*call_, "it failed");  // of one whose finish() was cancelled
  connections_.close();
  gives_up_.store(true);
  give_up();
  runtime::Lock lock(mutex_);
  while (has_services()) {
    if (std::exchange(waits_again_, false)) {
      lock.unlock();
      give_up();
      lock.lock();
    } else if (runtime_.is_virtual() && !runtime::is_inside_a_run()) {
      break;  // no context is left in which they could end
    } else {
      changed_.wait(lock, runtime::Deadline::never(), {"the end of services of", name(), index_});
    }
  }
  ENSURE(!has_services());
  lock.unlock();
  if (!label().empty()) host_.tell_of(*this, &WiringWatcher::ended);
}

void Wiring::wire(const Plan::Share& share, const WrapperKinds& kinds) {
  for (std::uint32_t i : share.elements) {
    const auto& element = plan_->elements[i];
    if (element.shared && shared_elements_->are_shared()) {
      elements_.push_back(shared_elements_->make(element));
      host_.space().adopt(elements_.back());
      continue;
    }
    pastset::ElementOptions options;
    options.delta = element.delta;
    options.keep_newest = element.keep_newest;
    elements_.push_back(
        host_.space().enter(name_in_space(element.name), element.tuple_template, options));
  }
  std::ranges::sort(elements_, {}, &pastset::Element::name);
  std::unordered_map<std::uint32_t, Wrapper*> made;
  base::Mistakes mistakes;
  for (std::uint32_t i : share.wrappers) {
    const auto& planned = plan_->wrappers[i];
    const WrapperKind* kind = kinds.find(planned.kind);
    ENSURE(kind != nullptr);  // finish_plan() has checked it, and the settings
    base::MapReader reader(planned.settings, mistakes, planned.kind);
    const MakeWrapper make = kind->read(reader, WrapperPlace{*plan_, i, index_, planned.slots});
    reader.finish();
    mistakes.throw_if_any();
    wrappers_.push_back(make(*this));
    wrappers_.back()->set_name(planned.name.empty() ? planned.kind : planned.name);
    made[i] = wrappers_.back().get();
  }
  for (StageId id : share.stages) {
    const auto& planned = plan_->stages[id];
    Stage& stage = stages_[id];
    stage.wrapper = made.at(planned.wrapper);
    stage.id = id;
    stage.below_id = planned.below;
    stage.slot = planned.slot;
    stage.role = planned.role;
    const bool is_here = planned.below != no_stage && plan_->host_of(planned.below) == index_;
    stage.below = is_here ? &stages_[planned.below] : nullptr;
  }
  for (auto& [id, stage] : stages_) {
    stage.at_once = OperationSet::all();
    for (const Stage* passed = &stage; passed != nullptr; passed = passed->below)
      stage.at_once = stage.at_once & passed->wrapper->at_once();
    const Stage* last = &stage;  // that others pass, too
    while (!last->wrapper->needs_context() && !last->wrapper->joins() && last->below != nullptr)
      last = last->below;
    stage.needs_context = last->wrapper->needs_context();
  }
}

const PathValues& Wiring::values_of(std::uint32_t path) const {
  const auto found = std::ranges::lower_bound(paths(), path);
  ENSURE(found != paths().end() && *found == path);
  const PathValues* const values = values_[static_cast<std::size_t>(found - paths().begin())];
  ENSURE(values != nullptr);
  return *values;
}

std::string Wiring::name_in_space(std::string_view element) const {
  return label().empty() ? std::string(element) : fmt::format("{}/{}", label(), element);
}

std::shared_ptr<pastset::Element> Wiring::element(std::string_view name) {
  return host_.element(name_in_space(name));
}

const Stage* Wiring::stage(StageId id) const {
  const auto found = stages_.find(id);
  return found == stages_.end() ? nullptr : &found->second;
}

// ---- the way to other hosts and from them --------------------------------------------------

Result Wiring::call(std::uint32_t to_host, StageId stage, Operation&& operation) {
  const OperationHead asked = operation;
  Result answer = connections_.call(to_host, stage, std::move(operation), deadline());
  if (const Failure wrong = wrong_answer(to_host, stage, asked, answer)) throw TravelError(*wrong);
  return answer;
}

void Wiring::call(std::uint32_t to_host, StageId stage, Operation&& operation,
                  Responder& responder) {
  if (responder.owns_context()) return responder.reply(call(to_host, stage, std::move(operation)));
  begin_call(to_host, stage, std::move(operation), responder);
}

/// In a frame of its own: very many fibers may wait below call().
[[gnu::noinline]] void Wiring::begin_call(std::uint32_t to_host, StageId stage,
                                          Operation&& operation, Responder& responder) {
  const runtime::Deadline limit = deadline();
  responder.on_reply(
      [this, to_host, stage, asked = OperationHead(operation)](Responder up, Outcome&& outcome) {
        if (!outcome.failure) outcome.failure = wrong_answer(to_host, stage, asked, outcome.result);
        up.reply(std::move(outcome));
      });
  try {
    connections_.begin_call(to_host, stage, std::move(operation), limit, responder);
  } catch (...) {
    responder.pop_state();
    throw;
  }
  // Not before it has begun: whoever looks at deadlines would pass it over.
  expect(runtime::end_of(runtime_, limit));
}

/// One that nobody can have come by honestly ends the peer.
Failure Wiring::wrong_answer(std::uint32_t host, StageId stage, const OperationHead& asked,
                             const Result& answer) {
  std::string wrong;
  {
    runtime::Lock lock(mutex_);
    if (admission_->is_surely_right(stage, asked, answer)) return nullptr;
    wrong = admission_->wrong_answer(stage, asked, answer);
  }
  if (wrong.empty()) return nullptr;
  return std::make_shared<TravelError>(connections_.refuse_answer(host, stage, asked.path, wrong));
}

void Wiring::begin(const Stage& stage, Operation operation, OperationState& state) {
  ENSURE(!stage.needs_context);
  {
    runtime::Lock lock(mutex_);
    ++begun_;
  }
  Responder responder(state);
  responder.on_reply([this](Responder up, Outcome&& outcome) {
    ended_without_context();
    up.reply(std::move(outcome));
  });
  begin_stage(*this, stage, std::move(operation), std::move(responder));
}

void Wiring::ended_without_context() {
  runtime::Wakes wakes;
  const runtime::Lock lock(mutex_);
  if (--begun_ == 0) changed_.wake_all(wakes);
}

void Wiring::expect(base::Nanos until) {
  if (patience_) patience_->expect(until);
  if (!gives_up_.load()) return;
  runtime::Wakes wakes;
  runtime::Lock lock(mutex_);
  waits_again_ = true;
  changed_.wake_all(wakes);
}

base::Nanos Wiring::end_late(base::Nanos now) {
  base::Nanos next = connections_.end_late(now);
  for (const auto& wrapper : wrappers_) next = std::min(next, wrapper->end_late(now));
  return next;
}

void Wiring::give_up() {
  for (const auto& wrapper : wrappers_) wrapper->give_up();
  connections_.end_late(base::Nanos::max());
}

std::vector<std::uint32_t> Wiring::peers_below() const {
  std::set<std::uint32_t> peers;
  for (const auto& [id, stage] : stages_)
    if (stage.below == nullptr && stage.below_id != no_stage)
      peers.insert(plan_->host_of(stage.below_id));
  return {peers.begin(), peers.end()};
}

Wiring::ClockReading Wiring::read_clock(std::uint32_t peer) {
  StageId entrance = no_stage;  // the same connection each time
  for (const auto& [id, stage] : stages_)
    if (stage.below == nullptr && stage.below_id != no_stage &&
        plan_->host_of(stage.below_id) == peer)
      entrance = std::min(entrance, stage.below_id);
  ENSURE(entrance != no_stage);
  Operation question;
  question.kind = OperationKind::clock;
  ClockReading reading;
  reading.peer = peer;
  reading.asked = runtime_.now();
  const Result answer = call(peer, entrance, std::move(question));
  reading.answered = runtime_.now();
  if (answer.number > static_cast<std::uint64_t>(base::time_max.count()))
    throw TravelError(name(), "", "",
                      fmt::format("host {} shows {} ns on its clock, which none can",
                                  plan_->hosts[peer].name, answer.number));
  reading.shown = base::Nanos(static_cast<std::int64_t>(answer.number));
  return reading;
}

Traffic Wiring::wan_traffic(std::string_view graph) const {
  const auto number = plan_->graph_named(graph);
  return number ? wan_traffic_of(*number) : Traffic{};
}

Traffic Wiring::wan_traffic_of(std::uint32_t graph) const {
  Traffic all = connections_.wan_traffic(graph);
  runtime::Lock lock(mutex_);
  if (const auto more = over_lanes_.find(graph); more != over_lanes_.end()) all += more->second;
  return all;
}

void Wiring::sent_over_lanes(std::uint32_t graph, const Traffic& wan) {
  runtime::Lock lock(mutex_);
  over_lanes_[graph] += wan;
}

Traffic Wiring::traffic(std::string_view graph) const {
  const auto number = plan_->graph_named(graph);
  return number ? connections_.traffic(*number) : Traffic{};
}

void Wiring::push(std::uint32_t to_host, StageId stage, Operation operation) {
  connections_.push(to_host, stage, std::move(operation));
}

runtime::Task Wiring::spawn_service(std::string_view role, std::function<void()> work) {
  std::uint64_t number;
  {
    runtime::Lock lock(mutex_);
    number = next_service_++;
    services_[number] = {};
  }
  // Goes with the work, also when that never begins.
  std::shared_ptr<void> ended(nullptr, [this, number](void*) { service_ended(number); });
  runtime::Task task =
      runtime_.spawn(runtime::ContextRole::service, {role, name(), number},
                     [ended = std::move(ended), work = std::move(work)]() mutable {
                       const runtime::ApplicationCode inside;  // its reductions and X-functions
                       std::exchange(work, nullptr)();
                     });
  runtime::Lock lock(mutex_);
  if (const auto service = services_.find(number); service != services_.end())
    service->second = task.canceller();
  return task;
}

void Wiring::service_ended(std::uint64_t number) {
  runtime::Wakes wakes;
  runtime::Lock lock(mutex_);
  services_.erase(number);
  changed_.wake_all(wakes);
}

/// Used again, so that serving takes no memory.
class Wiring::Service final : public runtime::Work,
                              public runtime::Continuation,
                              ServiceRoom,
                              public OperationState {
 public:
  explicit Service(Wiring& wiring) : OperationState(room), wiring_(wiring) {}
  /// Unless it has no context.
  void cancel() {
    if (has_context()) Work::cancel();
  }
  void begin() {
    if (!has_context()) return runtime::resume(wiring_.runtime_, *this);
    try {
      wiring_.runtime_.begin({"service", wiring_.name(), number}, *this);
    } catch (...) {  // there is no stack for it
      ended(nullptr);
      throw;
    }
  }

  ConnectionId connection = 0;
  Frame frame;
  std::uint64_t number = 0;
  std::size_t place = 0;         // among those that run
  const Stage* stage = nullptr;  // where it enters; guarded by the wiring's mutex until it begins

 private:
  bool has_context() const { return stage->needs_context; }
  void run() override {
    const runtime::ApplicationCode inside;  // its reductions and X-functions
    wiring_.carry_out(connection, frame);
  }
  void go_on() noexcept override {
    begin_stage(wiring_, *stage, Operation(frame.operation), Responder(*this));
  }
  void arrived(Outcome&& outcome) noexcept override {
    wiring_.respond(connection, frame, std::move(outcome));
    ended(nullptr);
  }
  void ended(std::exception_ptr) override {
    frame.operation.payload = {};  // outside the lock
    runtime::Wakes wakes;
    runtime::Lock lock(wiring_.mutex_);
    let_go();
    wiring_.admission_->left(frame);
    if (frame.operation.kind == OperationKind::release)
      wiring_.count_release(frame.operation.path, wakes);
    frame.operation.failure = nullptr;
    auto& serving = wiring_.serving_;
    wiring_.resting_.push_back(std::exchange(serving[place], nullptr));
    if (place + 1 < serving.size()) {
      serving[place] = std::move(serving.back());
      serving[place]->place = place;
    }
    serving.pop_back();
    wiring_.changed_.wake_all(wakes);
  }

  Wiring& wiring_;
};

/// Called with the mutex held.
Wiring::Service& Wiring::take_service() {
  if (resting_.empty()) resting_.push_back(std::make_unique<Service>(*this));
  serving_.push_back(std::move(resting_.back()));
  resting_.pop_back();
  Service& service = *serving_.back();
  service.place = serving_.size() - 1;
  service.number = next_service_++;
  return service;
}

void Wiring::serve(ConnectionId connection, Frame&& frame) {
  using Verdict = Admission::Verdict;
  Verdict verdict;
  Service* service = nullptr;
  {
    runtime::Lock lock(mutex_);
    verdict = admission_->judge(frame);
    if (verdict.kind != Verdict::Kind::wrong && frame.kind == FrameKind::request &&
        is_of_standing(frame.call) && !stand(connection, frame))
      verdict = {.kind = Verdict::Kind::wrong, .reason = "another operation in a standing call"};
    const bool enters = verdict.kind == Verdict::Kind::enters;
    const Stage* const entered = enters ? stage(frame.stage) : nullptr;
    if (enters && runs_at_once(frame, *entered, verdict.is_alone)) {
      admission_->left(frame);  // before anything can come behind it
    } else if (enters) {
      service = &take_service();
      service->stage = entered;
    }
  }
  if (verdict.kind == Verdict::Kind::wrong) return connections_.refuse(connection, verdict.reason);
  if (verdict.kind == Verdict::Kind::late) return decline(connection, frame);
  if (service != nullptr) {
    service->connection = connection;
    service->frame = std::move(frame);
    return service->begin();
  }
  carry_out(connection, frame);
  if (frame.operation.kind != OperationKind::release) return;
  runtime::Wakes wakes;
  runtime::Lock lock(mutex_);
  count_release(frame.operation.path, wakes);
}

/// Nothing of what it passes waits, and it overtakes nothing of its slot that has not begun.
bool Wiring::runs_at_once(const Frame& frame, const Stage& entered, bool is_alone) const {
  if (frame.operation.kind == OperationKind::clock) return true;
  return is_alone && entered.at_once.has(frame.operation);
}

void Wiring::carry_out(ConnectionId connection, Frame& frame) {
  respond(connection, frame, run(frame));
}

void Wiring::respond(ConnectionId connection, const Frame& request, Outcome&& outcome) {
  if (request.kind != FrameKind::request) {
    if (!is_farewell(request.operation.kind)) connections_.pushed_in(connection);
    return;
  }
  Frame reply = reply_to(request);
  if (outcome.failure) {
    reply.operation.failure = std::move(outcome.failure);
  } else {
    reply.kind = FrameKind::reply;
    reply.result = std::move(outcome.result);
    if (request.operation.kind == OperationKind::traffic)
      add_traffic(request.operation, reply.result);
    reply.returns_moved = reply.result.payload.shares_bytes_with(request.operation.payload);
    if (reply.returns_moved) reply.result.payload = {};
  }
  connections_.reply(connection, std::move(reply));
}

/// What was under way when its path was released, as if by one that died, has nothing to do here.
void Wiring::decline(ConnectionId connection, const Frame& frame) {
  if (is_farewell(frame.operation.kind)) return;
  if (frame.kind == FrameKind::one_way) return connections_.pushed_in(connection);
  Frame reply = reply_to(frame);
  reply.operation.failure = failure("", frame.operation.path, "the path was released before");
  connections_.reply(connection, std::move(reply));
}

/// Every path that leads here was released.
bool Wiring::is_over() const {
  runtime::Lock lock(mutex_);
  return thread_releases_.seen >= thread_releases_.expected &&
         background_releases_.seen >= background_releases_.expected;
}

/// Those who wait for what would have come from there are told, by a release that says why.
void Wiring::peer_gone(std::uint32_t peer, const std::string& reason, bool has_parted) {
  if (!has_parted && (plan_->lanes.is_written || !is_over()))
    note_failure(fmt::format("host {} is gone: {}", plan_->hosts[peer].name, reason));
  if (!has_parted && label().empty()) host_.peer_lost(peer, reason);
  bool is_told = false;
  for (const Plan::Entrance& entrance : plan_->shares[index_].entrances) {
    if (entrance.from_host != peer) continue;
    for (std::uint32_t slot = entrance.slot; slot < entrance.slot + entrance.slots; ++slot) {
      {
        runtime::Lock lock(mutex_);
        if (!admission_->release(entrance.stage, slot)) continue;
      }
      if (!std::exchange(is_told, true))
        spdlog::warn("host {}: host {} is gone: {}", name(), plan_->hosts[peer].name, reason);
      Operation release;
      release.kind = OperationKind::release;
      release.one_way = true;
      release.path = entrance.path;
      release.thread = slot - entrance.slot;
      release.slot = slot;
      release.failure = failure(
          "", entrance.path, fmt::format("host {} is gone: {}", plan_->hosts[peer].name, reason));
      spawn_service("release", [this, stage = stage(entrance.stage), release] {
        try {
          run_stage(*this, *stage, release);
        } catch (const TravelError&) {  // its own failure, come back
        }
        runtime::Wakes wakes;
        runtime::Lock lock(mutex_);
        count_release(release.path, wakes);
      }).detach();
    }
  }
}

/// An error, unless it becomes something else.
Frame Wiring::reply_to(const Frame& request) const {
  Frame reply;
  reply.kind = FrameKind::error;
  reply.run_high = request.run_high;
  reply.run_low = request.run_low;
  reply.from_host = index_;
  reply.call = request.call;
  reply.operation.path = request.operation.path;
  reply.operation.kind = request.operation.kind;
  return reply;
}

Outcome Wiring::run(const Frame& request) {
  Outcome outcome;
  if (request.operation.kind == OperationKind::clock) {
    outcome.result.number = static_cast<std::uint64_t>(runtime_.now().count());
    return outcome;
  }
  const Stage* entered = stage(request.stage);
  ENSURE(entered != nullptr);  // it was admitted
  try {
    outcome.result = run_stage(*this, *entered, request.operation);
  } catch (const TravelError& error) {
    outcome.failure = std::make_shared<TravelError>(error);
  } catch (const runtime::Stop& stop) {  // this host ends
    outcome.failure =
        std::make_shared<TravelError>(name(), "", "", fmt::format("ended: {}", stop.what()));
  } catch (const std::exception& error) {
    outcome.failure = std::make_shared<TravelError>(name(), "", "", error.what());
  }
  return outcome;
}

void Wiring::add_traffic(const Operation& asked, Result& result) const {
  if (asked.number >= plan_->graphs.size()) return;
  const auto graph = static_cast<std::uint32_t>(asked.number);
  const HostTraffic mine{index_, wan_traffic_of(graph)};
  const auto before = result.payload.bytes();
  result.payload =
      base::Payload::filled(before.size() + sizeof mine, [&](std::span<std::byte> bytes) {
        std::memcpy(bytes.data(), before.data(), before.size());
        std::memcpy(bytes.data() + before.size(), &mine, sizeof mine);
      });
}

/// Called with the mutex held.
void Wiring::count_release(std::uint32_t path, runtime::Wakes& wakes) {
  ++(plan_->paths[path].threads == 0 ? background_releases_ : thread_releases_).seen;
  changed_.wake_all(wakes);
}

void Wiring::path_released() {
  runtime::Wakes wakes;
  runtime::Lock lock(mutex_);
  ++thread_releases_.seen;
  changed_.wake_all(wakes);
}

void Wiring::release_background(std::uint32_t path, Failure failure) {
  {
    runtime::Lock lock(mutex_);
    if (!released_paths_.insert(path).second) return;
  }
  Operation release;
  release.kind = OperationKind::release;
  release.path = path;
  release.failure = std::move(failure);
  try {
    run_stage(*this, *stage(plan_->paths[path].stage), std::move(release));
  } catch (const TravelError&) {  // the peer is gone: it needs no release
  }
}

/// None that ends meanwhile is gone before its turn.
void Wiring::cancel_services() {
  std::vector<runtime::TaskCanceller> cancellers;
  {
    runtime::Lock lock(mutex_);
    for (const auto& [number, canceller] : services_)
      if (canceller) cancellers.push_back(canceller);
    for (const auto& service : serving_) service->cancel();
  }
  for (auto& canceller : cancellers) canceller.cancel();
  give_up();
}

// ---- begin and end -------------------------------------------------------------------------

void Wiring::start() {
  meet();
  if (!label().empty()) {
    const std::string failure = connections_.wire(deadline());
    if (!failure.empty()) {
      abandon(failure);
      throw TravelError(
          name(), label(), "",
          fmt::format("number {} of wiring '{}' failed: {}", number(), label(), failure));
    }
  } else if (!runtime_.is_virtual()) {
    meeting_ = runtime_.spawn(runtime::ContextRole::service, {"meeting of", name(), index_},
                              [this] { connections_.await_peers(deadline()); });
  }
  for (auto& wrapper : wrappers_) wrapper->start();
}

/// At once: peers count on it that all connections are made in the beginning.
void Wiring::meet() {
  for (const auto& [id, stage] : stages_)
    if (stage.below == nullptr && stage.below_id != no_stage)
      connections_.meet(plan_->host_of(stage.below_id), stage.below_id);
  connections_.meet_others();
}

void Wiring::wait_for(const Releases& releases, const char* what) {
  const auto next_look = [this] {  // on the virtual clock everybody is there
    return runtime_.is_virtual()
               ? runtime::Deadline::never()
               : runtime::Deadline::written_at(runtime_.now() + connections_.look_pause());
  };
  runtime::Deadline look = next_look();
  runtime::Lock lock(mutex_);
  while (releases.seen < releases.expected) {
    if (changed_.wait(lock, look, {what, name(), index_}) == runtime::Woken::notified) continue;
    lock.unlock();
    connections_.look_after_peers();
    lock.lock();
    look = next_look();
  }
}

bool Wiring::services_end_in_time() {
  const runtime::Deadline limit = deadline();
  runtime::Lock lock(mutex_);
  while (has_services())
    if (changed_.wait(lock, limit, {"the end of services of", name(), index_}) ==
        runtime::Woken::expired)
      return false;
  return true;
}

std::string Wiring::finish(const std::function<void()>& before_goodbyes) {
  {
    const runtime::Lock lock(mutex_);
    if (std::exchange(is_ending_, true))
      throw base::UsageError(fmt::format("host {}: wiring '{}' was ended before", name(), label()));
  }
  wait_for(thread_releases_, "the release of the threads' paths at");
  if (before_end_) before_end_();
  for (auto& wrapper : wrappers_) wrapper->stop();
  for (std::uint32_t path : paths())
    if (plan_->paths[path].threads == 0) release_background(path, nullptr);
  // Those who still read from here find the last tuples; for others they would wait in vain.
  each_element("marked", [&](pastset::Element& element) {
    element.mark_error(fmt::format("host {} has ended", name()));
  });
  wait_for(background_releases_, "the release of reads from");
  for (auto& wrapper : wrappers_) wrapper->drain();
  // What still serves waits in an element for a tuple that will not come.
  end_elements();
  if (!services_end_in_time()) end_services();
  if (before_goodbyes) before_goodbyes();
  connections_.stop(deadline());
  if (meeting_) {
    meeting_.cancel();
    meeting_.join();
  }
  // Peers that parted meanwhile were counted out in contexts of their own.
  end_services();
  if (patience_) patience_->stop();
  reception_.end(*call_, "it has ended", connections_.open_arrivals());
  connections_.close();
  std::string wrong = connections_.given_up();
  host_.forget(*this);  // perhaps the last who had it
  return wrong;
}

void Wiring::end_elements() {
  each_element("deleted",
               [&](pastset::Element& element) { host_.space().delete_element(element.name()); });
}

/// Whatever others do to those that they map, the end goes on.
template <class Act>
void Wiring::each_element(const char* what, Act act) {
  for (const auto& element : elements_) {
    try {
      act(*element);
    } catch (const pastset::Deleted&) {  // by the program
    } catch (const pastset::ElementError& error) {
      spdlog::warn("host {}: element {} is not {}: {}", name(), element->name(), what,
                   error.what());
    }
  }
}

void Wiring::abandon(const std::string& why) {
  if (!leave(why)) return;
  end_services();
  if (patience_) patience_->stop();
}

/// True once.
bool Wiring::leave(const std::string& why) {
  {
    const runtime::Lock lock(mutex_);
    if (std::exchange(is_ending_, true)) return false;
  }
  reception_.end(*call_, why);
  reception_.hear(*call_, connections_.number_heard());
  if (!label().empty()) connections_.abandon(why);
  connections_.close();
  if (!label().empty()) end_elements();
  return true;
}

/// A cancelled context gives up its present wait; one that was about to wait, the next time.
void Wiring::end_services() {
  constexpr base::Nanos pause = std::chrono::milliseconds(10);
  for (;;) {
    cancel_services();
    runtime::Lock lock(mutex_);
    if (!has_services()) return;
    changed_.wait(lock, {runtime_.now() + pause, true}, {"the end of services of", name(), index_});
  }
}

}  // namespace paths
