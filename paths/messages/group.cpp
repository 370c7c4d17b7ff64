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

/// Returns the endpoint to which a handle refers; nullptr if the host has ended, or if this process
/// was forked after the endpoint was made.
std::shared_ptr<MessageEndpoint> lanes_here(const std::weak_ptr<MessageEndpoint>& held) {
  auto lanes = held.lock();
  return lanes != nullptr && lanes->is_of_this_process() ? lanes : nullptr;
}

/// Returns the endpoint to which a handle refers.
/// Throws: UsageError if the host has ended, or if this process was forked after the endpoint was
///         made.
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

/// A message under way. T is void for a message that this host sends, and Received for a message
/// that this host receives.
template <class T>
class MessageGroup::StartedMessage final : public LaneWait, public runtime::Pending<T> {
 public:
  StartedMessage(const MessageGroup& group, std::uint32_t peer, std::uint64_t channel,
                 LentMemory memory)
      : lanes_(group.lanes_), group_(group.name_), peer_(peer), channel_(channel) {
    lent = std::move(memory);
  }

 private:
  runtime::Completion& completion() override { return LaneWait::completion; }
  std::string text() const override {
    return fmt::format("group {}: a message {} host {} on channel {}", group_->name,
                       std::is_void_v<T> ? "to" : "from", place_name(*group_->plan, peer_),
                       channel_);
  }
  T take(runtime::Deadline deadline) override {
    const bool is_over = LaneWait::completion.done() && lanes_here(lanes_) != nullptr;
    const std::string what = is_over ? "" : text();
    lanes_of(lanes_, "", what).calls_.wait(*this, what, deadline);
    if constexpr (!std::is_void_v<T>) return std::move(received);
  }
  void drop() noexcept override {
    if (lent.empty() || LaneWait::completion.done()) return;
    if (const auto lanes = lanes_here(lanes_)) lanes->calls_.let_go(*this);
  }

  const std::weak_ptr<MessageEndpoint> lanes_;
  const std::shared_ptr<const LaneGroupName> group_;
  const std::uint32_t peer_;
  const std::uint64_t channel_;
};

template <class T>
runtime::Handle<T> MessageGroup::start(std::uint32_t peer, const NamedMessage& which,
                                       base::Payload message, LentMemory lent) const {
  constexpr bool is_sent = std::is_void_v<T>;
  MessageEndpoint& lanes = lanes_for(is_sent ? "send" : "receive", peer, which.channel);
  auto started = std::make_shared<StartedMessage<T>>(*this, peer, which.channel, std::move(lent));
  message.set_type(base::ValueType::unknown);  // messages have no type, even within one process
  if constexpr (is_sent)
    lanes.calls_.send(id_, peer, which, std::move(message), started);
  else
    lanes.calls_.receive(id_, peer, which, started);
  return runtime::Handle<T>(std::move(started));
}

runtime::Handle<void> MessageGroup::send(std::uint32_t to, const NamedMessage& which,
                                         base::Payload message) {
  return start<void>(to, which, std::move(message), {});
}

runtime::Handle<void> MessageGroup::send(std::uint32_t to, const NamedMessage& which,
                                         LentMemory message) {
  return start<void>(to, which, {}, std::move(message));
}

runtime::Handle<Received> MessageGroup::receive(std::uint32_t from, const NamedMessage& which,
                                                LentMemory place) {
  return start<Received>(from, which, {}, std::move(place));
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

/// Work under way on the processor of this host.
class MessageGroup::StartedWork final : public LaneWait, public runtime::Pending<void> {
 public:
  StartedWork(std::weak_ptr<MessageEndpoint> lanes, std::shared_ptr<const LaneGroupName> group)
      : lanes_(std::move(lanes)), group_(std::move(group)) {}

 private:
  runtime::Completion& completion() override { return LaneWait::completion; }
  std::string text() const override { return fmt::format("group {}: work", group_->name); }
  void take(runtime::Deadline deadline) override {
    const std::string what = LaneWait::completion.done() ? "" : text();
    lanes_of(lanes_, "", what).calls_.wait(*this, what, deadline);
  }

  const std::weak_ptr<MessageEndpoint> lanes_;
  const std::shared_ptr<const LaneGroupName> group_;
};

runtime::Handle<void> MessageGroup::work(base::Nanos time, std::uint64_t order) const {
  auto started = std::make_shared<StartedWork>(lanes_, name_);
  lanes_of(lanes_, "group ", name()).calls_.work(time, order, started);
  return runtime::Handle<void>(std::move(started));
}

bool MessageGroup::is_paced(std::uint32_t to) const {
  return lanes_for("send", to, 0).calls_.is_paced(to);
}

void MessageGroup::close(std::uint64_t channel, std::shared_ptr<const std::string> what,
                         std::uint64_t signature_digest) {
  if (signature_digest != 0 && ended_->note(channel, signature_digest, what)) return;
  if (const auto lanes = lanes_here(lanes_))
    lanes->calls_.close(id_, channel, std::move(what), signature_digest);
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

}  // namespace paths
