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
#include "paths/messages/channel_range.hpp"
#include "paths/messages/channels/lent_memory.hpp"
#include "paths/messages/ended_channels.hpp"
#include "paths/travel_error.hpp"
#include "runtime/handle.hpp"

namespace paths {

class MessageEndpoint;
struct Plan;

/// Numbers of a group's hosts in the plan of the run.
using SharedHosts = std::shared_ptr<const std::vector<std::uint32_t>>;

/// A received message.
struct Received {
  base::Payload payload;  ///< empty if the message is in lent memory
  /// Whether the message was written into the lent memory. It is written there only if the message
  /// and the memory have the same size.
  bool is_in_place = false;
};

/// State of one send or one receive. The handle of the message and the endpoint share this object.
struct LaneWait {
  runtime::Completion completion;
  /// The caller's memory from which the message is sent, or into which the message is received;
  /// empty if the caller lends no memory. The handle sets this member.
  LentMemory lent;
  // The endpoint writes `received` and `failure` before completion.
  Received received;
  Failure failure;  ///< nullptr on success
  /// Whether the caller has dropped the handle of a message in lent memory. The endpoint then no
  /// longer uses this memory. The mutex of the endpoint guards this member until completion.
  bool is_abandoned = false;
};

/// Identifies a message by a name that its sender and its receiver know. A channel with named
/// messages carries no messages without names. Only the member `order` of the sender decides the
/// order of named messages.
struct NamedMessage {
  std::uint64_t channel = 0;
  std::uint64_t name = 0;  ///< unique within its lane and channel
  /// Digest of the purpose of the channel. If the digests of two hosts differ, the channel and all
  /// higher channels fail.
  std::uint64_t signature_digest = 0;
  /// Priority among all waiting named messages of the group over one outgoing link, in all channels
  /// and to all targets. The message with the lowest value is sent first.
  std::uint64_t order = 0;
  /// For sending: whether the message waits for a grant even if there is enough credit.
  bool waits_for_grant = false;
  /// For receiving: whether emulated links carry the grant without delay. Set by schedules whose
  /// predicted time includes no time for grants.
  bool is_grant_at_once = false;
  /// For receiving: whether the message is small, so that the sender usually sends it with credit.
  /// On the steady clock the grant of such a message is sent only if the sender has little credit,
  /// or after 250 ms.
  bool is_little = false;
  bool has_name = true;  ///< false = the message is numbered: it is the next message of its channel
};

/// Summary of the operations in which a host took part before it left a group. All hosts of the
/// group should take part in the same operations.
struct Participation {
  std::uint64_t channels = 0;          ///< number of used channels; their numbers begin at 0
  std::uint64_t signature_digest = 0;  ///< digest of all operations; 0 = must not be compared
  /// Description, such as "after 4 operations, the last 'barrier'". If the digest is 0, this is
  /// instead the reason why the host left; "" if there is no reason.
  std::string text = {};
};

/// A question to each host for which a channel waits: whether the host can still send or receive
/// the awaited message.
struct LaneQuestion {
  std::uint64_t channel = 0;
  /// Digest of the purpose for which the asking host uses the channel; never 0.
  std::uint64_t signature_digest = 0;
  /// Id of the group from which this group was split; 0 if this group is not the result of a split.
  std::uint64_t parent = 0;
  /// Channel of the parent group on which the split was made; 0 if there is no parent.
  std::uint64_t parent_channel = 0;
  /// Function that returns a list of those threads of `host` that are in the group, in the form
  /// that Host::why_absent() reads; "" if the threads are not known.
  std::function<std::string(std::uint32_t host)> threads;
};

/// Name and plan of a group for error messages. The object remains valid after the end of the host.
struct LaneGroupName {
  std::string name;
  std::shared_ptr<const Plan> plan;
};

struct GroupOptions {
  /// Number of channels, which are numbered from 0. Messages on higher channels are refused.
  std::uint64_t channels = std::uint64_t{1} << 32;
  /// Credit in bytes that each source should have. 0 = the number of bytes that can be under way in
  /// one round trip to the source, plus two frames.
  std::uint64_t window_bytes = 0;
  /// Function that returns a text about this host's use of a channel, for error messages; "" if the
  /// use is not known. The endpoint holds its mutex when it calls the function. After this host has
  /// left the group, the function is not called.
  std::function<std::string(std::uint64_t channel)> describe = {};
};

/// A group of hosts that exchange messages without a path.
///
/// A lane is the flow of messages from one host to another host. Messages of one channel arrive in
/// the order of sending. Messages of different channels arrive in any order. A message arrives as
/// bytes of unknown type.
///
/// A message is sent only after the receiver has issued credit for it or has granted it. The
/// receiver grants each message for which it calls receive(), so such a message is always sent. A
/// message whose receiver never calls receive() may never be sent.
///
/// Why: paths form trees that are declared before the run. Broadcasts of large vectors, all-to-all
///      exchanges and changing groups do not fit into such trees.
/// Thread-safe: all functions. Two concurrent calls on one channel of one lane take effect in
///              either order. The group may outlive its host; calls then throw. No call may overlap
///              the end of the host.
/// Blocks: leave(), and wait() of the handles.
/// Throws: UsageError for a host outside the group, for the caller's own host, and for an unknown
///         channel. UsageError also after leave() and after the end of the host. The handles throw
///         TravelError after failures of hosts and links.
class MessageGroup {
 public:
  ~MessageGroup();  ///< leaves the group without waiting; drops unsent messages
  MessageGroup(const MessageGroup&) = delete;
  MessageGroup& operator=(const MessageGroup&) = delete;

  const std::string& name() const { return name_->name; }
  /// Returns a number that differs between the groups of a run, even between groups with the same
  /// name.
  std::uint64_t id() const { return id_; }
  const std::vector<std::uint32_t>& hosts() const { return *hosts_; }
  /// Returns the name of a host, or of a switch, for error messages.
  std::string host_name(std::uint32_t host) const;
  std::string own_host_name() const;
  /// Returns the known causes for which messages may not arrive; "" if there are none. The causes
  /// are a switch process that has not replied, and the first lost host. The text has one clause
  /// for each cause, to be appended to a sentence.
  std::string known_cause_text() const;

  /// Sends a message. The operation ends when the last byte has been passed to the first link of
  /// the route, or to the connection if there is no link. The function wait() of the handle throws
  /// TravelError if the message cannot be sent, or at the deadline. If the handle is dropped, the
  /// message is still sent.
  runtime::Handle<void> send(std::uint32_t to, std::uint64_t channel, base::Payload message) {
    return send(to, NamedMessage{.channel = channel, .has_name = false}, std::move(message));
  }
  runtime::Handle<void> send(std::uint32_t to, const NamedMessage& which, base::Payload message);
  /// Receives the next message of the channel. The call grants the message, so that the sender
  /// needs no credit for it. The operation ends when the whole message has arrived. The handle's
  /// wait() throws TravelError if the message cannot arrive, or at the deadline. If the handle is
  /// dropped, the message is dropped when it arrives.
  runtime::Handle<Received> receive(std::uint32_t from, std::uint64_t channel) {
    return receive(from, NamedMessage{.channel = channel, .has_name = false});
  }
  /// Returns whether frames to the host `to` are small and leave one by one, at the speed of a link
  /// or of the next process. If true, the caller should send messages from lent memory, because
  /// each frame is then copied only when it leaves. If false, the caller should send messages as
  /// payloads, because several messages can share a payload.
  bool is_paced(std::uint32_t to) const;
  /// Sends a message from the caller's memory. Frames are copied one by one. The endpoint uses the
  /// memory until the operation ends or the handle is dropped. Until then no other code may write
  /// the memory. If the handle is dropped, the rest of the message is never sent. The caller must
  /// then fail the channel.
  runtime::Handle<void> send(std::uint32_t to, const NamedMessage& which, LentMemory message);
  /// Receives a message into the caller's memory. The endpoint uses the memory until the operation
  /// ends or the handle is dropped. Until then no other code may read or write the memory.
  runtime::Handle<Received> receive(std::uint32_t from, const NamedMessage& which,
                                    LentMemory place = {});
  /// On the virtual clock, lets the processor of this host work for the duration `time`. The
  /// operation ends when the work is done. If several pieces of work are requested at the same
  /// simulated time, the work with the lowest `order` is done first. If the config states no costs
  /// of hosts, the work takes no time.
  runtime::Handle<void> work(base::Nanos time, std::uint64_t order) const;
  /// Closes a channel and removes its state. This host must not send or receive on the channel any
  /// more. If a message of the channel arrives later, the lane of the message ends with an error.
  /// If this channel was the last to be closed, the error contains its purpose `what`. A host
  /// should close its channels in the order of their numbers, without gaps, because the endpoint
  /// then stores only one number for all closed channels.
  ///
  /// If this host has done its part without messages, `signature_digest` is the digest of the
  /// purpose; otherwise it is 0. A later ask() of another host with the same digest then fails
  /// nothing.
  void close(std::uint64_t channel, std::shared_ptr<const std::string> what = nullptr,
             std::uint64_t signature_digest = 0);
  /// Fails channels on all hosts of the group. Drops the unsent messages of these channels. Later
  /// sends and receives on these channels fail with the reason `why`. Other channels continue.
  void fail(const Channels& which, const std::string& why,
            FailureCause cause = FailureCause::application);
  /// Asks the hosts for which the channel waits whether the awaited message is still possible. The
  /// channel waits for a host if a message from the host has not arrived, or if a message to the
  /// host has not left. The reply of the other host has one of three effects:
  /// - The other host uses the channel for a different purpose, or has closed the channel without
  ///   sending the awaited message. The channel and all higher channels then fail on both hosts.
  /// - The other host will never join the group. Its lanes then end.
  /// - Otherwise nothing happens.
  void ask(const LaneQuestion& question);
  /// Leaves the group after all messages of this host have left.
  /// Blocks: until all messages of this host have left or failed.
  /// Throws: TravelError, after leaving the group, if a message could not be sent.
  void leave();
  /// Leaves without waiting. Drops unsent messages. The hosts that wait for these messages get the
  /// reason `why`.
  void abandon(const std::string& why);
  /// Leaves without waiting, after this host has done its part in the operations `part`. Hosts that
  /// exchanged messages compare the operations in which they took part. If the operations of two
  /// hosts differ, MessageEndpoint::finish() reports an error on at least one of the two hosts. The
  /// same happens if the two hosts used a channel for different purposes.
  void leave_after(const Participation& part);

 private:
  friend class MessageEndpoint;
  MessageGroup(std::weak_ptr<MessageEndpoint> lanes, LaneGroupName name, std::uint64_t id,
               SharedHosts hosts, GroupOptions options, std::shared_ptr<EndedChannels> ended)
      : lanes_(std::move(lanes)),
        name_(std::make_shared<const LaneGroupName>(std::move(name))),
        id_(id),
        hosts_(std::move(hosts)),
        options_(std::move(options)),
        ended_(std::move(ended)) {}
  template <class T>
  class StartedMessage;
  class StartedWork;
  template <class T>
  runtime::Handle<T> start(std::uint32_t peer, const NamedMessage& which, base::Payload message,
                           LentMemory lent) const;
  /// Returns the endpoint.
  /// Throws: UsageError if the peer or channel is invalid.
  MessageEndpoint& lanes_for(std::string_view what, std::uint32_t peer,
                             std::uint64_t channel) const;

  const std::weak_ptr<MessageEndpoint> lanes_;
  const std::shared_ptr<const LaneGroupName> name_;
  const std::uint64_t id_;
  const SharedHosts hosts_;
  const GroupOptions options_;
  const std::shared_ptr<EndedChannels> ended_;
};

}  // namespace paths
