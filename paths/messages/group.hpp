// SPDX-License-Identifier: Apache-2.0
// paths/messages/group.hpp — hosts that send each other messages without a path.
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

/// Hosts of a group, as the run's plan counts them.
using SharedHosts = std::shared_ptr<const std::vector<std::uint32_t>>;

/// What comes of a message, at its sender or its receiver. Shared by the handle and the lanes.
struct LaneWait {
  runtime::Completion completion;
  // Written before it completes:
  base::Payload message;  ///< of a receive, unless it is in its place
  bool is_in_place = false;
  Failure failure;  ///< null when it went well
  // Guarded by the lanes' mutex until then:
  LentMemory lent;         ///< what is sent, or where it goes if it has as many bytes
  bool is_let_go = false;  ///< it was lent, and is its owner's again: nobody wants the message
};

/// A message that its sender and its receiver call by the same name, on a channel that has no
/// others. No order holds between such messages but that in which their sender wants them sent.
struct NamedMessage {
  std::uint64_t channel = 0;
  std::uint64_t name = 0;              ///< once for each lane and channel
  std::uint64_t signature_digest = 0;  ///< what its channel is for: where two do not agree, the
                                       ///< channel and all with higher numbers fail
  /// Of all that waits to be sent in this group, whatever channel and target, the least goes first.
  std::uint64_t order = 0;
  /// Of what is sent: nothing of it moves before its receiver asks for it, whatever credit there
  /// is.
  bool waits_for_grant = false;
  /// Of what is received: to ask for it takes no time over emulated links, as where receivers keep
  /// to a plan that has room for asking.
  bool is_grant_at_once = false;
  /// Of what is received: it has few bytes and mostly comes by credit, so that on the steady clock
  /// it is asked for when credit gets short, or it has not come for a quarter of a second.
  bool is_little = false;
};

/// Numbers of channels, both included.
struct Channels {
  std::uint64_t first = 0;
  std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
};

/// What a host of a group took part in until it left, where that is to be the same for all.
struct Participation {
  std::uint64_t channels = 0;          ///< those below
  std::uint64_t signature_digest = 0;  ///< of all of them; 0: not to be compared
  std::string text = {};  ///< "after 4 operations, the last 'barrier'"; of one that has no
                          ///< meaning: why it left, "": for no reason
};

/// A question to the hosts for which a channel waits: whether what it waits for can still happen.
struct LaneQuestion {
  std::uint64_t channel = 0;
  std::uint64_t signature_digest = 0;  ///< not 0: what the asking host takes the channel for
  // The group that this one was split from, and the channel of the split; 0 and 0: none.
  std::uint64_t parent = 0;
  std::uint64_t parent_channel = 0;
  /// The threads of a host that are in the group, as Host::why_absent() reads them; "": not said.
  std::function<std::string(std::uint32_t host)> threads;
};

/// Of a group, for messages to people, also when its host has ended.
struct LaneGroupName {
  std::string name;
  std::shared_ptr<const Plan> plan;
};

/// What is under way, and the memory that was lent for it, which is its owner's again once it is
/// complete or its handle is dropped.
class LaneHandle {
 public:
  LaneHandle() = default;
  LaneHandle(LaneHandle&&) noexcept = default;
  LaneHandle& operator=(LaneHandle&& other) noexcept;
  ~LaneHandle() { let_go(); }
  std::shared_ptr<runtime::Completion> completion() const { return {wait_, &wait_->completion}; }

 protected:
  void wait_until_through();
  const LaneWait& what_came() const { return *wait_; }

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

/// A message on its way. Dropping it lets the message go on, but for one in lent memory: what of it
/// has not left yet never will, so that whoever drops it fails its channel.
class Sending : public LaneHandle {
 public:
  /// The first link, or the connection, has taken the last byte.
  bool sent() const { return what_came().completion.done(); }
  /// Blocks until it is sent. Throws TravelError when it never will be, and at the deadline.
  void wait() { wait_until_through(); }
};

/// A message that is waited for. Dropping it drops the message when it comes.
class Receiving : public LaneHandle {
 public:
  bool arrived() const { return what_came().completion.done(); }
  /// Blocks until all of it has come. Throws TravelError when it never will, and at the deadline.
  /// Answers nothing of what is in its place.
  base::Payload wait();
  /// Whether it has come into the memory lent for it, which is the case if it had as many bytes.
  bool is_in_place() const { return what_came().is_in_place; }
};

struct GroupOptions {
  /// Channels are numbered from 0; a message of one beyond is refused.
  std::uint64_t channels = std::uint64_t{1} << 32;
  /// Credit to aim at for each source, in bytes; 0: what the way there and back can hold, at least
  /// a frame.
  std::uint64_t window_bytes = 0;
  /// Returns text about this host's use of a channel, for messages to people; "": none is known.
  /// Called with the mutex of the lanes held, until this host leaves the group.
  std::function<std::string(std::uint64_t channel)> describe = {};
};

/// The lanes between some hosts of a run: a lane is what flows from one of them to another. The
/// messages of a channel come in the order in which they were sent, and those of different
/// channels in any.
///
/// Why:     broadcasts of large vectors, exchanges of all with all and groups that come and go have
///          no tree that could be declared before the run.
/// Types:   a message arrives as bytes of unknown type, of whatever values it was made.
/// Window:  a message travels when the receiver has issued credit for it, or asks for it. So a
///          message that nobody receives may never be sent, and one that somebody waits for always
///          is.
/// Sharing: any context may call anything; of two that use one channel of one lane at once, either
///          may be first. It may outlive its host, and is of no use then; not while the host ends.
/// Blocks:  only leave() and the handles' wait().
/// Throws:  UsageError for a host outside the group, the caller's own, a channel that there is not,
///          after leave(), and when the host has ended. What the world does comes with the
///          handles: TravelError.
class MessageGroup {
 public:
  ~MessageGroup();  ///< leaves it without waiting: what was not sent never will be
  MessageGroup(const MessageGroup&) = delete;
  MessageGroup& operator=(const MessageGroup&) = delete;

  const std::string& name() const { return name_->name; }
  /// Tells groups of a run apart, also those of one name.
  std::uint64_t id() const { return id_; }
  const std::vector<std::uint32_t>& hosts() const { return *hosts_; }
  /// For messages to people.
  std::string host_name(std::uint32_t host) const;
  std::string own_host_name() const;
  /// Clauses with what may keep messages from arriving, as far as this host knows; "" = nothing.
  /// They name a switch that is a process and has not answered, and the first host that was lost.
  std::string known_cause_text() const;

  Sending send(std::uint32_t to, std::uint64_t channel, base::Payload message);
  /// Asks for the next message of that channel. It is granted: no window holds it up.
  Receiving receive(std::uint32_t from, std::uint64_t channel);
  Sending send(std::uint32_t to, const NamedMessage& which, base::Payload message);
  /// Whether frames of a message there leave one by one, as fast as a link or the next process
  /// takes them, and are small enough: then nothing of it is copied before. Else all leaves at
  /// once, and is better given as a payload, which several messages may share.
  bool is_paced(std::uint32_t to) const;
  /// The same of what lies in memory of the caller's, or is to lie there: frame by frame it is
  /// copied out or in, and read or written by nobody else meanwhile.
  Sending send(std::uint32_t to, const NamedMessage& which, LentMemory message);
  Receiving receive(std::uint32_t from, const NamedMessage& which, LentMemory place = {});
  /// Nothing will be sent or received on that channel any more: what is known of it is forgotten,
  /// and a message that still comes ends its lane. Cheapest where channels are closed in the order
  /// of their numbers, and none is left out. Who sends such a message is told what the channel was
  /// for, where that is said and none was closed since.
  void close(std::uint64_t channel, std::shared_ptr<const std::string> what = nullptr);
  /// What those channels are for has failed: what was not sent on them never will be, and whoever
  /// sends or receives there, now or later, on any host of the group, is told why. Others go on.
  void fail(const Channels& which, const std::string& why);
  /// Sends the question to each host from which a message of the channel has not arrived, or for
  /// which one has not left. The channel and all with higher numbers fail, with the reason, on both
  /// sides if the other host takes it for something else, or has closed it without that message. If
  /// the other host will never be in the group, its lanes end. Otherwise nothing happens.
  void ask(const LaneQuestion& question);
  /// Waits until what this host sent has left it, and tells the others that nothing more will come.
  /// Throws TravelError when something could not be sent; it has left the group all the same.
  void leave();
  /// Leaves without waiting: what was not sent never will be, and who waits for it is told why.
  void abandon(const std::string& why);
  /// The same of a host that has done its part, which hosts that sent each other anything compare:
  /// where two differ, MessageEndpoint::finish() says so on one of them at least. It also says so
  /// if another host took one of the channels for something else.
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
  /// Throws UsageError for what nobody may ask.
  MessageEndpoint& lanes_for(std::string_view what, std::uint32_t peer,
                             std::uint64_t channel) const;
  /// Null when the host has ended, or in a process made by fork.
  std::shared_ptr<MessageEndpoint> lanes_here() const;

  const std::weak_ptr<MessageEndpoint> lanes_;
  const std::shared_ptr<const LaneGroupName> name_;
  const std::uint64_t id_;
  const SharedHosts hosts_;
  const GroupOptions options_;
};

}  // namespace paths
