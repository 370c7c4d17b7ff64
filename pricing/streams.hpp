// SPDX-License-Identifier: Apache-2.0
// pricing/streams.hpp — frames that wait for a stream, a slot and a link.
#pragma once
#include <deque>
#include <map>
#include <optional>

#include "pricing/network.hpp"
#include "tuning/link_instance.hpp"

namespace pricing {

/// A link whose streams are slower than it is. A frame waits for a free stream of its pair of
/// hosts, in one queue per pair, then for one of the link's streams, then for the link; waiting
/// reserves nothing, and the link takes what it may in the order in which it became so.
class Streams {
 public:
  using Pair = std::pair<collectives::Rank, collectives::Rank>;
  struct Frame {
    std::uint32_t message;
    std::uint32_t number;  ///< in its message
    Bytes bytes;
    Bytes credit;      ///< that it has used
    base::Nanos tail;  ///< when the link is offered its end
  };
  struct Start {
    Frame frame;
    Pair pair;
    tuning::LinkInstance::Passage passage;
    base::Nanos stream_free;  ///< when end_of_stream() is due
  };

  Streams(const Link& link, std::size_t striping);
  void offer(Pair pair, Frame frame);
  void end_of_stream(Pair pair);
  /// The frame that starts now, if any does; asked anew whenever something came or ended.
  std::optional<Start> start(base::Nanos now);

 private:
  struct Queue {
    std::deque<Frame> frames;
    std::size_t streams_taken = 0;
    bool has_turn = false;
  };
  void take_turn(Pair pair, Queue& queue);

  tuning::LinkInstance link_;
  tuning::LinkModel stream_;
  std::size_t most_streams_;
  std::size_t striping_;
  std::map<Pair, Queue> queues_;
  std::deque<Pair> turns_;  // pairs with a frame and a free stream
  std::size_t streams_taken_ = 0;
};

}  // namespace pricing
