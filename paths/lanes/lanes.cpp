// SPDX-License-Identifier: Apache-2.0
// paths/lanes/lanes.cpp — groups, credit and control of one host, and its clock.
#include "paths/lanes/lanes.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "base/digest.hpp"
#include "base/errors.hpp"
#include "base/usage_error.hpp"
#include "paths/plan/emulated_switches.hpp"
#include "paths/plan/site.hpp"
#include "runtime/poller.hpp"

namespace paths {
namespace {

/// Groups of more hosts are told their credit when they first ask.
constexpr std::size_t told_hosts_max = 64;
/// Control that came before the group it is for was made here.
constexpr std::size_t early_frames_max = 65'536;
/// Of a way that nobody limits: what its window is made for.
constexpr double unlimited_as_bits_per_second = 10e9;
constexpr std::uint64_t usual_frame_bytes = LaneSettings().frame_bytes;
/// What is little and has not come by then is asked for.
constexpr base::Nanos asks_after = std::chrono::milliseconds(250);
/// Frames are copied out of lent memory while nobody else uses the lanes.
constexpr std::uint64_t lent_frame_bytes_max = std::uint64_t{1} << 20;
/// How often more is copied where there is room for it, before others get a turn.
constexpr int rounds_max = 16;

PartTaken part_of(const LaneFrame& left) { return {left.channel, left.meaning, left.text}; }

}  // namespace

/// Runs while something is due, in a service context.
class Lanes::Clock final : public runtime::Work {
 public:
  explicit Clock(Lanes& lanes) : lanes_(lanes) {}
  using Work::cancel;
  void begin() { lanes_.runtime_.begin({"lanes of", lanes_.name_}, *this); }

  // Guarded by the mutex of the lanes:
  bool is_running = false;
  base::Nanos sleeps_until = base::Nanos::min();
  runtime::WaitList earlier;  // for something due before

 private:
  void run() override { lanes_.run_clock(); }
  void ended(std::exception_ptr failure) override {
    bool again = false;
    {
      runtime::Wakes wakes;
      runtime::Lock lock(lanes_.mutex_);
      let_go();
      is_running = again = !failure && lanes_.needs_clock();
      if (!again) lanes_.quiet_.wake_all(wakes);
    }
    if (again) begin();
  }
  Lanes& lanes_;
};

/// Threads that wait do what is due, which nobody has to be woken for; while none does, the clock
/// runs. Either who puts something on the agenda sees who looks, or the last who looks sees it.
class Lanes::Lookers final : public runtime::Poller {
 public:
  explicit Lookers(Lanes& lanes) : lanes_(lanes) {}
  /// Nobody of them is in the lanes any more. Without the mutex of the lanes.
  void part() {
    if (are_known_) lanes_.runtime_.remove_poller(*this);
  }
  bool are_there() const { return count_.load() > 0; }

  // With the mutex of the lanes held:
  void know(const Agenda& agenda) {
    next_.store(agenda.empty() ? base::Nanos::max().count() : agenda.next().count());
    if (agenda.empty() || lanes_.is_stopped_ || lanes_.runtime_.is_virtual()) return;
    if (std::exchange(are_known_, true)) return;
    lanes_.runtime_.add_poller(*this);
  }

  void come() override { count_.fetch_add(1); }
  bool look() override {
    const base::Nanos::rep next = next_.load(std::memory_order_relaxed);
    if (next == base::Nanos::max().count() || next > lanes_.runtime_.now().count()) return false;
    runtime::Lock lock(lanes_.mutex_, std::try_to_lock);
    if (lock && !lanes_.is_stopped_) lanes_.do_what_is_due(lock, Turn::choices);
    return false;  // what was due tells of nothing else
  }
  void leave() override {
    if (count_.fetch_sub(1) > 1 || next_.load() == base::Nanos::max().count()) return;
    runtime::Lock lock(lanes_.mutex_);
    if (!lanes_.is_stopped_) lanes_.settle(lock);
  }

 private:
  Lanes& lanes_;
  bool are_known_ = false;
  std::atomic<int> count_{0};
  std::atomic<base::Nanos::rep> next_{base::Nanos::max().count()};  // of the agenda
};

Lanes::Lanes(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan, std::uint32_t host,
             EmulatedLinks& links, LaneCarrier& carrier)
    : runtime_(runtime),
      plan_(std::move(plan)),
      host_(host),
      carrier_(carrier),
      name_(place_name(*plan_, host)),
      departures_(runtime, *plan_, host, links, agenda_),
      outgoing_(runtime, host, plan_->lanes.frame_bytes, departures_, agenda_),
      inbox_(plan_->lanes.inbox_bytes),
      clock_(std::make_unique<Clock>(*this)),
      lookers_(std::make_unique<Lookers>(*this)) {
  if (is_switch()) return;
  const HopLink network = receiving_link(*plan_, host_);
  if (network.is_there()) receiving_ = links.named(network.name, link_of(network).model);
}

void Lanes::record_transfers(RecorderOf recorder_of) {
  runtime::Lock lock(mutex_);
  departures_.record_transfers(std::move(recorder_of));
}

Lanes::~Lanes() {
  self_.reset();
  stop();
}

// ---- groups and handles --------------------------------------------------------------------

bool Lanes::Group::has(std::uint32_t host) const {
  return std::binary_search(hosts->begin(), hosts->end(), host);
}

std::unique_ptr<LaneGroup> Lanes::group_of(std::string_view name,
                                           const std::vector<std::string>& hosts,
                                           GroupOptions options) {
  std::vector<std::uint32_t> numbers;
  for (const std::string& host : hosts) {
    const auto number = plan_->host_named(host);
    if (!number)
      throw base::UsageError(fmt::format("group {}: the run has no host '{}'", name, host));
    numbers.push_back(*number);
  }
  return group(name, std::move(numbers), options);
}

std::unique_ptr<LaneGroup> Lanes::group(std::string_view name, std::vector<std::uint32_t> hosts,
                                        GroupOptions options) {
  std::sort(hosts.begin(), hosts.end());
  return join(name, std::make_shared<const std::vector<std::uint32_t>>(std::move(hosts)), options);
}

std::unique_ptr<LaneGroup> Lanes::join(std::string_view name, SharedHosts shared,
                                       GroupOptions options) {
  if (!std::is_sorted(shared->begin(), shared->end())) return group(name, *shared, options);
  const std::vector<std::uint32_t>& hosts = *shared;
  const auto refuse = [&](const std::string& why) {
    throw base::UsageError(fmt::format("group {}: {}", name, why));
  };
  const auto twice = std::adjacent_find(hosts.begin(), hosts.end());
  if (hosts.empty() || hosts.back() >= plan_->hosts.size())
    refuse(fmt::format("expected some of the {} hosts of the run", plan_->hosts.size()));
  if (twice != hosts.end()) refuse(fmt::format("host {} twice", plan_->hosts[*twice].name));
  if (!std::binary_search(hosts.begin(), hosts.end(), host_))
    refuse(fmt::format("host {} is not in it", name_));
  std::vector<bool> is_reached(plan_->clusters.size());  // all hosts of a cluster are alike
  for (const std::uint32_t peer : hosts) {
    if (is_reached[plan_->hosts[peer].cluster]) continue;
    is_reached[plan_->hosts[peer].cluster] = true;
    for (const auto& [from, to] : {std::pair(host_, peer), std::pair(peer, host_)})
      if (const std::string why = missing_way(*plan_, from, to); !why.empty())
        refuse(fmt::format("no way from host {} to host {}: {}", plan_->hosts[from].name,
                           plan_->hosts[to].name, why));
  }
  runtime::Lock lock(mutex_);
  for (const auto& [id, other] : groups_)
    if (other->name == name) refuse("this host is in one of that name");
  auto made = std::make_unique<Group>();
  Group& group = *made;
  group.id = base::digest_of(fmt::format("{}\n{}", uses_[std::string(name)]++, name)).low;
  group.name = name;
  group.hosts = std::move(shared);
  group.options = options;
  groups_[group.id] = std::move(made);
  if (group.hosts->size() <= told_hosts_max)
    for (const std::uint32_t peer : *group.hosts)
      if (peer != host_) issue(group, peer);
  for (const auto& [host, why] : std::map(lost_)) end_lanes_over(group, host, why);
  if (auto early = early_.extract(group.id)) {
    early_frames_ -= early.mapped().size();
    for (LaneFrame& frame : early.mapped()) take_control(std::move(frame), runtime_.now());
  }
  std::unique_ptr<LaneGroup> handle(
      new LaneGroup(self_, group.name, group.id, group.hosts, group.options));
  settle(lock);
  return handle;
}

runtime::Deadline Lanes::deadline() const { return deadline_of(*plan_, runtime_); }

void Lanes::wait(LaneWait& one, const std::string& what) {
  if (!one.completion.wait(deadline(), {"what a lane carries,", what}))
    throw TravelError(name_, "", "",
                      fmt::format("{}: not through before the deadline of {}{}", what,
                                  base::format_time(plan_->deadline), silent_switch_text()));
  if (one.failure) throw TravelError(*one.failure);
}

std::string Lanes::silent_switch_text() const {
  const std::uint32_t place = switch_number(*plan_, plan_->hosts[host_].cluster);
  if (!carrier_.silent().contains(place)) return {};
  return fmt::format("; {}, a process of its own, has not answered", place_text(*plan_, place));
}

void Lanes::send(std::uint64_t id, std::uint32_t to, std::uint64_t channel, base::Payload message,
                 const std::shared_ptr<LaneWait>& wait) {
  send_by(id, to, {.channel = channel}, wait,
          [&](LaneOut& lane) { outgoing_.send(lane, channel, std::move(message), wait); });
}

void Lanes::send(std::uint64_t id, std::uint32_t to, const NamedMessage& which,
                 base::Payload message, const std::shared_ptr<LaneWait>& wait) {
  send_by(id, to, which, wait,
          [&](LaneOut& lane) { outgoing_.send(lane, which, std::move(message), wait); });
}

template <class Send>
void Lanes::send_by(std::uint64_t id, std::uint32_t to, const NamedMessage& which,
                    const std::shared_ptr<LaneWait>& wait, const Send& send) {
  runtime::Lock lock(mutex_);
  Group& group = joined(id);
  see_meaning(group, which.channel, {which.meaning, host_});
  if (const auto over = group.over.find(to); over != group.over.end()) {
    fail(group, to, {wait}, over->second);
  } else if (const std::string* const why = group.why_failed(which.channel)) {
    fail_as_said({wait}, *why);
  } else {
    LaneOut& lane = lane_to(group, to);
    const bool asks = group.hosts->size() > told_hosts_max && !std::exchange(lane.has_asked, true);
    if (asks) post(control(LaneKind::ask, to, id));
    send(lane);
  }
  settle(lock);
}

void Lanes::receive(std::uint64_t id, std::uint32_t from, std::uint64_t channel,
                    const std::shared_ptr<LaneWait>& wait) {
  receive_by(id, from, {.channel = channel}, wait,
             [&](LaneIn& lane) { return lane.receive(channel, wait); });
}

void Lanes::receive(std::uint64_t id, std::uint32_t from, const NamedMessage& which,
                    const std::shared_ptr<LaneWait>& wait) {
  receive_by(id, from, which, wait, [&](LaneIn& lane) { return lane.receive(which, wait); });
}

void Lanes::let_go(LaneWait& wait) {
  runtime::Lock lock(mutex_);
  wait.is_let_go = true;
}

bool Lanes::is_paced(std::uint32_t to) {
  const std::uint64_t frame = plan_->lanes.frame_bytes;
  if (frame == 0 || frame > lent_frame_bytes_max) return false;
  runtime::Lock lock(mutex_);
  if (departures_.link_to(to) != nullptr) return true;
  return !runtime_.is_virtual() && !departures_.waits_for_streams(to) &&
         carrier_.tells_of_room(departures_.next_host(to));
}

void Lanes::close(std::uint64_t id, std::uint64_t channel,
                  std::shared_ptr<const std::string> what) {
  runtime::Lock lock(mutex_);
  Group* const group = find(id);
  if (group == nullptr || group->is_closed(channel)) return;
  group->closed.insert(channel);
  group->last_closed = {channel, std::move(what)};
  group->meanings.erase(channel);
  group->forget_closed();
  for (auto& [peer, lane] : group->out) lane.window.forget_channel(channel);
  for (auto& [peer, lane] : group->in) lane->close({channel, channel});
  for (auto& [peer, lane] : group->in) issue_returned(*group, peer);
  settle(lock);
}

template <class Receive>
void Lanes::receive_by(std::uint64_t id, std::uint32_t from, const NamedMessage& which,
                       const std::shared_ptr<LaneWait>& wait, const Receive& receive) {
  runtime::Lock lock(mutex_);
  Group& group = joined(id);
  see_meaning(group, which.channel, {which.meaning, host_});
  if (const std::string* const why = group.why_failed(which.channel)) {
    fail_as_said({wait}, *why);
    return settle(lock);
  }
  LaneIn& lane = lane_from(group, from);
  const LaneIn::Asked asked = receive(lane);
  const auto over = group.over.find(from);
  if (asked.is_complete) {
    ended_.push_back(wait);
  } else if (over != group.over.end() && lane.is_over()) {
    fail(group, from, lane.take_waiting(), over->second);
  } else if (may_wait_to_ask(lane, which)) {
    lane.hold_back(asked.name, which.meaning);
    asks_at_ = std::min(asks_at_, runtime_.now() + asks_after);
  } else {
    ask_for(id, from, {asked.name, which.meaning}, which.is_grant_at_once);
  }
  issue_returned(group, from);
  settle(lock);
}

/// A source that has credit for more than a frame sends what is little without being asked. Where
/// it is held up by another message, which then lies here, its credit is not ample.
bool Lanes::may_wait_to_ask(const LaneIn& lane, const NamedMessage& which) const {
  return which.is_little && !which.is_grant_at_once && !runtime_.is_virtual() &&
         has_ample_credit(lane);
}

bool Lanes::has_ample_credit(const LaneIn& lane) const {
  const std::uint64_t frame = plan_->lanes.frame_bytes;
  return frame != 0 && lane.account().is_ample() && lane.account().unused() >= charge_of(frame);
}

void Lanes::ask_for(std::uint64_t group, std::uint32_t source, const LaneIn::HeldBack& message,
                    bool is_at_once) {
  LaneFrame grant = control(LaneKind::grant, source, group);
  grant.channel = message.name.channel;
  grant.ordinal = message.name.ordinal;
  grant.meaning = message.meaning;
  grant.is_at_once = is_at_once;
  post(std::move(grant));
}

void Lanes::ask_for_held_back(const Group& group, std::uint32_t source, LaneIn& lane) {
  for (const LaneIn::HeldBack& message : lane.take_held_back()) ask_for(group.id, source, message);
}

/// Those that do not come, of which hosts may have parted ways.
void Lanes::ask_for_all() {
  asks_at_ = base::Nanos::max();
  for (const auto& [id, group] : groups_)
    for (const auto& [source, lane] : group->in) ask_for_held_back(*group, source, *lane);
}

Lanes::Waits Lanes::unsent(std::uint64_t id) {
  runtime::Lock lock(mutex_);
  Waits waits;
  for (auto& [target, lane] : joined(id).out)
    lane.for_each([&](const LaneOut::Channel& channel) {
      for (const LaneOut::Message& message : channel.messages)
        if (!message.wait->is_let_go) waits.push_back(message.wait);
    });
  return waits;
}

void Lanes::leave(std::uint64_t id, const std::string& why, const PartTaken& part) {
  runtime::Lock lock(mutex_);
  Group* group = find(id);
  if (group == nullptr) return;
  std::set<std::uint32_t> peers;
  for (const auto& [peer, lane] : group->out) peers.insert(peer);
  for (const auto& [peer, lane] : group->in) peers.insert(peer);
  for (const std::uint32_t peer : peers) {
    LaneFrame left = farewell(peer, id, part);
    if (!why.empty()) left.text = why;
    if (const auto lane = group->out.find(peer); lane != group->out.end()) {
      left.bytes = lane->second.messages_sent;
      fail(*group, peer, outgoing_.drop(lane->second), "this host has left the group");
    }
    if (const auto lane = group->in.find(peer); lane != group->in.end())
      fail(*group, peer, lane->second->drop(), "this host has left the group");
    if (!lost_.contains(peer)) post(std::move(left));
  }
  const Ended& ended = ended_groups_[id] = {group->name, part};
  for (const auto& [peer, its] : group->parts) compare(ended, peer, its);
  groups_.erase(id);
  issue_to_short();
  settle(lock);
}

// ---- with the mutex held -------------------------------------------------------------------

std::string Lanes::host_text(std::uint32_t host) const { return place_name(*plan_, host); }

Lanes::Group* Lanes::find(std::uint64_t id) {
  const auto found = groups_.find(id);
  return found == groups_.end() ? nullptr : found->second.get();
}

Lanes::Group& Lanes::joined(std::uint64_t id) {
  Group* group = find(id);
  if (group == nullptr) throw base::UsageError("a group that this host has left");
  return *group;
}

LaneOut& Lanes::lane_to(Group& group, std::uint32_t target) {
  const auto [lane, is_new] = group.out.try_emplace(target);
  lane->second.group = group.id;
  lane->second.target = target;
  return lane->second;
}

LaneIn& Lanes::lane_from(Group& group, std::uint32_t source) {
  std::unique_ptr<LaneIn>& lane = group.in[source];
  if (lane != nullptr) return *lane;
  if (const std::uint64_t exact = group.options.window_bytes; exact != 0) {
    lane = std::make_unique<LaneIn>(inbox_, exact, 1);
  } else {
    const std::uint64_t under_way = bytes_under_way(source);
    lane = std::make_unique<LaneIn>(inbox_, under_way + under_way / 8, under_way / 8);
  }
  return *lane;
}

/// As much as is on the way from there and back when nothing holds it up, and a frame for the time
/// in which one is served.
std::uint64_t Lanes::bytes_under_way(std::uint32_t source) const {
  const WayCost there = cost_of(*plan_, source, host_), back = cost_of(*plan_, host_, source);
  const double rate =
      there.bits_per_second > 0 ? there.bits_per_second : unlimited_as_bits_per_second;
  const double seconds = std::chrono::duration<double>(there.latency + back.latency).count();
  const std::uint64_t frame =
      plan_->lanes.frame_bytes != 0 ? plan_->lanes.frame_bytes : usual_frame_bytes;
  const double frames = rate / 8 * seconds / static_cast<double>(frame);
  return (static_cast<std::uint64_t>(frames) + 2) * charge_of(frame);
}

void Lanes::issue(Group& group, std::uint32_t source) {
  Account& account = lane_from(group, source).account();
  if (const std::uint64_t bytes = account.issue(); bytes > 0) {
    LaneFrame credit = control(LaneKind::credit, source, group.id);
    credit.bytes = bytes;
    post(std::move(credit));
  }
  const std::pair lane(group.id, source);
  if (account.is_short() && std::find(short_.begin(), short_.end(), lane) == short_.end())
    short_.push_back(lane);
}

/// Who found no room is served first.
void Lanes::issue_returned(Group& group, std::uint32_t source) {
  issue_to_short();
  issue(group, source);
}

void Lanes::issue_to_short() {
  for (std::size_t left = short_.size(); left > 0 && inbox_.free() > 0; --left) {
    const auto [id, source] = short_.front();
    short_.pop_front();
    if (Group* group = find(id)) issue(*group, source);
  }
}

LaneFrame Lanes::control(LaneKind kind, std::uint32_t target, std::uint64_t group) const {
  LaneFrame frame;
  frame.kind = kind;
  frame.source = host_;
  frame.target = target;
  frame.group = group;
  return frame;
}

void Lanes::take_data(LaneFrame frame) {
  Group* group = find(frame.group);
  if (group == nullptr) {
    if (!ended_groups_.contains(frame.group)) refuse(frame, "a message for no group");
    return;
  }
  const std::uint32_t source = frame.source;
  if (!group->has(source))
    return refuse(frame, fmt::format("a message for group {} from outside", group->name));
  if (frame.channel >= group->options.channels)
    return refuse(frame, fmt::format("a message on channel {} of group {}, which has {}",
                                     frame.channel, group->name, group->options.channels));
  LaneIn& lane = lane_from(*group, source);
  if (group->over.contains(source) && lane.is_over()) return;
  see_meaning(*group, frame.channel, {frame.meaning, source});
  const bool has_failed = group->why_failed(frame.channel) != nullptr;
  if (!has_failed && group->is_closed(frame.channel))
    return refuse(frame, group->text_of_closed(frame.channel));
  std::string wrong;
  try {
    wrong = has_failed ? lane.discard(frame) : lane.take(frame, ended_);
  } catch (const std::bad_alloc&) {
    wrong = fmt::format("a message of {} bytes, for which there is no memory", frame.bytes);
  }
  if (!wrong.empty()) return refuse(frame, fmt::format("{} (group {})", wrong, group->name));
  if (has_failed && frame.offset == 0) tell_failed(*group, source, frame.channel);
  if (lane.is_over() && group->over.contains(source))
    fail(*group, source, lane.take_waiting(), group->over[source]);
  if (lane.holds_back() && !has_ample_credit(lane)) ask_for_held_back(*group, source, lane);
  issue_returned(*group, source);
}

void Lanes::take_control(LaneFrame frame, base::Nanos moment) {
  if (frame.kind == LaneKind::done) return take_done(frame);
  if (frame.kind == LaneKind::look) return;
  if (frame.kind == LaneKind::lost) {
    if (frame.bytes < plan_->hosts.size() + plan_->clusters.size())
      lose(static_cast<std::uint32_t>(frame.bytes), frame.text);
    return;
  }
  Group* group = find(frame.group);
  if (group == nullptr) {
    const auto ended = ended_groups_.find(frame.group);
    if (ended == ended_groups_.end()) return keep_for_later(std::move(frame));
    const bool wants_answer = frame.kind == LaneKind::grant || frame.kind == LaneKind::ask;
    const bool differs =
        frame.kind == LaneKind::left && compare(ended->second, frame.source, part_of(frame));
    if (wants_answer || differs) post(farewell(frame.source, frame.group, ended->second.part));
    return;
  }
  if (!group->has(frame.source) || frame.source == host_)
    return refuse(frame, fmt::format("control of group {} from outside", group->name));
  switch (frame.kind) {
    case LaneKind::credit:
    case LaneKind::grant: return take_permission(*group, frame, moment);
    case LaneKind::ask: return issue(*group, frame.source);
    case LaneKind::left: return take_farewell(*group, frame);
    case LaneKind::failed: return take_failed(*group, frame);
    case LaneKind::refused: return end_lanes(*group, frame.source, frame.text);
    default: return;
  }
}

void Lanes::take_permission(Group& group, const LaneFrame& frame, base::Nanos moment) {
  if (group.over.contains(frame.source)) return;
  LaneOut& lane = lane_to(group, frame.source);
  if (frame.kind == LaneKind::credit) {
    lane.window.add(frame.bytes);
  } else {
    see_meaning(group, frame.channel, {frame.meaning, frame.source});
    if (group.why_failed(frame.channel) != nullptr)
      return tell_failed(group, frame.source, frame.channel);
    if (group.is_closed(frame.channel)) return;
    const MessageName name{frame.channel, frame.ordinal};
    const auto channel = lane.channels.find(name.channel);
    const bool is_to_come =
        channel == lane.channels.end() || name.ordinal >= channel->second.next_ordinal;
    const LaneOut::Message* const message = lane.find(name);
    // Of one that was sent it means nothing.
    if (is_to_come || message != nullptr) lane.window.grant(name);
  }
  outgoing_.unblock(lane, moment);
}

void Lanes::take_farewell(Group& group, const LaneFrame& frame) {
  const bool is_failing = frame.meaning == 0 && !frame.text.empty();
  std::string why = is_failing ? frame.text : "it has left the group";
  if (frame.meaning != 0) why += " " + frame.text;
  group.parts.emplace(frame.source, part_of(frame));
  const auto [over, is_new] = group.over.emplace(frame.source, std::move(why));
  if (!is_new) return;
  if (is_failing) group.said.insert(frame.source);
  fail(group, frame.source, outgoing_.drop(lane_to(group, frame.source)), over->second);
  fail(group, frame.source, lane_from(group, frame.source).end_after(frame.bytes), over->second);
}

LaneFrame Lanes::farewell(std::uint32_t peer, std::uint64_t group, const PartTaken& part) const {
  LaneFrame left = control(LaneKind::left, peer, group);
  left.channel = part.channels;
  left.meaning = part.meaning;
  left.text = part.text;
  return left;
}

/// Whether they differ, which only the first of a run has to be told.
bool Lanes::compare(const Ended& ended, std::uint32_t peer, const PartTaken& part) {
  const PartTaken& mine = ended.part;
  if (mine.meaning == 0 || part.meaning == 0) return false;
  if (mine.channels == part.channels && mine.meaning == part.meaning) return false;
  if (!parted_.empty()) return false;
  parted_ =
      fmt::format("group {}: hosts did not take part in the same: host {} left it {}, host {} {}",
                  ended.name, name_, mine.text, host_text(peer), part.text);
  return true;
}

void Lanes::keep_for_later(LaneFrame frame) {
  const bool is_useful = frame.kind == LaneKind::credit || frame.kind == LaneKind::grant ||
                         frame.kind == LaneKind::ask || frame.kind == LaneKind::left ||
                         frame.kind == LaneKind::failed;
  if (!is_useful || early_frames_ >= early_frames_max) {
    spdlog::warn("host {}: host {} sent control for a group that there is not{}{}", name_,
                 host_text(frame.source), frame.text.empty() ? "" : ": ", frame.text);
    return;
  }
  ++early_frames_;
  early_[frame.group].push_back(std::move(frame));
}

// ---- the carrier's side --------------------------------------------------------------------

void Lanes::deliver(std::uint32_t from, LaneFrame frame) {
  runtime::Lock lock(mutex_);
  if (is_stopped_) return;
  see_neighbour(from, frame.source);
  ++(frame.kind == LaneKind::data ? frames_ : controls_);
  if (is_word_of_neighbour(from, frame)) {
    take_word(frame);
    return settle(lock);
  }
  const std::size_t hosts = plan_->hosts.size();
  const bool has_way = frame.source < hosts && frame.target < hosts && frame.source != host_ &&
                       leads_to(frame.target);
  if (!has_way) {
    spdlog::warn("{}: {} sent a message from {} to {}, which has no way here",
                 place_text(*plan_, host_), place_text(*plan_, from),
                 place_text(*plan_, frame.source), place_text(*plan_, frame.target));
    return;
  }
  if (is_switch() && frame.kind != LaneKind::lost)
    if (const auto gone = lost_.find(frame.target); gone != lost_.end())
      tell_neighbour(from, lost_frame(from, gone->first, gone->second));
  const base::Nanos came = departures_.came_at(frame);
  const bool is_received = receiving_ != nullptr && comes_by_network(from);
  const bool waits_for_turn = frame.kind == LaneKind::data && runtime_.is_virtual();
  if (waits_for_turn || came > runtime_.now()) {
    const std::uint32_t rank = waits_for_turn ? frame.source : 0;
    all_come_by_ = std::max(all_come_by_, came + frame.lag);
    auto arrive = [this, is_received, came, frame = std::move(frame)]() mutable {
      pass(is_received, came, std::move(frame));
    };
    agenda_.put(came, std::move(arrive), waits_for_turn ? Turn::heads : Turn::events, rank);
  } else {
    pass(is_received, came, std::move(frame));
  }
  settle(lock);
}

/// What came by a link goes by the next one, or is here.
void Lanes::pass(bool is_received, base::Nanos came, LaneFrame frame) {
  const bool is_data = frame.kind == LaneKind::data;
  if (is_data && is_received) {
    runtime::Lock link(receiving_->mutex);
    const auto passage = receiving_->instance.carry(came, frame.lag, frame.payload.size());
    came = passage.head;
    frame.lag = passage.lag;
  }
  if (frame.target != host_) {
    at(came, [this, came, frame = std::move(frame)]() mutable {
      departures_.depart(std::move(frame), came);
    });
  } else if (!is_data) {
    take_control(std::move(frame), came);
  } else {
    const base::Nanos tail = came + frame.lag;
    at(tail, [this, frame = std::move(frame)]() mutable { take_data(std::move(frame)); });
  }
}

/// Of a switch, or to one: what goes to a neighbour as such, and by no way.
bool Lanes::is_word_of_neighbour(std::uint32_t from, const LaneFrame& frame) const {
  const bool is_with_switch = is_switch() || from >= plan_->hosts.size();
  return is_with_switch && frame.source == from && frame.target == host_ &&
         (frame.kind == LaneKind::look || frame.kind == LaneKind::lost);
}

void Lanes::take_word(const LaneFrame& frame) {
  if (is_switch()) {
    neighbours_.insert(frame.source);
    end_.hosts.erase(frame.source);  // it comes late, and hears of those that have gone before
    for (const auto& [place, why] : lost_)
      if (frame.kind == LaneKind::look && place != frame.source)
        tell_neighbour(frame.source, lost_frame(frame.source, place, why));
  }
  if (frame.kind == LaneKind::lost) take_control(frame, runtime_.now());
}

template <class Work>
void Lanes::at(base::Nanos moment, Work work) {
  if (moment > runtime_.now())
    agenda_.put(moment, std::move(work));
  else
    work();
}

bool Lanes::leads_to(std::uint32_t target) const {
  if (!is_switch()) return missing_way(*plan_, host_, target).empty();
  const auto cluster = host_ - static_cast<std::uint32_t>(plan_->hosts.size());
  return plan_->ways->links.contains({cluster, plan_->hosts[target].cluster});
}

/// From a host of the cluster, or from outside where a switch leads to all hosts.
bool Lanes::comes_by_network(std::uint32_t from) const {
  const std::uint32_t here = plan_->hosts[host_].cluster;
  return plan_->ways->clusters[here].has_switch ||
         (from < plan_->hosts.size() && plan_->hosts[from].cluster == here);
}

/// To a host switches are none: those beyond them are, by whom an end host is reached.
void Lanes::see_neighbour(std::uint32_t place, std::uint32_t end) {
  if (place < plan_->hosts.size())
    neighbours_.insert(place);
  else if (!is_switch() && end < plan_->hosts.size() && end != host_ && leads_to(end))
    neighbours_.insert(next_hop(*plan_, host_, end).to);
}

void Lanes::room_made(std::uint32_t host) {
  runtime::Lock lock(mutex_);
  if (is_stopped_) return;
  outgoing_.room_made(host);
  settle(lock);
}

void Lanes::host_lost(std::uint32_t host, const std::string& reason) {
  runtime::Lock lock(mutex_);
  if (is_stopped_) return;
  lose(host, reason);
  settle(lock);
}

void Lanes::host_ended(std::uint32_t host) {
  runtime::Lock lock(mutex_);
  if (is_stopped_) return;
  // What it sent before may still be on its way.
  at(all_come_by_, [this, host] {
    if (is_switch()) {
      end_.hosts.insert(host);
      see_whether_hosts_are_over();
    } else if (host < plan_->hosts.size()) {  // a switch ends when nothing more passes it
      lose(host, "it has ended");
    }
  });
  settle(lock);
}

void Lanes::look_at_neighbours() {
  const auto hosts = static_cast<std::uint32_t>(plan_->hosts.size());
  const auto clusters = static_cast<std::uint32_t>(plan_->clusters.size());
  runtime::Lock lock(mutex_);
  for (std::uint32_t cluster = 0; cluster < clusters; ++cluster) {
    const bool is_mine = !is_switch() && plan_->hosts[host_].cluster == cluster;
    const bool is_reached = is_switch() && plan_->ways->links.contains({host_ - hosts, cluster});
    if (!is_mine && !is_reached) continue;
    const bool has_switch = is_switch_emulated(*plan_, cluster);
    if (is_mine && !has_switch) continue;
    const std::uint32_t place = has_switch ? switch_number(*plan_, cluster) : exit_of(cluster);
    if (is_switch()) neighbours_.insert(place);
    departures_.leaving().emplace_back(place, control(LaneKind::look, place, 0));
  }
  settle(lock);
}

/// One context at a time, so that what goes to a host stays in order; the mutex is let go, because
/// within one process this runs the other host's deliver(), which may answer.
void Lanes::settle(runtime::Lock& lock) {
  if (std::exchange(is_sending_, true)) return;
  for (int rounds = 0;;) {
    for (auto& wait : std::exchange(outgoing_.sent(), {})) ended_.push_back(std::move(wait));
    Departures::Leaving leaving = std::exchange(departures_.leaving(), {});
    const Waits ended = std::exchange(ended_, {});
    lookers_->know(agenda_);
    const bool begins = needs_clock() && !std::exchange(clock_->is_running, true);
    if (!begins && leaving.empty() && ended.empty()) {
      if (go_on(rounds)) continue;
      break;
    }
    for (const auto& [to, frame] : leaving) see_neighbour(to, frame.target);
    lock.unlock();
    if (begins) clock_->begin();
    for (auto& [to, frame] : leaving) carrier_.send(to, std::move(frame));
    {
      runtime::Wakes wakes;
      for (const auto& wait : ended) wait->completion.complete(wakes);
    }
    lock.lock();
  }
  is_sending_ = false;
  runtime::Wakes wakes;
  if (clock_next() < clock_->sleeps_until) clock_->earlier.wake_all(wakes);
  if (agenda_.empty()) quiet_.wake_all(wakes);
  if (end_.is_everywhere) ending_.wake_all(wakes);
  if (wakes.empty()) return;
  lock.unlock();
}

/// With what waits until all before it was handed over. After a while whoever does what is due is
/// to go on, so that nobody keeps sending who came to receive.
bool Lanes::go_on(int& rounds) {
  if (!outgoing_.may_go_on() || is_put_off_) return false;
  if (++rounds <= rounds_max)
    return outgoing_.go_on([this](std::uint32_t to) { return carrier_.has_room(to); });
  rounds = 0;
  is_put_off_ = true;
  agenda_.put(runtime_.now(), [this] { is_put_off_ = false; });
  return true;
}

/// When the clock has something to do: who looks does what is on the agenda.
base::Nanos Lanes::clock_next() const {
  const bool has_work = !agenda_.empty() && !lookers_->are_there();
  return has_work ? std::min(agenda_.next(), asks_at_) : asks_at_;
}

bool Lanes::needs_clock() const { return !is_stopped_ && clock_next() != base::Nanos::max(); }

void Lanes::run_clock() {
  runtime::Lock lock(mutex_);
  // On the virtual clock whoever waits until now goes on when everybody else has had his turn.
  auto turn = runtime_.is_virtual() ? Turn::events : Turn::choices;
  base::Nanos turn_at = runtime_.now();
  while (needs_clock()) {
    const base::Nanos now = runtime_.now();
    if (runtime_.is_virtual() && std::exchange(turn_at, now) != now) turn = Turn::events;
    const base::Nanos next = clock_next();
    if (next > now || (runtime_.is_virtual() && agenda_.next_turn() > turn)) {
      clock_->sleeps_until = next;
      const runtime::Woken woken =
          clock_->earlier.wait(lock, runtime::Deadline::written_at(std::max(next, now)),
                               {"what is on its way from", name_, host_});
      clock_->sleeps_until = base::Nanos::min();
      if (woken == runtime::Woken::expired && runtime_.now() == now && turn < Turn::choices)
        turn = static_cast<Turn>(static_cast<int>(turn) + 1);
      continue;
    }
    if (asks_at_ <= now) ask_for_all();
    do_what_is_due(lock, turn);
    if (!lock.owns_lock()) lock.lock();
  }
}

void Lanes::do_what_is_due(runtime::Lock& lock, Turn turn) {
  const base::Nanos now = runtime_.now();
  const auto is_due = [&] {
    return !agenda_.empty() && agenda_.next() <= now && agenda_.next_turn() <= turn;
  };
  while (is_due()) agenda_.take()();
  settle(lock);
}

void Lanes::stop() {
  runtime::Lock lock(mutex_);
  is_stopped_ = true;
  agenda_.clear();
  if (clock_->is_running) clock_->cancel();
  lock.unlock();
  lookers_->part();
  lock.lock();
  // On the virtual clock contexts end with the run.
  while (clock_->is_running && (!runtime_.is_virtual() || runtime::is_inside_a_run()))
    quiet_.wait(lock, runtime::Deadline::never(), {"the end of the clock of", name_, host_});
}

bool Lanes::in_use() const {
  runtime::Lock lock(mutex_);
  return !uses_.empty() || !neighbours_.empty();
}

Lanes::Use Lanes::use() const {
  runtime::Lock lock(mutex_);
  return {inbox_.issued(), inbox_.held(), inbox_.held_most(),
          frames_,         controls_,     departures_.lateness_lost()};
}

Lanes::Balance Lanes::credit_issued() const {
  runtime::Lock lock(mutex_);
  Balance balance;
  for (const auto& [id, group] : groups_)
    for (const auto& [source, lane] : group->in) balance[{id, source}] = lane->account().unused();
  return balance;
}

Lanes::Balance Lanes::credit_to_use() const {
  runtime::Lock lock(mutex_);
  Balance balance;
  for (const auto& [id, group] : groups_)
    for (const auto& [target, lane] : group->out) balance[{id, target}] = lane.window.credit();
  return balance;
}

}  // namespace paths
