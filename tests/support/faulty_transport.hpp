// SPDX-License-Identifier: Apache-2.0
// tests/support/faulty_transport.hpp — a transport that delays, cuts and duplicates what it
// carries.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "paths/wire/transport.hpp"
#include "runtime/random.hpp"
#include "runtime/runtime.hpp"

namespace test_support {

/// Chances of each frame that leaves. Delays keep the order of a connection, as every transport
/// does; a cut loses the connection for both ends; a duplicate breaks the rule of transports, for
/// those above to find.
struct Faults {
  double delays = 0, cuts = 0, duplicates = 0;
  base::Nanos longest_delay = std::chrono::milliseconds(1);
  std::uint64_t seed = 1;
  /// Frames that are spared.
  std::function<bool(const paths::Frame&)> spares = [](const paths::Frame&) { return false; };
};

class FaultyTransport final : public paths::Transport {
 public:
  FaultyTransport(runtime::Runtime& runtime, std::unique_ptr<paths::Transport> sound, Faults faults)
      : runtime_(runtime), sound_(std::move(sound)), faults_(faults), random_(faults.seed) {}

  bool reaches(std::uint32_t host) const override { return sound_->reaches(host); }
  void start(paths::Receiver& receiver) override {
    receiver_ = &receiver;
    sound_->start(receiver);
  }
  paths::ConnectionId connect(std::uint32_t host, std::uint32_t path) override {
    return sound_->connect(host, path);
  }
  void send(paths::ConnectionId connection, paths::Frame frame) override {
    const bool is_spared = faults_.spares(frame);
    runtime::Lock lock(mutex_);
    if (is_cut_[connection]) return;
    if (!is_spared && random_.chance(faults_.cuts)) {
      is_cut_[connection] = true;
      ++cuts;
      lock.unlock();
      sound_->drop(connection);
      return receiver_->connection_lost(connection, "cut by the test");
    }
    const bool twice = !is_spared && random_.chance(faults_.duplicates);
    duplicates += twice ? 1 : 0;
    auto& late = late_[connection];
    if (late.empty() && !random_.chance(faults_.delays)) {
      lock.unlock();
      if (twice) sound_->send(connection, frame);
      return sound_->send(connection, std::move(frame));
    }
    if (twice) late.push_back(frame);
    late.push_back(std::move(frame));
    if (late.size() > (twice ? 2u : 1u)) return;
    const base::Nanos span{random_.between(0, faults_.longest_delay.count())};
    ++delays;
    runtime_.spawn(runtime::ContextRole::service, {"delay"},
                   [this, connection, span] { send_late(connection, span); });
  }
  void drop(paths::ConnectionId connection) override {
    {
      runtime::Lock lock(mutex_);
      is_cut_[connection] = true;
    }
    sound_->drop(connection);
  }
  std::string source(paths::ConnectionId connection) override { return sound_->source(connection); }
  void stop() override { sound_->stop(); }

  int delays = 0, cuts = 0, duplicates = 0;

 private:
  /// What came behind it meanwhile leaves behind it.
  void send_late(paths::ConnectionId connection, base::Nanos span) {
    runtime_.sleep_for(span);
    for (;;) {
      runtime::Lock lock(mutex_);
      auto& late = late_[connection];
      if (is_cut_[connection]) late.clear();
      if (late.empty()) return;
      paths::Frame frame = late.front();
      lock.unlock();
      sound_->send(connection, std::move(frame));
      lock.lock();
      if (!late.empty()) late.pop_front();
    }
  }

  runtime::Runtime& runtime_;
  std::unique_ptr<paths::Transport> sound_;
  const Faults faults_;
  paths::Receiver* receiver_ = nullptr;
  runtime::Mutex mutex_;
  runtime::Random random_;
  std::map<paths::ConnectionId, bool> is_cut_;
  std::map<paths::ConnectionId, std::deque<paths::Frame>> late_;
};

}  // namespace test_support
