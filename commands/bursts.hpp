// SPDX-License-Identifier: Apache-2.0
// commands/bursts.hpp — timed bursts of messages between several pairs of hosts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/payload.hpp"
#include "base/units.hpp"
#include "paths/host/thread.hpp"
#include "paths/messages/group.hpp"

namespace commands {

/// Sending and receiving host of a stream of messages.
struct HostPair {
  std::uint32_t from = 0, to = 0;
};

/// Times of a train. A train is a sequence of messages that this host sends to another host without
/// pauses between them.
struct TrainTime {
  base::Nanos departed{0};  ///< from the first send until the last message has left this host
  /// From the first send until this host has received the other host's report, and all returned
  /// messages.
  base::Nanos done{0};
  /// Time that passes on the other host. It begins when that host reports that it is ready. If
  /// messages are returned, the time ends when the last returned message has left. Otherwise the
  /// time ends when the last message has arrived.
  base::Nanos at_target{0};
};

/// Measures the times of bursts: messages that several hosts send at the same time. This host is
/// the initiator. The initiator first announces to each receiver which messages to expect, and
/// waits until all receivers are ready. For each burst, it then requests the messages from the
/// senders. Each receiver reports when its last message of the burst has arrived.
///
/// Units: A measured time begins when the initiator requests the messages. If the hosts share a
///        clock, the time ends when the last receiver has all messages. Otherwise the time ends
///        when the initiator has the last report. Requests and reports take the same time for every
///        message size, so their time cancels in the difference between the times of two sizes.
/// Thread-safe: no.
/// Blocks: every call.
/// Requires: the other hosts are in help() during every call.
/// Throws: TravelError if a host is lost.
class Bursts {
 public:
  Bursts(paths::Thread& thread, paths::MessageGroup& group, bool is_one_clock);

  /// Runs `samples` bursts of each size, and changes the size after each burst. Returns the times,
  /// indexed by size and sample.
  std::vector<std::vector<base::Nanos>> batch(const std::vector<HostPair>& pairs,
                                              const std::vector<std::uint64_t>& sizes,
                                              std::size_t samples);
  /// Sends `trains` trains to another host, one after another. Each train has `count` messages of
  /// `size` bytes, without pauses between them. If `is_returned`, the other host sends each message
  /// back when the message arrives. The other host reports when its part of a train has ended.
  /// Before each train, both hosts call receive() for all messages that they will get. The messages
  /// of a train are sent in the same way as the messages of a schedule.
  std::vector<TrainTime> exchange(std::uint32_t target, std::uint64_t size, std::size_t count,
                                  bool is_returned, std::size_t trains);
  /// Ends the calls of help() on these hosts.
  void release(const std::vector<std::uint32_t>& hosts);

  bool is_one_clock() const { return is_one_clock_; }
  std::uint64_t bytes() const { return bytes_; }  ///< bytes of all bursts so far
  paths::Thread& thread() { return thread_; }

 private:
  using Peers = std::map<std::uint32_t, std::vector<std::uint32_t>>;
  void make_ready(const Peers& sources_of, std::uint64_t rounds);
  TrainTime exchange_one(std::uint32_t target, const base::Payload& message, std::size_t count,
                         bool is_returned);
  base::Nanos one(const Peers& sources_of, const Peers& targets_of, std::uint64_t size);

  paths::Thread& thread_;
  paths::MessageGroup& group_;
  const bool is_one_clock_;
  std::uint64_t bytes_ = 0;
  std::uint32_t next_name_ = 0;  // name (number) of the first message of the next train
};

/// On a host other than the initiator, carries out the initiator's requests to send and receive,
/// until the initiator calls release().
void help(paths::Thread& thread, paths::MessageGroup& group, std::uint32_t initiator);

/// Returns whether all `hosts` read the same clock as this host. The function asks each host for
/// the identity of its clock. Equal addresses would not prove this, because a forwarded port leads
/// to another machine.
/// Requires: the hosts are in help().
bool have_our_clock(const paths::Thread& thread, paths::MessageGroup& group,
                    const std::vector<std::uint32_t>& hosts);

/// Waits, without a deadline, until a message arrives. Returns the content of the message.
/// Throws: TravelError if the sender of the message is lost.
base::Payload patiently(runtime::Handle<paths::Received> receiving);

}  // namespace commands
