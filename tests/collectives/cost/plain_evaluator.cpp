// SPDX-License-Identifier: Apache-2.0
// tests/collectives/cost/plain_evaluator.cpp — a simple but slow evaluator of schedules with costs
// of hosts, for comparison.
#include "tests/collectives/cost/plain_evaluator.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

namespace test_support {
namespace {

using base::Nanos;
using collectives::Action;
using collectives::Rank;

enum class What { prepared, left, computed, received, arrived };
/// An event at a host. `source` (a rank) and `step` (an index) identify a message or a step.
struct Event {
  What what;
  Rank host, source;
  std::size_t step;
  bool is_work = false;  // whether a piece of work of the host's processor ends
  auto key() const { return std::tuple(what, host, source, step); }
  friend bool operator<(const Event& left, const Event& right) { return left.key() < right.key(); }
};

struct Step {
  collectives::Step step;
  std::vector<std::size_t> earlier;      // earlier steps that must end before this step
  std::pair<Rank, std::size_t> partner;  // rank and step at the other end
  bool has_begun = false, has_arrived = false, is_done = false;
};

struct Host {
  collectives::Steps text;
  std::vector<Step> steps;
  std::set<std::size_t> sends;  // indices of send steps that are ready
  Nanos port_free{0};
  std::deque<std::pair<Nanos, Event>> work, receipts;  // requests for the processor: time, end
  bool is_working = false;
  std::uint64_t in_hand = 0;
  bool is_preparing = false;
};

bool conflict(const collectives::Step& one, const collectives::Step& other) {
  for (std::size_t i = 0; i < one.blocks.size(); ++i)
    for (std::size_t j = 0; j < other.blocks.size(); ++j)
      if ((one.writes(i) || other.writes(j)) && one.blocks[i].buffer == other.blocks[j].buffer &&
          overlap(one.blocks[i].cells, other.blocks[j].cells).count > 0)
        return true;
  return false;
}

class Plain {
 public:
  Plain(const std::vector<collectives::Program>& programs, const PlainNetwork& network)
      : network_(network), hosts_(programs.size()) {
    result_.prepared.resize(hosts_.size());
    std::map<std::tuple<Rank, Rank, collectives::Channel>, std::vector<std::size_t>> sent;
    for (Rank me = 0; me < hosts_.size(); ++me) {
      Host& host = hosts_[me];
      host.text = programs[me].all();
      for (std::size_t i = 0; i < host.text.size(); ++i) {
        Step& step = host.steps.emplace_back(Step{host.text[i], {}, {}});
        for (std::size_t j = 0; j < i; ++j)
          if (conflict(host.steps[j].step, step.step)) step.earlier.push_back(j);
        if (step.step.action == Action::send)
          sent[{me, step.step.peer, step.step.channel}].push_back(i);
      }
    }
    std::map<std::tuple<Rank, Rank, collectives::Channel>, std::size_t> received;
    for (Rank me = 0; me < hosts_.size(); ++me)
      for (std::size_t i = 0; i < hosts_[me].steps.size(); ++i) {
        Step& step = hosts_[me].steps[i];
        if (step.step.action != Action::receive) continue;
        const std::tuple stream(step.step.peer, me, step.step.channel);
        const std::size_t from = sent.at(stream).at(received[stream]++);
        step.partner = {step.step.peer, from};
        hosts_[step.step.peer].steps[from].partner = {me, i};
      }
  }

  PlainResult run() {
    events_[Nanos(0)];
    while (!events_.empty()) {
      now_ = events_.begin()->first;
      while (events_.contains(now_)) {
        const std::set<Event> happening = std::move(events_.extract(now_).mapped());
        for (const Event& event : happening) happen(event);
        for (Rank me = 0; me < hosts_.size(); ++me) begin_steps(me);
        for (Rank me = 0; me < hosts_.size(); ++me) prepare(me);
        for (const Event& event : std::exchange(arrived_, {})) receive(event);
        for (Host& host : hosts_) begin_work(host);
      }
    }
    for (const Host& host : hosts_)
      for (const Step& step : host.steps)
        if (!step.is_done) throw std::logic_error("a step never ends");
    return result_;
  }

 private:
  /// Lets the processor of the host begin its next work if it is free. Receipts come last.
  void begin_work(Host& host) {
    auto& next = host.work.empty() ? host.receipts : host.work;
    if (host.is_working || next.empty()) return;
    host.is_working = true;
    at(now_ + next.front().first, next.front().second);
    next.pop_front();
  }
  void at(Nanos time, const Event& event) { events_[time].insert(event); }
  void finish(Step& step) {
    step.is_done = true;
    result_.time = now_;
  }

  void happen(const Event& event) {
    Host& host = hosts_[event.host];
    const std::uint64_t bytes = hosts_[event.source].steps[event.step].step.elements();
    if (event.is_work) host.is_working = false;
    switch (event.what) {
      case What::prepared: return send(event.host, event.step);
      case What::left: host.in_hand -= bytes; return finish(host.steps[event.step]);
      case What::computed: return finish(host.steps[event.step]);
      case What::arrived: return arrived_.push_back(event);
      case What::received:
        host.steps[hosts_[event.source].steps[event.step].partner.second].has_arrived = true;
    }
  }

  void receive(const Event& event) {
    const Nanos time =
        network_.costs.receive.at(hosts_[event.source].steps[event.step].step.elements());
    const bool is_work = time > Nanos(0);
    const Event received{What::received, event.host, event.source, event.step, is_work};
    if (is_work)
      hosts_[event.host].receipts.emplace_back(time, received);
    else
      at(now_, received);
  }

  void begin_steps(Rank me) {
    Host& host = hosts_[me];
    std::set<std::size_t> works;
    for (std::size_t i = 0; i < host.steps.size(); ++i) {
      Step& step = host.steps[i];
      const bool waits = std::any_of(step.earlier.begin(), step.earlier.end(),
                                     [&](std::size_t j) { return !host.steps[j].is_done; });
      if (step.is_done || waits) continue;
      const bool is_new = !std::exchange(step.has_begun, true);
      if (step.step.action == Action::receive && step.has_arrived) finish(step);
      if (step.step.action == Action::send && is_new) host.sends.insert(i);
      if (step.step.is_message() || !is_new) continue;
      if (work_time(me, step.step) == Nanos(0))
        finish(step);
      else
        works.insert(i);
    }
    for (const std::size_t i : works)
      host.work.emplace_back(work_time(me, host.steps[i].step),
                             Event{What::computed, me, me, i, true});
  }

  Nanos work_time(Rank me, const collectives::Step& step) const {
    const double rate = step.action == Action::reduce ? network_.fold_bytes_per_second
                                                      : network_.copy_bytes_per_second;
    return tuning::work_time(step.elements(), rate * network_.speeds[me]);
  }

  void prepare(Rank me) {
    Host& host = hosts_[me];
    while (!host.is_preparing && !host.sends.empty()) {
      const std::size_t i = *host.sends.begin();
      const std::uint64_t bytes = host.steps[i].step.elements();
      if (host.in_hand > 0 && host.in_hand + bytes > network_.costs.window_bytes) return;
      host.sends.erase(i);
      host.in_hand += bytes;
      host.is_preparing = true;
      const Nanos time = network_.costs.send.at(bytes);
      if (time == Nanos(0))
        send(me, i);
      else
        host.work.emplace_back(time, Event{What::prepared, me, me, i, true});
    }
  }

  void send(Rank me, std::size_t i) {
    Host& host = hosts_[me];
    host.is_preparing = false;
    result_.prepared[me].push_back(now_);
    host.port_free = std::max(host.port_free, now_) +
                     Nanos(static_cast<std::int64_t>(host.steps[i].step.elements()));
    at(host.port_free, {What::left, me, me, i});
    at(host.port_free + network_.latency, {What::arrived, host.steps[i].partner.first, me, i});
  }

  const PlainNetwork& network_;
  std::vector<Host> hosts_;
  std::map<Nanos, std::set<Event>> events_;
  std::vector<Event> arrived_;  // messages that arrive at the current time
  Nanos now_{0};
  PlainResult result_;
};

}  // namespace

PlainResult evaluate_plainly(const std::vector<collectives::Program>& programs,
                             const PlainNetwork& network) {
  return Plain(programs, network).run();
}

}  // namespace test_support
