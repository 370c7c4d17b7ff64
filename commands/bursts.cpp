// SPDX-License-Identifier: Apache-2.0
// commands/bursts.cpp — requests to the senders and receivers of bursts, and reports of the
// receivers.
#include "commands/bursts.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "groups/execution/execution.hpp"
#include "paths/host/host.hpp"
#include "runtime/processes/machine.hpp"

namespace commands {
namespace {

/// Tag of control messages (requests and reports), and tag of timed messages.
constexpr std::uint64_t control_tag = 0, data_tag = 1;
/// Channel of the messages of trains. These messages have names, as the messages of schedules have.
constexpr std::uint64_t train_channel = 3;

enum class What : std::uint64_t { end, receive, send, clock, exchange };

struct Request {
  What what = What::end;
  /// If `what` is receive, the number of rounds. If `what` is send or exchange, the bytes per
  /// message.
  std::uint64_t number = 0;
  /// If `what` is receive or send, the other hosts. If `what` is exchange, four numbers:
  /// - the number of messages in a train;
  /// - 1 if messages are returned, otherwise 0;
  /// - the number of trains;
  /// - the name of the first message.
  std::vector<std::uint32_t> numbers = {};
};

base::Payload payload_of(const Request& request) {
  std::vector<std::uint64_t> text = {static_cast<std::uint64_t>(request.what), request.number};
  text.insert(text.end(), request.numbers.begin(), request.numbers.end());
  return base::Payload::of(std::move(text));
}

Request request_of(const base::Payload& payload) {
  constexpr std::size_t word = sizeof(std::uint64_t);
  Request request{static_cast<What>(payload.read<std::uint64_t>()),
                  payload.read<std::uint64_t>(word)};
  for (std::size_t at = 2 * word; at < payload.size(); at += word)
    request.numbers.push_back(static_cast<std::uint32_t>(payload.read<std::uint64_t>(at)));
  return request;
}

/// Returns a message of `size` bytes. The function writes all memory of the message, so that the
/// timed sending causes no page faults.
base::Payload bytes_of(std::uint64_t size) {
  return base::Payload::filled(
      size, [](std::span<std::byte> place) { std::memset(place.data(), 0x55, place.size()); });
}

/// Returns the current time of the virtual clock or, in a run on the steady clock, of the machine's
/// clock.
base::Nanos clock(const paths::Thread& thread) {
  const runtime::Runtime& runtime = thread.host().runtime();
  return runtime.utc_at_zero() + runtime.now();
}

void send_to(paths::MessageGroup& group, const std::vector<std::uint32_t>& targets,
             std::uint64_t size) {
  const base::Payload message = bytes_of(size);
  for (const std::uint32_t target : targets) group.send(target, data_tag, message);
}

using Receptions = std::vector<runtime::Handle<paths::Received>>;

/// Returns the name of a train's message, with the properties that a schedule gives to messages of
/// that size.
paths::NamedMessage name_of(std::uint32_t number, std::uint64_t size) {
  return {.channel = train_channel,
          .name = number,
          .signature_digest = 1,
          .order = number,
          .is_little = size <= groups::little_bytes};
}

Receptions receive_train(paths::MessageGroup& group, std::uint32_t from, std::uint32_t first,
                         std::size_t count, std::uint64_t size) {
  Receptions coming;
  for (std::uint32_t i = 0; i < count; ++i)
    coming.push_back(group.receive(from, name_of(first + i, size)));
  return coming;
}

void wait_for_all(Receptions& coming) {
  for (auto& one : coming) one.wait();
}

/// Reports that this host is ready, then receives a train of Bursts::exchange(). If `message` is
/// not nullptr, sends `message` back for each message of the train. Returns the value of
/// TrainTime::at_target.
base::Nanos take_train(const paths::Thread& thread, paths::MessageGroup& group,
                       std::uint32_t initiator, std::uint32_t name, Receptions& coming,
                       const base::Payload* message) {
  std::vector<runtime::Handle<void>> leaving;
  const base::Nanos began = thread.now();
  group.send(initiator, control_tag, {});
  for (std::uint32_t i = 0; i < coming.size(); ++i) {
    coming[i].wait();
    if (message != nullptr)
      leaving.push_back(group.send(initiator, name_of(name + i, message->size()), *message));
  }
  for (auto& one : leaving) one.wait();
  return thread.now() - began;
}

void take_trains(const paths::Thread& thread, paths::MessageGroup& group, std::uint32_t initiator,
                 const Request& request) {
  const std::uint32_t count = request.numbers[0], trains = request.numbers[2];
  const bool is_returned = request.numbers[1] != 0;
  const base::Payload message = bytes_of(request.number);
  std::uint32_t name = request.numbers[3];
  for (std::uint32_t train = 0; train < trains; ++train, name += count) {
    Receptions coming = receive_train(group, initiator, name, count, request.number);
    const base::Nanos time =
        take_train(thread, group, initiator, name, coming, is_returned ? &message : nullptr);
    group.send(initiator, control_tag, base::Payload::of(time));
  }
}

/// Receives the timed messages of all rounds. Before this host reports the end of a round to the
/// initiator, it calls receive() for the messages of the next round. The initiator starts a round
/// only after the reports, so every message has a grant (permission to send) before its sender
/// begins.
void receive_from(paths::Thread& thread, paths::MessageGroup& group, std::uint32_t initiator,
                  const Request& request) {
  const auto ask = [&] {
    Receptions coming;
    for (const std::uint32_t source : request.numbers)
      coming.push_back(group.receive(source, data_tag));
    return coming;
  };
  Receptions coming = ask();
  group.send(initiator, control_tag, {});
  for (std::uint64_t round = 1; round <= request.number; ++round) {
    wait_for_all(coming);
    const base::Nanos came = clock(thread);
    if (round < request.number) coming = ask();
    group.send(initiator, control_tag, base::Payload::of(came));
  }
}

}  // namespace

base::Payload patiently(runtime::Handle<paths::Received> receiving) {
  receiving.completion()->wait(runtime::Deadline::never(), {"a message from another host"});
  return receiving.wait().payload;
}

Bursts::Bursts(paths::Thread& thread, paths::MessageGroup& group, bool is_one_clock)
    : thread_(thread), group_(group), is_one_clock_(is_one_clock) {}

void Bursts::make_ready(const Peers& sources_of, std::uint64_t rounds) {
  for (const auto& [target, sources] : sources_of)
    group_.send(target, control_tag, payload_of({What::receive, rounds, sources}));
  for (const auto& [target, sources] : sources_of) group_.receive(target, control_tag).wait();
}

base::Nanos Bursts::one(const Peers& sources_of, const Peers& targets_of, std::uint64_t size) {
  const std::uint32_t self = thread_.host().index();
  const base::Nanos begin = clock(thread_);
  for (const auto& [source, targets] : targets_of)
    if (source != self) group_.send(source, control_tag, payload_of({What::send, size, targets}));
  if (const auto mine = targets_of.find(self); mine != targets_of.end())
    send_to(group_, mine->second, size);
  base::Nanos last = begin;
  for (const auto& [target, sources] : sources_of) {
    last = std::max(last, group_.receive(target, control_tag).wait().payload.read<base::Nanos>());
    bytes_ += size * sources.size();
  }
  return (is_one_clock_ ? last : clock(thread_)) - begin;
}

std::vector<std::vector<base::Nanos>> Bursts::batch(const std::vector<HostPair>& pairs,
                                                    const std::vector<std::uint64_t>& sizes,
                                                    std::size_t samples) {
  Peers sources_of, targets_of;
  for (const auto& [from, to] : pairs) {
    sources_of[to].push_back(from);
    targets_of[from].push_back(to);
  }
  make_ready(sources_of, samples * sizes.size());
  std::vector<std::vector<base::Nanos>> times(sizes.size());
  for (std::size_t i = 0; i < samples; ++i)
    for (std::size_t size = 0; size < sizes.size(); ++size)
      times[size].push_back(one(sources_of, targets_of, sizes[size]));
  return times;
}

TrainTime Bursts::exchange_one(std::uint32_t target, const base::Payload& message,
                               std::size_t count, bool is_returned) {
  Receptions coming =
      receive_train(group_, target, next_name_, is_returned ? count : 0, message.size());
  group_.receive(target, control_tag).wait();  // until the other host reports that it is ready
  auto report = group_.receive(target, control_tag);
  std::vector<runtime::Handle<void>> leaving;
  const base::Nanos begin = thread_.now();
  for (std::uint32_t i = 0; i < count; ++i)
    leaving.push_back(group_.send(target, name_of(next_name_ + i, message.size()), message));
  for (auto& one : leaving) one.wait();
  TrainTime time{.departed = thread_.now() - begin};
  wait_for_all(coming);
  time.at_target = report.wait().payload.read<base::Nanos>();
  time.done = thread_.now() - begin;
  next_name_ += static_cast<std::uint32_t>(count);
  bytes_ += message.size() * count * (is_returned ? 2 : 1);
  return time;
}

std::vector<TrainTime> Bursts::exchange(std::uint32_t target, std::uint64_t size, std::size_t count,
                                        bool is_returned, std::size_t trains) {
  Request request{.what = What::exchange, .number = size};
  for (const std::size_t number :
       {count, std::size_t{is_returned}, trains, std::size_t{next_name_}})
    request.numbers.push_back(static_cast<std::uint32_t>(number));
  group_.send(target, control_tag, payload_of(request));
  const base::Payload message = bytes_of(size);
  std::vector<TrainTime> times;
  for (std::size_t train = 0; train < trains; ++train)
    times.push_back(exchange_one(target, message, count, is_returned));
  return times;
}

void Bursts::release(const std::vector<std::uint32_t>& hosts) {
  for (const std::uint32_t host : hosts)
    if (host != thread_.host().index()) group_.send(host, control_tag, payload_of({What::end}));
}

bool have_our_clock(const paths::Thread& thread, paths::MessageGroup& group,
                    const std::vector<std::uint32_t>& hosts) {
  const std::uint64_t ours = runtime::steady_clock_identity();
  bool all_do = ours != 0;
  for (const std::uint32_t host : hosts) {
    if (host == thread.host().index()) continue;
    group.send(host, control_tag, payload_of({What::clock}));
    all_do =
        group.receive(host, control_tag).wait().payload.read<std::uint64_t>() == ours && all_do;
  }
  return all_do;
}

void help(paths::Thread& thread, paths::MessageGroup& group, std::uint32_t initiator) {
  for (;;) {
    const Request request = request_of(patiently(group.receive(initiator, control_tag)));
    if (request.what == What::end) return;
    if (request.what == What::clock)
      group.send(initiator, control_tag, base::Payload::of(runtime::steady_clock_identity()));
    else if (request.what == What::exchange)
      take_trains(thread, group, initiator, request);
    else if (request.what == What::send)
      send_to(group, request.numbers, request.number);
    else
      receive_from(thread, group, initiator, request);
  }
}

}  // namespace commands
