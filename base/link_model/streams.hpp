// SPDX-License-Identifier: Apache-2.0
// base/link_model/streams.hpp — queueing of frames for a stream and a link
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/link_model/link.hpp"
#include "base/link_model/link_instance.hpp"

namespace tuning {

/// The streams of a link. Each stream is slower than the link, like a TCP connection with a small
/// window. A frame first waits for a free stream of its pair of hosts, in one queue per pair. Then
/// it waits until the number of sending streams is below the limit of the link. Last, it waits for
/// the link itself. A waiting frame occupies neither a stream nor the link. The link serves frames
/// in the order in which they became ready. A stream is free again when its frame has been sent.
/// The next frame to be sent may belong to another pair of hosts.
///
/// Units: the caller provides all times. The caller must call start() after each offer() of a
///   frame, and after each end_of_stream() (a report that a frame has freed its stream). On a real
///   clock, calls of start() and end_of_stream() may be late. No frame starts before the latest
///   time passed to end_of_stream(), or before its own head has arrived.
/// Thread-safe: no.
template <class Item>
class Streams {
 public:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;  ///< source host and target host
  struct Frame {
    Item item;
    std::uint64_t bytes = 0;
    base::Nanos head{0};  ///< time at which the first byte has arrived
    base::Nanos tail{0};  ///< time from which the last byte can be sent
  };
  struct Start {
    Item item;
    Pair pair;
    LinkInstance::Passage passage;
    base::Nanos begin{0};
    base::Nanos stream_free{0};  ///< time at which the caller must call end_of_stream()
  };

  /// `striping` is the number of streams of each pair of hosts.
  Streams(const Link& link, std::size_t striping)
      : stream_(base::Nanos(0), link.stream_rate),
        most_taken_(link.streams == 0 ? std::numeric_limits<std::size_t>::max() : link.streams),
        striping_(striping) {}

  void offer(Pair pair, Frame frame) {
    Queue& queue = queues_[pair];
    queue.frames.push_back(std::move(frame));
    take_turn(pair, queue);
  }

  void end_of_stream(Pair pair, base::Nanos at) {
    last_end_ = std::max(last_end_, at);
    const auto found = queues_.find(pair);
    Queue& queue = found->second;
    --queue.taken;
    --taken_;
    take_turn(pair, queue);
    if (queue.taken == 0 && queue.frames.empty()) queues_.erase(found);
  }

  /// Returns whether a frame waits only for the link itself: a stream of its pair of hosts is free,
  /// and fewer streams send than the link allows.
  bool waits_for_link() const { return !turns_.empty() && taken_ < most_taken_; }

  /// Starts the next frame over `link` at the time `now` and returns it. Returns nullopt if no
  /// frame can start at that time.
  std::optional<Start> start(base::Nanos now, LinkInstance& link) {
    now = std::max(now, last_end_);
    if (!waits_for_link() || link.free_at() > now) return std::nullopt;
    const Pair pair = turns_.front();
    turns_.pop_front();
    Queue& queue = queues_.at(pair);
    Frame frame = std::move(queue.frames.front());
    queue.frames.pop_front();
    ++queue.taken;
    ++taken_;
    queue.has_turn = false;
    take_turn(pair, queue);
    const base::Nanos begin = std::max(now, frame.head);
    const base::Nanos stream_free = stream_.pass(begin, begin, frame.bytes).free_again;
    const base::Nanos tail = std::max(frame.tail, stream_free);
    return Start{std::move(frame.item), pair, link.carry(begin, tail - begin, frame.bytes), begin,
                 stream_free};
  }

 private:
  struct Queue {
    std::deque<Frame> frames;
    std::size_t taken = 0;
    bool has_turn = false;
  };
  void take_turn(Pair pair, Queue& queue) {
    if (queue.has_turn || queue.frames.empty() || queue.taken == striping_) return;
    queue.has_turn = true;
    turns_.push_back(pair);
  }

  LinkModel stream_;
  std::size_t most_taken_;
  std::size_t striping_;
  std::map<Pair, Queue> queues_;
  std::deque<Pair> turns_;  // pairs of hosts with a waiting frame and a free stream
  std::size_t taken_ = 0;
  base::Nanos last_end_{0};
};

}  // namespace tuning
