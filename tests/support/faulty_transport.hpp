// SPDX-License-Identifier: Apache-2.0
// tests/support/faulty_transport.hpp — transports that delay, cut and duplicate frames.
#pragma once
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "paths/wire/local/transport.hpp"
#include "runtime/random.hpp"
#include "runtime/runtime.hpp"
#include "tests/support/short_way.hpp"

namespace test_support {

/// Probabilities of faults for each outgoing frame. A delay keeps the order of the connection's
/// frames, as every transport must. A cut loses the connection at both ends, with all frames under
/// way. A duplicate violates the contract of transports, so the layers above must detect it.
struct Faults {
  double delays = 0, cuts = 0, duplicates = 0;
  base::Nanos longest_delay = std::chrono::milliseconds(1);
  std::uint64_t seed = 1;
  /// Returns whether a frame is exempt from cuts and duplicates.
  std::function<bool(const paths::Frame&)> spares = [](const paths::Frame&) { return false; };
};

/// Local network whose transports have faults.
/// Requires: the network outlives its transports.
class FaultyNetwork {
 public:
  FaultyNetwork(runtime::Runtime& runtime, std::size_t hosts, Faults faults)
      : runtime_(runtime),
        sound_(hosts, true),
        faults_(std::move(faults)),
        random_(faults_.seed),
        receivers_(hosts) {}
  std::unique_ptr<paths::Transport> transport(std::uint32_t host) {
    return std::make_unique<One>(*this, host);
  }

  int delays = 0, cuts = 0, duplicates = 0;

 private:
  using AnyFrame = std::variant<paths::Frame, paths::ShortFrame>;
  /// One direction of a connection, identified by the sending end.
  struct Way {
    std::deque<AnyFrame> late;
    bool is_cut = false;
    bool is_dropped = false;  // drop() was called; closes after the delayed frames
  };

  class One final : public paths::Transport {
   public:
    One(FaultyNetwork& all, std::uint32_t host)
        : all_(all), host_(host), sound_(all.sound_.transport(host)) {}
    bool reaches(std::uint32_t host) const override { return sound_->reaches(host); }
    void start(paths::Receiver& receiver) override {
      all_.receivers_[host_] = &receiver;
      sound_->start(receiver);
    }
    paths::ConnectionId connect(std::uint32_t host) override {
      const paths::ConnectionId made = sound_->connect(host);
      runtime::Lock lock(all_.mutex_);
      all_.hosts_of_[made] = host_;
      all_.hosts_of_[made ^ 1] = host;
      return made;
    }
    void send(paths::ConnectionId connection, paths::Frame&& frame) override {
      const bool is_spared = all_.faults_.spares(frame);
      send(connection, std::move(frame), is_spared);
    }
    std::shared_ptr<paths::ShortWay> short_way(paths::ConnectionId connection) override {
      return test_support::short_way(
          [this, connection](const paths::ShortFrame& frame) { send(connection, frame, false); });
    }
    void drop(paths::ConnectionId connection) override {
      {
        runtime::Lock lock(all_.mutex_);
        Way& way = all_.ways_[connection];
        way.is_dropped = true;
        if (!way.late.empty()) return;
      }
      close(connection);
    }
    std::string source(paths::ConnectionId connection) override {
      return sound_->source(connection);
    }
    void stop() override {
      while (!std::uncaught_exceptions() && has_late())
        all_.runtime_.sleep_for(std::chrono::microseconds(100));
      all_.receivers_[host_] = nullptr;
      sound_->stop();
    }

   private:
    void close(paths::ConnectionId connection) {
      sound_->drop(connection);
      all_.tell(connection ^ 1, "the peer has closed the connection");
    }
    bool has_late() {
      runtime::Lock lock(all_.mutex_);
      for (const auto& [connection, way] : all_.ways_)
        if (!way.late.empty() && all_.hosts_of_[connection] == host_) return true;
      return false;
    }
    void send(paths::ConnectionId connection, AnyFrame frame, bool is_spared);
    void hand_over(paths::ConnectionId connection, AnyFrame&& frame) {
      if (const auto* const is_short = std::get_if<paths::ShortFrame>(&frame))
        sound_->short_way(connection)->send(*is_short);
      else
        sound_->send(connection, std::move(std::get<paths::Frame>(frame)));
    }
    void send_late(paths::ConnectionId connection, base::Nanos span);

    FaultyNetwork& all_;
    const std::uint32_t host_;
    std::unique_ptr<paths::Transport> sound_;
  };

  /// Notifies the receiver of a lost connection, in a context in which no other call of that
  /// receiver is active.
  void tell(paths::ConnectionId end, const char* reason) {
    runtime_
        .spawn(runtime::ContextRole::service, {"loss"},
               [this, end, reason] {
                 paths::Receiver* const receiver = receivers_[hosts_of_[end]];
                 if (receiver != nullptr) receiver->connection_lost(end, reason);
               })
        .detach();
  }

  runtime::Runtime& runtime_;
  paths::LocalNetwork sound_;
  const Faults faults_;
  runtime::Mutex mutex_;
  runtime::Random random_;
  std::vector<paths::Receiver*> receivers_;
  std::map<paths::ConnectionId, std::uint32_t> hosts_of_;  // host at each end of each connection
  std::map<paths::ConnectionId, Way> ways_;
};

inline void FaultyNetwork::One::send(paths::ConnectionId connection, AnyFrame frame,
                                     bool is_spared) {
  FaultyNetwork& all = all_;
  runtime::Lock lock(all.mutex_);
  Way& way = all.ways_[connection];
  if (way.is_cut || way.is_dropped) return;
  if (!is_spared && all.random_.chance(all.faults_.cuts)) {
    ++all.cuts;
    for (const paths::ConnectionId end : {connection, connection ^ 1}) {
      all.ways_[end].is_cut = true;
      all.tell(end, "cut by the test");
    }
    return;
  }
  const bool twice = !is_spared && all.random_.chance(all.faults_.duplicates);
  all.duplicates += twice ? 1 : 0;
  const bool was_late = !way.late.empty();
  if (!was_late && !all.random_.chance(all.faults_.delays)) {
    lock.unlock();
    if (twice) hand_over(connection, AnyFrame(frame));
    return hand_over(connection, std::move(frame));
  }
  if (twice) way.late.push_back(frame);
  way.late.push_back(std::move(frame));
  if (was_late) return;
  const base::Nanos span{all.random_.between(0, all.faults_.longest_delay.count())};
  ++all.delays;
  all.runtime_
      .spawn(runtime::ContextRole::service, {"delay"},
             [this, connection, span] { send_late(connection, span); })
      .detach();
}

/// Sends the delayed frames in order after `span`, including frames that were queued during the
/// delay.
inline void FaultyNetwork::One::send_late(paths::ConnectionId connection, base::Nanos span) {
  all_.runtime_.sleep_for(span);
  for (;;) {
    runtime::Lock lock(all_.mutex_);
    Way& way = all_.ways_[connection];
    if (way.is_cut) way.late.clear();
    if (way.late.empty()) {
      const bool is_dropped = way.is_dropped;
      lock.unlock();
      if (is_dropped) close(connection);
      return;
    }
    AnyFrame frame = way.late.front();
    lock.unlock();
    hand_over(connection, std::move(frame));
    lock.lock();
    if (!way.late.empty()) way.late.pop_front();
  }
}

}  // namespace test_support
