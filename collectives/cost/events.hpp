// SPDX-License-Identifier: Apache-2.0
// collectives/cost/events.hpp — queue of simulated events, ordered by time.
#pragma once
#include <algorithm>
#include <tuple>
#include <vector>

#include "base/units.hpp"
#include "collectives/schedule/block.hpp"

namespace pricing {

enum class Kind : std::uint8_t {
  prepared,     ///< the source has spent its processor time for the message or for the frame
  frame_out,    ///< the outgoing side or link can take the next frame of the source
  arrived,      ///< the last byte of a frame has arrived
  received,     ///< the target has spent its processor time for the frame
  taken,        ///< the target has spent its processor time for the message
  computed,     ///< host `source` has finished a reduction or a copy
  granted,      ///< a grant for a message has arrived at the source
  credited,     ///< returned credit has arrived at the source
  port_free,    ///< a sending port of the source is free
  link_free,    ///< a link with streams can take the next frame
  stream_free,  ///< a stream of a link is free
  // The kinds below concern the first byte (head) of a frame. The exit of a cluster is the host
  // through which its frames leave and enter.
  at_exit,   ///< the head is at the exit of the source's cluster
  at_link,   ///< the head is at the link between the clusters
  at_entry,  ///< the head is at the exit of the target's cluster
  at_host,   ///< the head is at the target host
  in_exit,   ///< the head is at the processor of the source cluster's exit
  in_entry,  ///< the head is at the processor of the target cluster's exit
};

struct Event {
  base::Nanos time;
  Kind kind;
  collectives::Rank source;
  // Number of a message, target, link, slot or class of ports, depending on `kind`.
  std::uint32_t item;
  std::uint32_t frame;
  std::uint64_t step;
  base::Nanos lag{0};
  std::uint64_t bytes = 0;
  // Host whose processor ends a piece of work with this event; `none` if the event ends no work.
  collectives::Rank worker = none;
  static constexpr collectives::Rank none = ~collectives::Rank{0};

  bool is_head() const { return kind >= Kind::at_exit; }
  auto key() const { return std::tuple(is_head(), source, step, frame, kind, item); }
};

/// A queue of events, sorted by time. Events of one instant are sorted by key().
class Events {
 public:
  bool empty() const { return order_.empty(); }
  base::Nanos next_time() const { return order_.front().time; }
  void push(const Event& event) {
    order_.push_back({event.time, order_of(event), place(event)});
    std::push_heap(order_.begin(), order_.end(), Later{events_});
  }
  Event pop() {
    std::pop_heap(order_.begin(), order_.end(), Later{events_});
    vacant_.push_back(order_.back().place);
    order_.pop_back();
    return events_[vacant_.back()];
  }

 private:
  struct Entry {  // small, because the queue copies entries often
    base::Nanos time;
    std::uint32_t order;  // is_head() and the source: the first two members of key()
    std::uint32_t place;
  };
  static std::uint32_t order_of(const Event& event) {
    constexpr std::uint32_t head = std::uint32_t{1} << 31;  // a bit that no rank uses
    return event.source | (event.is_head() ? head : 0);
  }
  struct Later {
    const std::vector<Event>& events;
    bool operator()(const Entry& left, const Entry& right) const {
      if (left.time != right.time) return left.time > right.time;
      if (left.order != right.order) return left.order > right.order;
      return events[left.place].key() > events[right.place].key();
    }
  };
  std::uint32_t place(const Event& event) {
    if (vacant_.empty()) {
      events_.push_back(event);
      return static_cast<std::uint32_t>(events_.size() - 1);
    }
    const std::uint32_t place = vacant_.back();
    vacant_.pop_back();
    events_[place] = event;
    return place;
  }

  std::vector<Entry> order_;  // heap, with the earliest event at the front
  std::vector<Event> events_;
  std::vector<std::uint32_t> vacant_;  // free indices of `events_`
};

}  // namespace pricing
