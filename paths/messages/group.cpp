// SPDX-License-Identifier: Apache-2.0
// paths/messages/group.cpp — handles of groups and of messages under way
#include "paths/messages/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "base/usage_error.hpp"
#include "paths/messages/message_endpoint.hpp"
#include "paths/plan/ways.hpp"

namespace paths {
namespace {

/// Returns the endpoint of a handle; nullptr if the host has ended, or in a forked process.
std::shared_ptr<MessageEndpoint> lanes_here(const std::weak_ptr<MessageEndpoint>& held) {
  auto lanes = held.lock();
  return lanes != nullptr && lanes->is_of_this_process() ? lanes : nullptr;
}

/// Returns the endpoint of a handle. Throws UsageError if the host has ended.
MessageEndpoint& lanes_of(const std::weak_ptr<MessageEndpoint>& held, std::string_view kind,
                          std::string_view name) {
  // The reference stays valid, because no handle may be used while its host ends.
  const auto lanes = held.lock();
  if (lanes == nullptr) throw base::UsageError(fmt::format("{}{}: its host has ended", kind, name));
  if (!lanes->is_of_this_process())
    throw base::UsageError(fmt::format("{}{}: this process was made by fork", kind, name));
  return *lanes;
}

}  // namespace

MessageGroup::~MessageGroup() {
  if (const auto lanes = lanes_here(lanes_)) lanes->calls_.leave(id_);
}

MessageEndpoint& MessageGroup::lanes_for(std::string_view what, std::uint32_t peer,
                                         std::uint64_t channel) const {
  const auto refuse = [&](const std::string& why) {
    throw base::UsageError(fmt::format("group {}: {}: {}", name(), what, why));
  };
  MessageEndpoint& lanes = lanes_of(lanes_, "group ", name());
  if (peer == lanes.state_.host) refuse("a host has no lane to itself");
  if (!std::binary_search(hosts_->begin(), hosts_->end(), peer))
    refuse(fmt::format("host {} is not in it", lanes.state_.name_of(peer)));
  if (channel >= options_.channels)
    refuse(fmt::format("expected a channel below {}, found {}", options_.channels, channel));
  return lanes;
}

template <class Handle>
Handle MessageGroup::handle(std::uint32_t peer, std::uint64_t channel, LentMemory lent) const {
  Handle made;
  made.lanes_ = lanes_;
  made.group_ = name_;
  made.peer_ = peer;
  made.channel_ = channel;
  made.is_sent_ = std::is_same_v<Handle, Sending>;
  made.wait_ = std::make_shared<LaneWait>();
  made.wait_->lent = std::move(lent);
  return made;
}

Sending MessageGroup::send(std::uint32_t to, const NamedMessage& which, base::Payload message) {
  message.set_type(base::ValueType::unknown);  // messages arrive as bytes, also within one process
  MessageEndpoint& lanes = lanes_for("send", to, which.channel);
  auto sending = handle<Sending>(to, which.channel);
  lanes.calls_.send(id_, to, which, std::move(message), sending.wait_);
  return sending;
}

Sending MessageGroup::send(std::uint32_t to, const NamedMessage& which, LentMemory message) {
  MessageEndpoint& lanes = lanes_for("send", to, which.channel);
  auto sending = handle<Sending>(to, which.channel, std::move(message));
  lanes.calls_.send(id_, to, which, {}, sending.wait_);
  return sending;
}

Receiving MessageGroup::receive(std::uint32_t from, const NamedMessage& which, LentMemory place) {
  MessageEndpoint& lanes = lanes_for("receive", from, which.channel);
  auto receiving = handle<Receiving>(from, which.channel, std::move(place));
  lanes.calls_.receive(id_, from, which, receiving.wait_);
  return receiving;
}

std::string MessageGroup::host_name(std::uint32_t host) const {
  return lanes_of(lanes_, "group ", name()).state_.name_of(host);
}

std::string MessageGroup::own_host_name() const {
  return lanes_of(lanes_, "group ", name()).state_.name;
}

std::string MessageGroup::known_cause_text() const {
  return lanes_of(lanes_, "group ", name()).calls_.known_cause_text();
}

bool MessageGroup::is_paced(std::uint32_t to) const {
  return lanes_for("send", to, 0).calls_.is_paced(to);
}

void MessageGroup::close(std::uint64_t channel, std::shared_ptr<const std::string> what) {
  if (const auto lanes = lanes_here(lanes_)) lanes->calls_.close(id_, channel, std::move(what));
}

void MessageGroup::fail(const Channels& which, const std::string& why, FailureCause cause) {
  if (const auto lanes = lanes_here(lanes_)) lanes->calls_.fail(id_, which, why, cause);
}

void MessageGroup::ask(const LaneQuestion& question) {
  if (const auto lanes = lanes_here(lanes_)) lanes->calls_.ask(id_, question);
}

void MessageGroup::abandon(const std::string& why) {
  if (const auto lanes = lanes_here(lanes_)) lanes->calls_.leave(id_, why);
}

void MessageGroup::leave_after(const Participation& part) {
  if (const auto lanes = lanes_here(lanes_)) lanes->calls_.leave(id_, "", part);
}

void MessageGroup::leave() {
  MessageEndpoint& lanes = lanes_of(lanes_, "group ", name());
  const auto unsent = lanes.calls_.unsent(id_);
  Failure failure;
  for (const auto& wait : unsent) {
    try {
      lanes.calls_.wait(*wait, fmt::format("group {}: the last messages", name()));
    } catch (const TravelError& error) {
      failure = std::make_shared<TravelError>(error);
    }
  }
  lanes.calls_.leave(id_);
  if (failure) throw TravelError(*failure);
}

LaneHandle& LaneHandle::operator=(LaneHandle&& other) noexcept {
  if (this == &other) return *this;
  let_go();
  lanes_ = std::move(other.lanes_);
  wait_ = std::move(other.wait_);
  group_ = std::move(other.group_);
  peer_ = other.peer_;
  channel_ = other.channel_;
  is_sent_ = other.is_sent_;
  return *this;
}

void LaneHandle::let_go() {
  if (wait_ == nullptr || wait_->lent.empty() || wait_->completion.done()) return;
  if (const auto lanes = lanes_here(lanes_)) lanes->calls_.let_go(*wait_);
}

std::string LaneHandle::text() const {
  if (group_ == nullptr) return "a message of no group";
  return fmt::format("group {}: a message {} host {} on channel {}", group_->name,
                     is_sent_ ? "to" : "from", place_name(*group_->plan, peer_), channel_);
}

void LaneHandle::wait_until_through() {
  const auto lanes = lanes_here(lanes_);  // valid throughout the call; see lanes_of()
  if (lanes != nullptr && wait_->completion.done()) return lanes->calls_.wait(*wait_, "");
  const std::string what = text();
  lanes_of(lanes_, "", what).calls_.wait(*wait_, what);
}

base::Payload Receiving::wait() {
  wait_until_through();
  return arrivals().message;
}

}  // namespace paths
