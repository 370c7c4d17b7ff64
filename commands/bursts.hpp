// SPDX-License-Identifier: Apache-2.0
// commands/bursts.hpp — messages of several pairs of hosts at once, and how long they take.
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

/// A stream of messages.
struct HostPair {
  std::uint32_t from = 0, to = 0;
};

/// One host times what others, and itself, send: it tells those that receive how often, waits until
/// they are ready, and tells those that send when. Each receiver says when its last message came.
///
/// Time:    from the word to send until the last receiver had all, where the hosts have one clock;
///          else until its word of that was back. Words take as long for any size, so a difference
///          of two sizes is without them either way.
/// Sharing: one thread's. The other hosts call help() meanwhile.
/// Blocks:  all of it. Throws TravelError when a host is lost.
class Bursts {
 public:
  Bursts(paths::Thread& thread, paths::MessageGroup& group, bool is_one_clock);

  /// So many bursts of each size, the sizes in turns; times by size.
  std::vector<std::vector<base::Nanos>> batch(const std::vector<HostPair>& pairs,
                                              const std::vector<std::uint64_t>& sizes,
                                              std::size_t samples);
  /// Those hosts need help no more.
  void release(const std::vector<std::uint32_t>& hosts);

  bool is_one_clock() const { return is_one_clock_; }
  std::uint64_t bytes() const { return bytes_; }  ///< sent, but for words
  paths::Thread& thread() { return thread_; }

 private:
  using Peers = std::map<std::uint32_t, std::vector<std::uint32_t>>;
  void make_ready(const Peers& sources_of, std::uint64_t rounds);
  base::Nanos one(const Peers& sources_of, const Peers& targets_of, std::uint64_t size);

  paths::Thread& thread_;
  paths::MessageGroup& group_;
  const bool is_one_clock_;
  std::uint64_t bytes_ = 0;
};

/// Sends and receives as that host says, until it needs no more.
void help(paths::Thread& thread, paths::MessageGroup& group, std::uint32_t initiator);

/// Whether those hosts, which call help(), read the clock that this one reads. An address is no
/// proof of that: behind forwarded ports there are other machines.
bool have_our_clock(const paths::Thread& thread, paths::MessageGroup& group,
                    const std::vector<std::uint32_t>& hosts);

/// Waits for a word that may come any time, as long as who sends it is there.
base::Payload patiently(paths::Receiving receiving);

}  // namespace commands
