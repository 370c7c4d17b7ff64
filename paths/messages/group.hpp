// SPDX-License-Identifier: Apache-2.0
// paths/messages/group.hpp — groups of hosts that exchange messages without a path
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/payload.hpp"
#include "paths/messages/channels/lent_memory.hpp"
#include "paths/travel_error.hpp"
#include "runtime/completion.hpp"

namespace paths {

class MessageEndpoint;
struct Plan;

/// Hosts of a group, as numbered by the run's plan.
using SharedHosts = std::shared_ptr<const std::vector<std::uint32_t>>;

/// State of one message at its sender or receiver. The handle and the lanes share it.
struct LaneWait {
  runtime::Completion completion;
  // Written before completion:
  base::Payload message;  ///< received message, unless it is in lent memory
  bool is_in_place = false;
  Failure failure;  ///< nullptr on success
  // Guarded by the mutex of the endpoint until completion:
  LentMemory lent;            ///< memory to send from, or place for a message of that size
  bool is_abandoned = false;  ///< whether the handle was dropped, which ends the loan of the memory
};

/// A message that sender and receiver identify by the same name. Its channel carries only named
/// messages. The only order among them is the sender's `order`.
struct NamedMessage {
  std::uint64_t channel = 0;
  std::uint64_t name = 0;  ///< unique within lane and channel
  /// Digest of the purpose of the channel. If two hosts differ, the channel and all higher ones
  /// fail.
  std::uint64_t signature_digest = 0;
  /// Rank among all waiting messages of the group, for any channel and target. The least leaves
  /// first.
  std::uint64_t order = 0;
  /// For sending: whether the message leaves only after its receiver has granted it, regardless of
  /// credit.
  bool waits_for_grant = false;
  /// For receiving: whether the grant crosses emulated links without delay. Used if receivers
  /// follow a plan that has room for grants.
  bool is_grant_at_once = false;
  /// For receiving: whether the message is small and usually paid for by credit. On the steady
  /// clock it is then granted only if credit gets short, or after a quarter of a second.
  bool is_little = false;
};

/// Range of channel numbers, both ends included.
struct Channels {
  std::uint64_t first = 0;
  std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
};

/// The operations that a host took part in until it left a group. They should be the same on all
/// hosts.
struct Participation {
  std::uint64_t channels = 0;          ///< number of channels, counted from 0
  std::uint64_t signature_digest = 0;  ///< digest of all of them; 0 = not to be compared
  /// Description, such as "after 4 operations, the last 'barrier'". If the digest is 0, the reason
  /// for leaving; "" if there is none.
  std::string text = {};
};

/// A question to the hosts that a channel waits for: whether the awaited event can still happen.
struct LaneQuestion {
  std::uint64_t channel = 0;
  std::uint64_t signature_digest = 0;  ///< what the asking host uses the channel for; never 0
  // The group that this one was split from, and the channel of the split; both 0 if there is
  // none.
  std::uint64_t parent = 0;
  std::uint64_t parent_channel = 0;
  /// Returns a host's threads in the group, as Host::why_absent() reads them; "" if not known.
  std::function<std::string(std::uint32_t host)> threads;
};

/// Name and plan of a group for error messages. Remains valid after the host has ended.
struct LaneGroupName {
  std::string name;
  std::shared_ptr<const Plan> plan;
};

/// A message under way and the memory lent for it. The loan ends when the message completes or the
/// handle is dropped.
class LaneHandle {
 public:
  LaneHandle() = default;
  LaneHandle(LaneHandle&&) noexcept = default;
  LaneHandle& operator=(LaneHandle&& other) noexcept;
  ~LaneHandle() { let_go(); }
  std::shared_ptr<runtime::Completion> completion() const { return {wait_, &wait_->completion}; }

 protected:
  void wait_until_through();
  const LaneWait& arrivals() const { return *wait_; }

 private:
  friend class MessageGroup;
  void let_go();
  std::string text() const;
  std::weak_ptr<MessageEndpoint> lanes_;
  std::shared_ptr<LaneWait> wait_;
  std::shared_ptr<const LaneGroupName> group_;
  std::uint32_t peer_ = 0;
  std::uint64_t channel_ = 0;
  bool is_sent_ = false;
  bool is_lent_ = false;
};

/// A message being sent. Dropping the handle does not cancel the message, except in lent memory.
/// The rest of such a message never leaves, so the caller that drops it fails its channel.
class Sending : public LaneHandle {
 public:
  /// Whether the first link, or the connection, has taken the last byte.
  bool sent() const { return arrivals().completion.done(); }
  /// Blocks until the message is sent. Throws TravelError if it cannot be sent, or at the deadline.
  void wait() { wait_until_through(); }
};

/// A message being awaited. Dropping the handle drops the message when it arrives.
class Receiving : public LaneHandle {
 public:
  bool arrived() const { return arrivals().completion.done(); }
  /// Blocks until all of the message has arrived. Returns an empty payload if the message is in
  /// lent memory. Throws TravelError if it cannot arrive, or at the deadline.
  base::Payload wait();
  /// Whether the message arrived in the lent memory, which requires that both have the same size.
  bool is_in_place() const { return arrivals().is_in_place; }
};

struct GroupOptions {
  /// Number of channels; they are numbered from 0. Messages on higher channels are refused.
  std::uint64_t channels = std::uint64_t{1} << 32;
  /// Target credit for each source, in bytes. 0 = the capacity of the way there and back, plus two
  /// frames.
  std::uint64_t window_bytes = 0;
  /// Returns a text about this host's use of a channel, for error messages; "" if none is known.
  /// Called with the mutex of the endpoint held, until this host leaves the group.
  std::function<std::string(std::uint64_t channel)> describe = {};
};

/// Some communication has no tree that could be declared before the run: broadcasts of large
/// vectors, all-to-all exchanges, and groups that change. A MessageGroup carries messages between
/// any of its hosts without a path.
///
/// A lane is the flow of messages from one host to another. Messages of one channel arrive in the
/// order of sending; messages of different channels in any order. A message arrives as bytes of
/// unknown type.
///
/// A message travels if the receiver has issued credit for it or has granted it. A message without
/// a receive may therefore never be sent; one with a receive always is.
///
/// Thread-safe: all functions. Two concurrent calls on one channel of one lane take effect in
///              either order. The group may outlive its host; calls then throw. No call may overlap
///              the end of the host.
/// Blocks: leave(), and wait() of the handles.
/// Throws: UsageError for a host outside the group, the caller's own host or an unknown channel;
///         after leave(); and after the host has ended. Failures of hosts and links are reported by
///         the handles as TravelError.
class MessageGroup {
 public:
  ~MessageGroup();  ///< leaves without waiting; unsent messages are dropped
  MessageGroup(const MessageGroup&) = delete;
  MessageGroup& operator=(const MessageGroup&) = delete;

  const std::string& name() const { return name_->name; }
  /// Returns a number that differs between groups of a run, even if they have the same name.
  std::uint64_t id() const { return id_; }
  const std::vector<std::uint32_t>& hosts() const { return *hosts_; }
  /// Returns names for error messages.
  std::string host_name(std::uint32_t host) const;
  std::string own_host_name() const;
  /// Returns known causes that may keep messages from arriving, as clauses; "" if there are none.
  /// They name a switch process that has not replied, and the first lost host.
  std::string known_cause_text() const;

  Sending send(std::uint32_t to, std::uint64_t channel, base::Payload message);
  /// Receives the next message of the channel. The message is granted, so no window delays it.
  Receiving receive(std::uint32_t from, std::uint64_t channel);
  Sending send(std::uint32_t to, const NamedMessage& which, base::Payload message);
  /// Whether frames to that host leave one by one, as fast as a link or the next process takes
  /// them, and are small enough. If so, send from lent memory, because nothing is copied in
  /// advance. Otherwise send a payload, which several messages may share.
  bool is_paced(std::uint32_t to) const;
  /// Sends from or receives into the caller's memory. Frames are copied one by one. No other thread
  /// may read or write that memory meanwhile.
  Sending send(std::uint32_t to, const NamedMessage& which, LentMemory message);
  Receiving receive(std::uint32_t from, const NamedMessage& which, LentMemory place = {});
  /// Closes a channel: this host neither sends nor receives on it any more, and its state is
  /// forgotten. A message that still arrives ends its lane. Closing is cheapest in the order of
  /// channel numbers, without gaps. `what` is the channel's purpose; a host that sends such a
  /// message receives it in the error, unless another channel was closed since.
  void close(std::uint64_t channel, std::shared_ptr<const std::string> what = nullptr);
  /// Fails channels. Their unsent messages are dropped. Later sends and receives on them fail with
  /// the reason on every host of the group. Other channels continue.
  void fail(const Channels& which, const std::string& why,
            FailureCause cause = FailureCause::application);
  /// Sends the question to each host from which a message of the channel has not arrived, or for
  /// which one has not left. If the other host uses the channel for something else, or has closed
  /// it without that message, the channel and all higher ones fail on both hosts. If the other host
  /// will never join the group, its lanes end. Otherwise nothing happens.
  void ask(const LaneQuestion& question);
  /// Blocks until all messages of this host have left, then leaves the group. Throws TravelError if
  /// a message could not be sent; the group is left in any case.
  void leave();
  /// Leaves without waiting. Unsent messages are dropped; hosts that wait for them receive the
  /// reason.
  void abandon(const std::string& why);
  /// Leaves without waiting, after this host has done its part. Hosts that exchanged messages
  /// compare their parts. If they differ, or if another host used a channel for something else,
  /// MessageEndpoint::finish() reports it on at least one of them.
  void leave_after(const Participation& part);

 private:
  friend class MessageEndpoint;
  MessageGroup(std::weak_ptr<MessageEndpoint> lanes, LaneGroupName name, std::uint64_t id,
               SharedHosts hosts, GroupOptions options)
      : lanes_(std::move(lanes)),
        name_(std::make_shared<const LaneGroupName>(std::move(name))),
        id_(id),
        hosts_(std::move(hosts)),
        options_(options) {}
  template <class Handle>
  Handle handle(std::uint32_t peer, std::uint64_t channel, LentMemory lent = {}) const;
  /// Returns the endpoint. Throws UsageError if the peer or channel is invalid.
  MessageEndpoint& lanes_for(std::string_view what, std::uint32_t peer,
                             std::uint64_t channel) const;
  /// Returns nullptr if the host has ended, or in a forked process.
  std::shared_ptr<MessageEndpoint> lanes_here() const;

  const std::weak_ptr<MessageEndpoint> lanes_;
  const std::shared_ptr<const LaneGroupName> name_;
  const std::uint64_t id_;
  const SharedHosts hosts_;
  const GroupOptions options_;
};

}  // namespace paths
