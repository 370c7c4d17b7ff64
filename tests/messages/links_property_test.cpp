// SPDX-License-Identifier: Apache-2.0
// tests/messages/links_property_test.cpp — arrival times of random messages over networks, exits,
// gateways, switches and links with streams. A direct simulation must give the same times.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <random>
#include <string>

#include "tests/support/clocks.hpp"
#include "tests/support/lane_hosts.hpp"

namespace {

using namespace std::chrono_literals;
using test_support::LaneHosts;
using Time = std::int64_t;  // nanoseconds

/// One direction of a link. Its rates are given as times per byte; 0 = unlimited rate.
struct LinkCase {
  Time latency = 0, byte = 0, stream_byte = 0;
  std::size_t streams = 0;

  std::string text() const {
    std::string all = fmt::format("{{latency: {}ns", latency);
    const auto rate = [](Time one) { return fmt::format("{}bit", 8'000'000'000 / one); };
    if (byte > 0) all += ", bandwidth: " + rate(byte);
    if (stream_byte > 0) all += ", stream_rate: " + rate(stream_byte);
    if (streams > 0) all += fmt::format(", streams: {}", streams);
    return all + "}";
  }
};

struct ClusterCase {
  LinkCase network;
  // Time per byte at the exit; 0 = the same time as at the other hosts of the cluster.
  Time exit_byte = 0;
  bool receives = false, has_switch = false;
};

struct Message {
  std::uint32_t from = 0, to = 0;
  std::uint64_t bytes = 0;
  Time ready = 0;
};

struct Case {
  explicit Case(std::uint64_t seed) : random(seed) {
    for (std::uint64_t left = 1 + draw(2); left > 0; --left) {
      sizes.push_back(1 + static_cast<std::uint32_t>(draw(3)));
      ClusterCase one;
      one.network = {static_cast<Time>(draw(100'000)), byte_time(), 0, 0};
      one.receives = draw(1) == 1;
      one.has_switch = draw(1) == 1;
      if (!one.has_switch && draw(1) == 1) one.exit_byte = byte_time();
      clusters.push_back(one);
    }
    for (std::uint32_t from = 0; from < sizes.size(); ++from)
      for (std::uint32_t to = 0; to < sizes.size(); ++to) {
        LinkCase link{static_cast<Time>(draw(3'000'000)), draw(3) == 0 ? 0 : byte_time(), 0, 0};
        if (draw(1) == 1) link.stream_byte = 4 * byte_time();
        if (link.stream_byte > 0 && draw(1) == 1) link.streams = 1 + draw(2);
        if (from != to) links[{from, to}] = link;
      }
    static constexpr std::uint64_t frames[] = {0, 700, 4096};
    frame = frames[draw(2)];
    striping = 1 + draw(2);
    std::uint32_t hosts = 0;
    for (const std::uint32_t size : sizes) hosts += size;
    for (std::uint64_t left = hosts > 1 ? 1 + draw(40) : 0; left > 0; --left) {
      Message one;
      one.from = static_cast<std::uint32_t>(draw(hosts - 1));
      one.to = static_cast<std::uint32_t>((one.from + 1 + draw(hosts - 2)) % hosts);
      one.bytes = draw(4) == 0 ? 0 : draw(20'000);
      one.ready = 100'000'000 + static_cast<Time>(draw(4'000'000));
      messages.push_back(one);
    }
    std::sort(messages.begin(), messages.end(),
              [](const Message& left, const Message& right) { return left.ready < right.ready; });
  }
  std::uint64_t draw(std::uint64_t most) { return random() % (most + 1); }
  Time byte_time() {  // chosen so that the rate is a whole number of bytes per second
    static constexpr Time times[] = {5, 8, 10, 16, 20, 32, 40, 64, 80, 125};
    return times[draw(9)];
  }
  std::uint32_t cluster_of(std::uint32_t host) const {
    std::uint32_t cluster = 0;
    for (; host >= sizes[cluster]; ++cluster) host -= sizes[cluster];
    return cluster;
  }
  std::uint32_t exit_of(std::uint32_t cluster) const {
    std::uint32_t first = 0;
    for (std::uint32_t before = 0; before < cluster; ++before) first += sizes[before];
    return first;
  }
  std::shared_ptr<paths::Plan> plan() const {
    auto plan = test_support::lane_plan(sizes, "", "");
    plan->lanes.frame_bytes = frame;
    plan->lanes.striping = static_cast<std::uint32_t>(striping);
    plan->lanes.inbox_bytes = std::uint64_t{1} << 50;
    for (std::uint32_t cluster = 0; cluster < sizes.size(); ++cluster) {
      paths::Ways::Cluster& one = plan->ways->clusters[cluster];
      one.network = test_support::link_settings(clusters[cluster].network.text());
      one.receives = clusters[cluster].receives;
      one.has_switch = clusters[cluster].has_switch;
      if (clusters[cluster].exit_byte > 0)
        one.rate = base::Settings::scalar(
            fmt::format("{}bit", 8'000'000'000 / clusters[cluster].exit_byte));
    }
    for (const auto& [ends, link] : links)
      plan->ways->links[ends] = test_support::link_settings(link.text());
    return plan;
  }

  std::mt19937_64 random;
  std::vector<std::uint32_t> sizes;
  std::vector<ClusterCase> clusters;
  std::map<std::pair<std::uint32_t, std::uint32_t>, LinkCase> links;
  std::uint64_t frame = 0, striping = 1;
  std::vector<Message> messages;
};

// ---- the direct simulation -------------------------------------------------------------------

/// Event-driven simulation of single frames.
class Simulation {
 public:
  explicit Simulation(const Case& all) : case_(all), arrivals_(all.messages.size()) {
    for (std::uint32_t cluster = 0; cluster < all.sizes.size(); ++cluster)
      for (std::uint32_t i = 0; i < all.sizes[cluster]; ++i) {
        ClusterCase one = all.clusters[cluster];
        if (i == 0 && one.exit_byte > 0) one.network.byte = one.exit_byte;
        out_.push_back({one.network});
        in_.push_back({LinkCase{0, one.network.byte, 0, 0}});
      }
    for (const auto& [ends, link] : all.links) links_[ends] = {link};
    for (std::size_t i = 0; i < all.messages.size(); ++i)
      to_send_[all.messages[i].from].push_back(i);
    for (const auto& [host, list] : to_send_) next_message(host);
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      event.happens();
    }
  }
  const std::vector<Time>& arrivals() const { return arrivals_; }
  /// Returns whether frames of two hosts entered or left a link at the same instant. The order of
  /// such frames is undefined, so times cannot be compared.
  bool has_ties() const { return has_ties_; }

 private:
  struct Frame {
    std::size_t message;
    Time bytes;
    std::size_t step = 0;  // index of the hop in the route of its message
    Time tail = 0;
    std::pair<std::uint32_t, std::uint32_t> pair;
  };
  struct Pair {
    std::deque<Frame> frames;
    std::size_t sending = 0;
  };
  struct Station {
    LinkCase link;
    Time free = 0;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Pair> pairs = {};
    // Pairs of hosts whose next frame can start now, in the order in which the frames start.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> may_start = {};
    std::size_t sending = 0;
    // Time and source host of the latest frame on the link.
    std::pair<Time, std::uint32_t> seen = {-1, 0};
  };
  struct Event {
    Time at;
    std::uint64_t number;
    std::function<void()> happens;
    bool operator<(const Event& other) const {
      return std::pair(other.at, other.number) < std::pair(at, number);
    }
  };
  void at(Time when, std::function<void()> what) {
    events_.push({when, number_++, std::move(what)});
  }

  std::vector<Station*> way(std::uint32_t from, std::uint32_t to) {
    std::vector<Station*> all;
    const auto inside = [&](std::uint32_t a, std::uint32_t b) {
      if (a == b) return;
      all.push_back(&out_[a]);
      if (case_.clusters[case_.cluster_of(b)].receives) all.push_back(&in_[b]);
    };
    const std::uint32_t here = case_.cluster_of(from), there = case_.cluster_of(to);
    if (here == there) return inside(from, to), all;
    if (case_.clusters[here].has_switch)
      all.push_back(&out_[from]);
    else
      inside(from, case_.exit_of(here));
    all.push_back(&links_.at({here, there}));
    if (!case_.clusters[there].has_switch)
      inside(case_.exit_of(there), to);
    else if (case_.clusters[there].receives)
      all.push_back(&in_[to]);
    return all;
  }

  void next_message(std::uint32_t host) {
    std::deque<std::size_t>& list = to_send_[host];
    if (list.empty()) return;
    const std::size_t index = list.front();
    list.pop_front();
    const Message& message = case_.messages[index];
    at(std::max(now_, message.ready), [this, index, host] { send(index, host, 0); });
  }

  /// Sends the frame of a message at `offset`, and schedules the message's next frame.
  void send(std::size_t index, std::uint32_t host, Time offset) {
    const Message& message = case_.messages[index];
    const auto whole = static_cast<Time>(message.bytes);
    const Time frame =
        case_.frame == 0 ? whole : std::min(whole - offset, static_cast<Time>(case_.frame));
    Station* const first = way(message.from, message.to).front();
    const Time start = std::max(now_, first->free);
    const bool waits = first->link.stream_byte > 0;
    const Time taken = waits ? now_ : start + frame * first->link.byte;
    const bool is_last = offset + frame == whole;
    enter({index, frame, 0, now_, {message.from, message.to}});
    if (is_last)
      at(taken, [this, host] { next_message(host); });
    else
      at(taken, [this, index, host, next = offset + frame] { send(index, host, next); });
  }

  void enter(const Frame& frame) {
    const std::vector<Station*> all = way(frame.pair.first, frame.pair.second);
    if (frame.step == all.size()) return end(frame);
    Station& station = *all[frame.step];
    see(station, frame.pair.first);
    if (station.link.stream_byte == 0) return pass(station, frame);
    Pair& pair = station.pairs[frame.pair];
    pair.frames.push_back(frame);
    make_eligible(station, frame.pair);
    start(station);
  }

  void see(Station& station, std::uint32_t source) {
    if (station.seen.first == now_ && station.seen.second != source) has_ties_ = true;
    station.seen = {now_, source};
  }

  void pass(Station& station, Frame frame) {
    const Time start = std::max(now_, station.free);
    station.free = start + frame.bytes * station.link.byte;
    frame.tail = std::max(station.free, frame.tail) + station.link.latency;
    ++frame.step;
    at(start + station.link.latency, [this, frame] { enter(frame); });
  }

  void make_eligible(Station& station, std::pair<std::uint32_t, std::uint32_t> name) {
    const Pair& pair = station.pairs[name];
    const bool is_listed = std::find(station.may_start.begin(), station.may_start.end(), name) !=
                           station.may_start.end();
    if (!is_listed && !pair.frames.empty() && pair.sending < case_.striping)
      station.may_start.push_back(name);
  }

  void start(Station& station) {
    while (!station.may_start.empty() &&
           (station.link.streams == 0 || station.sending < station.link.streams)) {
      if (station.free > now_) return at(station.free, [this, &station] { start(station); });
      const auto name = station.may_start.front();
      station.may_start.erase(station.may_start.begin());
      Pair& pair = station.pairs[name];
      Frame frame = pair.frames.front();
      pair.frames.pop_front();
      ++pair.sending, ++station.sending;
      make_eligible(station, name);
      const Time stream_free = now_ + frame.bytes * station.link.stream_byte;
      at(stream_free, [this, &station, name] {
        see(station, name.first);
        --station.pairs[name].sending, --station.sending;
        make_eligible(station, name);
        start(station);
      });
      frame.tail = std::max(frame.tail, stream_free);
      pass(station, frame);
    }
  }

  void end(const Frame& frame) {
    arrivals_[frame.message] = std::max(arrivals_[frame.message], frame.tail);
  }

  const Case& case_;
  std::vector<Time> arrivals_;
  std::vector<Station> out_, in_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Station> links_;
  std::map<std::uint32_t, std::deque<std::size_t>> to_send_;
  std::priority_queue<Event> events_;
  std::uint64_t number_ = 0;
  Time now_ = 0;
  bool has_ties_ = false;
};

// ---- lanes -----------------------------------------------------------------------------------

/// Returns the arrival times of messages over lanes. Each host sends a message when it is ready and
/// the host's previous send has ended. Each message has a channel of its own.
std::vector<Time> arrivals_over_lanes(const Case& all) {
  std::vector<Time> arrivals(all.messages.size());
  test_support::on_virtual_clock([&](runtime::Runtime& runtime) {
    LaneHosts hosts(runtime, all.plan());
    const auto groups = hosts.groups({.window_bytes = 1 << 30});
    std::vector<runtime::Task> tasks;
    const auto spawn = [&](const char* role, std::function<void()> work) {
      tasks.push_back(runtime.spawn(runtime::ContextRole::thread, {role}, std::move(work)));
    };
    for (std::size_t i = 0; i < all.messages.size(); ++i)
      spawn("receiver", [&, i] {
        const Message& message = all.messages[i];
        REQUIRE(groups[message.to]->receive(message.from, i).wait().payload.size() ==
                message.bytes);
        arrivals[i] = runtime.now().count();
      });
    for (std::uint32_t host = 0; host < hosts.size(); ++host)
      spawn("sender", [&, host] {
        for (std::size_t i = 0; i < all.messages.size(); ++i) {
          const Message& message = all.messages[i];
          if (message.from != host) continue;
          runtime.sleep_until(base::Nanos(message.ready));
          groups[host]
              ->send(message.to, i,
                     base::Payload::filled(message.bytes,
                                           [](std::span<std::byte> bytes) {
                                             std::fill(bytes.begin(), bytes.end(), std::byte{1});
                                           }))
              .wait();
        }
      });
    for (auto& task : tasks) task.join();
  });
  return arrivals;
}

}  // namespace

TEST_CASE("links: random messages arrive when a direct simulation says to the nanosecond") {
  std::size_t compared = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    INFO("seed " << seed);
    const Case one(seed);
    const Simulation simulation(one);
    if (simulation.has_ties()) continue;
    ++compared;
    REQUIRE(arrivals_over_lanes(one) == simulation.arrivals());
  }
  CHECK(compared >= 350);
}
