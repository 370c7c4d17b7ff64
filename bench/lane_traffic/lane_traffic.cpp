// SPDX-License-Identifier: Apache-2.0
// bench/lane_traffic/lane_traffic.cpp — random choice, sending, receiving and checking of messages
#include "bench/lane_traffic/lane_traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <random>
#include <stdexcept>
#include <utility>

#include "paths/host/host.hpp"
#include "runtime/completion.hpp"

namespace bench {

LaneTraffic::LaneTraffic(const LaneTrafficOptions& options) : options_(options) {}

void LaneTraffic::prepare(const paths::Plan& plan) {
  std::mt19937_64 random(options_.seed);
  pattern_.resize(2 * options_.bytes_most + 8);
  for (std::size_t at = 0; at + 8 <= pattern_.size(); at += 8) {
    const std::uint64_t word = random();
    std::memcpy(pattern_.data() + at, &word, 8);
  }
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host)
    host_of_.insert(host_of_.end(), plan.hosts[host].threads, host);
  sent_by_.resize(host_of_.size());
  coming_to_.resize(host_of_.size());
  const auto rank = [&] { return static_cast<std::uint32_t>(random() % host_of_.size()); };
  const double largest = std::log(static_cast<double>(options_.bytes_most + 1));
  for (std::uint64_t i = 0; i < options_.messages; ++i) {
    Message message;
    do {
      message.from = rank();
      message.to = rank();
    } while (host_of_[message.from] == host_of_[message.to]);
    const double share = static_cast<double>(random() >> 11) * 0x1p-53;
    message.bytes = static_cast<std::uint64_t>(std::exp(share * largest)) - 1;
    message.offset = random() % options_.bytes_most;
    sent_by_[message.from].push_back(messages_.size());
    coming_to_[message.to].push_back(messages_.size());
    messages_.push_back(message);
  }
}

/// Returns the message's bytes, which are a part of pattern_. The pattern outlives the run, so the
/// payload need not own the bytes.
base::Payload LaneTraffic::payload_of(const Message& message) const {
  return base::Payload::adopt(std::span(pattern_).subspan(message.offset, message.bytes), [] {});
}

/// Returns the number of the channel for messages from `message.from` to `message.to`.
std::uint64_t LaneTraffic::channel_of(const Message& message) const {
  return std::uint64_t{message.from} * host_of_.size() + message.to;
}

std::shared_ptr<paths::MessageGroup> LaneTraffic::join(paths::Thread& thread) {
  const std::uint32_t host = thread.host().index();
  runtime::Lock lock(mutex_);
  HostGroup& here = groups_[host];
  if (here.group == nullptr) {
    std::vector<std::uint32_t> hosts;
    for (std::uint32_t one = 0; one < thread.host().plan().hosts.size(); ++one)
      if (thread.host().plan().hosts[one].threads > 0) hosts.push_back(one);
    here.group = thread.host().lanes().group("traffic", std::move(hosts));
  }
  ++here.threads;
  return here.group;
}

void LaneTraffic::leave(paths::Thread& thread) {
  std::shared_ptr<paths::MessageGroup> last;
  {
    runtime::Lock lock(mutex_);
    HostGroup& here = groups_[thread.host().index()];
    if (--here.threads == 0) last = here.group;
    const auto use = thread.host().lanes().use();
    figures_.took = std::max(figures_.took, thread.now());
    figures_.inbox_held_most = std::max(figures_.inbox_held_most, use.inbox_held_most);
    figures_.lateness_lost = std::max(figures_.lateness_lost, use.lateness_lost);
  }
  if (last) last->leave();
}

void LaneTraffic::receive(paths::Thread& thread, paths::MessageGroup& group) {
  struct Channel {
    std::deque<std::size_t> coming;
    runtime::Handle<paths::Received> next;
  };
  std::map<std::uint64_t, Channel> channels;
  for (const std::size_t index : coming_to_[thread.rank()])
    channels[channel_of(messages_[index])].coming.push_back(index);
  runtime::WaitSet waiting(thread.host().runtime());
  std::map<std::size_t, Channel*> by_member;
  const auto ask = [&](Channel& channel) {
    if (channel.coming.empty()) return;
    const Message& message = messages_[channel.coming.front()];
    channel.next = group.receive(host_of_[message.from], channel_of(message));
    by_member[waiting.add(channel.next)] = &channel;
  };
  for (auto& [number, channel] : channels) ask(channel);
  while (waiting.size() > 0) {
    Channel& channel = *by_member.extract(*waiting.any()).mapped();
    const std::size_t index = channel.coming.front();
    channel.coming.pop_front();
    const base::Payload came = channel.next.wait().payload;
    if (came.size() != messages_[index].bytes || !(came == payload_of(messages_[index])))
      throw std::runtime_error(fmt::format("message {} of {} bytes arrived changed, with {} bytes",
                                           index, messages_[index].bytes, came.size()));
    {
      runtime::Lock lock(mutex_);
      ++figures_.received;
      figures_.bytes += came.size();
    }
    ask(channel);
  }
}

void LaneTraffic::run(paths::Thread& thread) {
  const auto group = join(thread);
  runtime::Task receiver = thread.host().runtime().spawn(
      runtime::ContextRole::thread, {"receiver", thread.host().name(), thread.index()},
      [&] { receive(thread, *group); });
  std::deque<runtime::Handle<void>> under_way;
  for (const std::size_t index : sent_by_[thread.rank()]) {
    const Message& message = messages_[index];
    while (under_way.size() >= options_.under_way_most) {
      under_way.front().wait();
      under_way.pop_front();
    }
    under_way.push_back(
        group->send(host_of_[message.to], channel_of(message), payload_of(message)));
  }
  for (auto& sending : under_way) sending.wait();
  receiver.join();
  leave(thread);
}

}  // namespace bench
