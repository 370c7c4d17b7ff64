// SPDX-License-Identifier: Apache-2.0
// pricing/streams.cpp — turns of pairs of hosts.
#include "pricing/streams.hpp"

namespace pricing {

Streams::Streams(const Link& link, std::size_t striping)
    : link_(link.model),
      stream_(base::Nanos(0), link.stream_rate),
      most_streams_(link.streams == 0 ? std::numeric_limits<std::size_t>::max() : link.streams),
      striping_(striping) {}

void Streams::take_turn(Pair pair, Queue& queue) {
  if (queue.has_turn || queue.frames.empty() || queue.streams_taken == striping_) return;
  queue.has_turn = true;
  turns_.push_back(pair);
}

void Streams::offer(Pair pair, Frame frame) {
  Queue& queue = queues_[pair];
  queue.frames.push_back(frame);
  take_turn(pair, queue);
}

void Streams::end_of_stream(Pair pair) {
  Queue& queue = queues_[pair];
  --queue.streams_taken;
  --streams_taken_;
  take_turn(pair, queue);
}

std::optional<Streams::Start> Streams::start(base::Nanos now) {
  if (turns_.empty() || streams_taken_ == most_streams_ || link_.free_at() > now)
    return std::nullopt;
  const Pair pair = turns_.front();
  turns_.pop_front();
  Queue& queue = queues_[pair];
  const Frame frame = queue.frames.front();
  queue.frames.pop_front();
  ++queue.streams_taken;
  ++streams_taken_;
  queue.has_turn = false;
  take_turn(pair, queue);
  const base::Nanos stream_free = stream_.pass(now, now, frame.bytes).free_again;
  const base::Nanos tail = std::max(frame.tail, stream_free);
  return Start{frame, pair, link_.carry(now, tail - now, frame.bytes), stream_free};
}

}  // namespace pricing
