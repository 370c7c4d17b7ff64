// SPDX-License-Identifier: Apache-2.0
// paths/messages/lanes.cpp — groups, credit and control of one host.
#include "paths/messages/lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "base/digest.hpp"
#include "base/errors.hpp"
#include "base/usage_error.hpp"
#include "paths/plan/emulated_switches.hpp"
#include "paths/plan/exits.hpp"
#include "paths/plan/site.hpp"

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

PartTaken part_of(const LaneFrame& left) { return {left.channel, left.meaning, left.text}; }

}  // namespace

void Lanes::record_transfers(RecorderOf recorder_of) {
  runtime::Lock lock(mutex_);
  departures_.record_transfers(std::move(recorder_of));
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
  if (!is_of_this_process())
    throw base::UsageError(fmt::format("group {}: this process was made by fork", name));
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
  // A host that has left the group has said why before it was lost.
  if (auto early = early_.extract(group.id)) {
    early_frames_ -= early.mapped().size();
    for (LaneFrame& frame : early.mapped()) take_control(std::move(frame), runtime_.now());
  }
  for (const auto& [host, why] : std::map(lost_)) end_lanes_over(group, host, why);
  std::unique_ptr<LaneGroup> handle(
      new LaneGroup(self_, {group.name, plan_}, group.id, group.hosts, group.options));
  settle(lock);
  return handle;
}

runtime::Deadline Lanes::deadline() const { return deadline_of(*plan_, runtime_); }

void Lanes::wait(LaneWait& one, const std::string& what) {
  if (!one.completion.wait(deadline(), {"what a lane carries,", what}))
    throw TravelError(name_, "", "",
                      fmt::format("{}: not through before the deadline of {}{}", what,
                                  base::format_time(plan_->deadline), known_cause_text()));
  if (one.failure) throw TravelError(*one.failure);
}

/// Why something has not come, as far as this host knows.
std::string Lanes::known_cause_text() const {
  const std::string text = silent_switch_text();
  runtime::Lock lock(mutex_);
  return first_loss_.empty() ? text : fmt::format("{}; {}", text, first_loss_);
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
  group->close(channel);
  group->last_closed = {channel, std::move(what)};
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
      channel.for_each([&](const LaneOut::Message& message) {
        if (!message.wait->is_let_go) waits.push_back(message.wait);
      });
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
    if (!why.empty())
      left.text = why;
    else if (part.meaning == 0 && !first_loss_.empty())
      left.text = fmt::format("host {} has left group {}: {}", name_, group->name, first_loss_);
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
  for (const auto& [channel, failed] : group->failed)
    if (failed.is_mismatch) see_mismatch(ended, channel, failed.why);
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
  if (frame.kind == LaneKind::done) return take_news(end_, frame);
  if (frame.kind == LaneKind::here) return take_news(begin_, frame);
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
    if (frame.kind == LaneKind::failed && frame.meaning != 0)
      see_mismatch(ended->second, frame.channel, frame.text);
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
    case LaneKind::ask:
      return frame.meaning == 0 ? issue(*group, frame.source) : take_question(*group, frame);
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
    // Of one that was sent it means nothing.
    if (!outgoing_.grant(lane, name) && is_to_come) lane.window.grant(name);
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

/// A channel that ended well here was something else to another host.
void Lanes::see_mismatch(const Ended& ended, std::uint64_t channel, const std::string& why) {
  const bool has_taken_part = ended.part.meaning != 0 && channel < ended.part.channels;
  if (has_taken_part && parted_.empty()) parted_ = fmt::format("group {}: {}", ended.name, why);
}

void Lanes::keep_for_later(LaneFrame frame) {
  if (const std::string why = why_never_here(frame); !why.empty())
    return answer_for_good(frame.source, frame.group, why);
  if (frame.kind == LaneKind::ask && frame.meaning != 0) return;  // it is asked again
  const bool is_useful = frame.kind == LaneKind::credit || frame.kind == LaneKind::grant ||
                         frame.kind == LaneKind::ask || frame.kind == LaneKind::left ||
                         frame.kind == LaneKind::failed;
  if (!is_useful || early_frames_ >= early_frames_max) {
    complaints_.tell(fmt::format("host {}", host_text(frame.source)),
                     fmt::format("lanes: control for a group that there is not{}{}",
                                 frame.text.empty() ? "" : ": ", frame.text));
    return;
  }
  ++early_frames_;
  early_[frame.group].push_back(std::move(frame));
}

// ---- the carrier's side --------------------------------------------------------------------

void Lanes::deliver(std::uint32_t from, LaneFrame frame) {
  runtime::Lock lock(mutex_);
  if (is_stopped_) return;
  catch_up();
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
    complaints_.tell(
        place_text(*plan_, from),
        fmt::format("lanes: a message from {} to {}, which has no way here",
                    place_text(*plan_, frame.source), place_text(*plan_, frame.target)));
    return;
  }
  if (frame.target != host_ && frame.kind != LaneKind::lost) tell_of_loss(from, frame);
  frame.lag = std::min(frame.lag, farthest());
  const base::Nanos came = std::min(departures_.came_at(frame), runtime_.now() + farthest());
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

/// How far ahead a moment may be that another process names. By then every wait has ended.
base::Nanos Lanes::farthest() const {
  return runtime_.is_virtual() ? base::time_max : 2 * plan_->deadline;
}

/// What came by a link goes by the next one, or is here.
void Lanes::pass(bool is_received, base::Nanos came, LaneFrame frame) {
  const bool is_data = frame.kind == LaneKind::data;
  if (is_data && is_received) {
    runtime::Lock link(receiving_->mutex);
    const auto passage = receiving_->instance.carry(came, frame.lag, frame.payload.size());
    came = passage.head;
    frame.lag = passage.lag;
    all_come_by_ = std::max(all_come_by_, came + frame.lag);
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

/// On the steady clock who does what is due may be late: nothing that is due now goes before it.
void Lanes::catch_up() {
  if (runtime_.is_virtual()) return;
  const base::Nanos now = runtime_.now();
  while (!agenda_.empty() && agenda_.next() <= now) agenda_.take()();
}

template <class Work>
void Lanes::at(base::Nanos moment, Work work) {
  const bool is_behind = !runtime_.is_virtual() && !agenda_.empty() && agenda_.next() <= moment;
  if (is_behind || moment > runtime_.now())
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

/// A host does not count a switch as its neighbour, but the next host on the way to `end`. Sends
/// each new neighbour the hosts that were lost before, because only neighbours of that time got
/// them.
void Lanes::see_neighbour(std::uint32_t place, std::uint32_t end) {
  const bool is_host = place < plan_->hosts.size();
  const bool leads_on = !is_switch() && end < plan_->hosts.size() && end != host_ && leads_to(end);
  if (!is_host && !leads_on) return;
  const std::uint32_t neighbour = is_host ? place : next_hop(*plan_, host_, end).to;
  if (!neighbours_.insert(neighbour).second || is_switch() || !tells_of_losses()) return;
  for (const auto& [host, why] : lost_)
    if (!ended_hosts_.contains(host) && !lost_.contains(neighbour))
      post(lost_frame(neighbour, host, why));
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
  const bool is_news = !lost_.contains(host);
  lose(host, reason);
  if (is_news) tell_exit(host, reason);
  settle(lock);
}

void Lanes::host_ended(std::uint32_t host) {
  runtime::Lock lock(mutex_);
  if (is_stopped_) return;
  // What it sent before may still be on its way, or have come just now: until the last of it has
  // begun to pass this host's receiving side, nobody knows how long that takes.
  const auto when_all_has_come = [this](Agenda::Work work) {
    agenda_.put(all_come_by_, std::move(work), Turn::choices);
  };
  when_all_has_come([=, this] { when_all_has_come([=, this] { see_ended(host); }); });
  settle(lock);
}

/// Others are not told: word of it would overtake what the host has sent them. It has said itself
/// that it left its groups.
void Lanes::see_ended(std::uint32_t host) {
  if (is_switch()) {
    end_.hosts.insert(host);
    see_whether_hosts_are_over();
  } else if (host < plan_->hosts.size()) {  // a switch ends when nothing more passes it
    if (count_out(host, "it has ended")) ended_hosts_.insert(host);
  }
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
    const std::uint32_t place =
        has_switch ? switch_number(*plan_, cluster) : exit_of(*plan_, cluster);
    if (is_switch()) neighbours_.insert(place);
    departures_.leaving().emplace_back(place, control(LaneKind::look, place, 0));
  }
  settle(lock);
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
