// SPDX-License-Identifier: Apache-2.0
// tests/paths/host_fuzz.cpp — fuzz of a whole host. The host must continue and end correctly,
// whatever a peer sends.
//
// Three hosts of one plan: "alpha-0" is the victim and "alpha-1" reduces with it. The test plays
// the host "guest" and sends frames that no host would send: extreme field values, repeated or late
// frames, raw bytes. PATHS_SEEDS=100000 plays that many games. PATHS_SEED=17 begins with game 17.
// PATHS_CPU_SECONDS=3600 continues until that much CPU time is used, and prints figures.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <ctime>
#include <deque>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "base/errors.hpp"
#include "paths/host/host.hpp"
#include "paths/host/thread.hpp"
#include "paths/wire/local/transport.hpp"
#include "runtime/random.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/short_way.hpp"
#include "tests/support/sim.hpp"

namespace {

using namespace paths;
using namespace std::chrono_literals;
using test_support::Sim;

constexpr std::uint32_t victim = 0, honest = 1, guest = 2;
constexpr int rounds = 12;

std::string config(bool is_shared) {
  return fmt::format(R"(
network: {{connection: {}}}
deadline: 2s
hosts:
  alpha-0: {{cluster: alpha, threads: 2, address: "tcp://127.0.0.1:7700"}}
  alpha-1: {{cluster: alpha, threads: 1, address: "tcp://127.0.0.1:7701"}}
  guest: {{cluster: beta, threads: 2, address: "tcp://127.0.0.1:7702"}}
elements:
  sum.result: {{host: alpha-0, template: f64}}
  both.result: {{host: alpha-0, template: "partial: u64, u64, f64, u8, u64, f64", keep_newest: 1}}
  log: {{host: alpha-0, template: bytes, keep_newest: 4}}
  inbox: {{host: alpha-0, template: f64, keep_newest: 1}}
  cache: {{host: alpha-0, template: f64, keep_newest: 1}}
  out: {{host: guest, template: f64, keep_newest: 1}}
wrappers:
  sum.join: {{kind: allreduce, host: alpha-0, template: f64}}
  both.join: {{kind: allreduce, host: alpha-0, template: f64, contributions: non_negative}}
  guests.join: {{kind: allreduce, host: guest, template: f64}}
  guests.top: {{kind: barrier, host: alpha-0}}
  wan: {{kind: emulate_link, host: alpha-0, latency: 1ms}}
paths:
  - {{graph: sum, host: alpha-0, threads: 0, through: [sum.join, store: {{element: sum.result}}]}}
  - {{graph: sum, host: alpha-1, threads: 0,
      through: [forward: {{to: alpha-0}}, sum.join, store: {{element: sum.result}}]}}
  - graph: both
    host: alpha-0
    threads: 1
    through:
      - both.join
      - condition_check: {{relaxation: exact, template: f64, contributions: non_negative,
                          condition: {{less: 5}}, result: both.result}}
      - store: {{element: both.result}}
  - graph: both
    host: guest
    threads: 0
    through:
      - forward: {{to: alpha-0}}
      - both.join
      - condition_check: {{relaxation: exact, template: f64, contributions: non_negative,
                          condition: {{less: 5}}, result: both.result}}
      - store: {{element: both.result}}
  - {{graph: log, host: guest, threads: 0-1,
      through: [forward: {{to: alpha-0}}, {{wan: up}}, store: {{element: log}}]}}
  - {{graph: guests, host: guest, threads: 0-1,
      through: [guests.join, forward: {{to: alpha-0}}, guests.top, store: {{element: inbox}}]}}
  - {{graph: inbox, host: guest,
      through: [push: {{from: out}}, forward: {{to: alpha-0}},
                store: {{element: inbox, marks: true}}]}}
  - {{graph: ask, host: alpha-0, threads: 1,
      through: [{{wan: down}}, forward: {{to: guest}}, store: {{element: out}}]}}
  - {{graph: ahead, host: alpha-0,
      through: [prefetch: {{into: cache}}, forward: {{to: guest}}, observe: {{element: out}}]}}
)",
                     is_shared ? "shared" : "per_path");
}

/// Captures standard output, to count its lines.
class Printed {
 public:
  Printed() {
    std::fflush(stdout);
    before_ = dup(STDOUT_FILENO);
    dup2(kept_, STDOUT_FILENO);
  }
  ~Printed() {
    std::fflush(stdout);
    dup2(before_, STDOUT_FILENO);
    close(before_);
    close(kept_);
  }
  /// Returns the number of lines since the last call.
  std::uint64_t lines() {
    std::fflush(stdout);
    std::string text(static_cast<std::size_t>(lseek(kept_, 0, SEEK_CUR)), ' ');
    if (pread(kept_, text.data(), text.size(), 0) < 0) return 1'000'000;
    if (ftruncate(kept_, 0) == 0) lseek(kept_, 0, SEEK_SET);
    return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  }
  void show(const std::string& line) const {
    if (write(before_, line.data(), line.size()) < 0) return;
  }

 private:
  int kept_ = memfd_create("printed", 0);
  int before_ = -1;
};

/// Stage of the victim at which operations arrive that the guest sends on one path.
struct Way {
  std::uint32_t path = 0;
  StageId stage = no_stage;
  std::uint32_t slot = 0;
  std::uint32_t threads = 1;
  bool has_own_slots = true;
};

/// The victim's transport. Frames to the honest host pass an ordinary transport. The test itself
/// receives the frames to the guest.
class Split final : public Transport {
 public:
  static constexpr ConnectionId first_of_guest = ConnectionId{1} << 40;
  Split(std::unique_ptr<Transport> inner, std::deque<std::pair<ConnectionId, Frame>>& heard)
      : inner_(std::move(inner)), heard_(heard) {}
  void start(Receiver& victims) override {
    receiver = &victims;
    inner_->start(victims);
  }
  ConnectionId connect(std::uint32_t host) override {
    if (host != guest) return inner_->connect(host);
    made.push_back(first_of_guest + next_++);
    return made.back();
  }
  void send(ConnectionId connection, Frame&& frame) override {
    if (connection < first_of_guest) return inner_->send(connection, std::move(frame));
    heard_.emplace_back(connection, std::move(frame));
    if (heard_.size() > 64) heard_.pop_front();
  }
  std::shared_ptr<ShortWay> short_way(ConnectionId connection) override {
    if (connection < first_of_guest) return inner_->short_way(connection);
    return test_support::short_way([this, connection](const ShortFrame& frame) {
      received_short.emplace_back(connection, frame);
      if (received_short.size() > 64) received_short.pop_front();
    });
  }
  void drop(ConnectionId connection) override {
    if (connection < first_of_guest) return inner_->drop(connection);
    dropped.insert(connection);
  }
  std::string source(ConnectionId) override { return "the guest"; }
  void stop() override {
    receiver = nullptr;
    inner_->stop();
  }
  ConnectionId fresh() { return first_of_guest + next_++; }

  Receiver* receiver = nullptr;
  // Short frames that the guest received.
  std::deque<std::pair<ConnectionId, ShortFrame>> received_short;
  std::vector<ConnectionId> made;  // connections from the victim to the guest
  std::set<ConnectionId> dropped;

 private:
  std::unique_ptr<Transport> inner_;
  std::deque<std::pair<ConnectionId, Frame>>& heard_;
  ConnectionId next_ = 0;
};

struct Figures {
  std::uint64_t games = 0, frames = 0, lines = 0;
};

class Game {
 public:
  Game(const Sim& sim, std::uint64_t seed, Figures& figures)
      : sim_(sim), random_(seed), figures_(figures), wrong_(wrongness()) {
    find_ways();
  }

  /// Plays one game. Returns a mistake of the victim that shows at the end; "" = none.
  std::string play() {
    runtime::Runtime runtime({.clock = runtime::ClockKind::virtual_time, .stack_bytes = 64 * 1024});
    runtime_ = &runtime;
    LocalNetwork network(sim_.plan().hosts.size(), random_.chance(0.5));
    std::vector<std::unique_ptr<Host>> hosts;
    try {
      runtime.run([&] {
        auto split = std::make_unique<Split>(network.transport(victim), heard_);
        split_ = split.get();
        hosts.push_back(std::make_unique<Host>(runtime, sim_.shared_plan(), victim, sim_.kinds(),
                                               std::move(split)));
        hosts.push_back(std::make_unique<Host>(runtime, sim_.shared_plan(), honest, sim_.kinds(),
                                               network.transport(honest)));
        for (auto& host : hosts) host->start();
        std::vector<runtime::Task> tasks;
        const auto spawn = [&](Host& host, std::uint32_t index) {
          return runtime.spawn(runtime::ContextRole::thread, {"thread", host.name(), index},
                               [this, &host, index] { run_thread(host, index); });
        };
        const auto run_host = [&](Host& host, std::uint32_t thread_count) {
          const auto threads = std::make_shared<std::vector<runtime::Task>>();
          for (std::uint32_t i = 0; i < thread_count; ++i) threads->push_back(spawn(host, i));
          return runtime.spawn(runtime::ContextRole::service, {"end of", host.name()},
                               [this, &host, threads] {
                                 for (auto& thread : *threads) thread.join();
                                 const std::string wrong = host.finish();
                                 if (host.index() == honest && !wrong.empty()) say(wrong);
                               });
        };
        tasks.push_back(run_host(*hosts[0], 2));
        tasks.push_back(run_host(*hosts[1], 1));
        tasks.push_back(runtime.spawn(runtime::ContextRole::service, {"guest"}, [&] { attack(); }));
        for (auto& task : tasks) task.join();
      });
    } catch (const std::exception& error) {
      say(error.what());
    }
    if (results_ != 2 * rounds) say(fmt::format("{} of {} results", results_, 2 * rounds));
    return said_;
  }

 private:
  double wrongness() {
    constexpr double all[] = {0, 0.003, 0.03, 0.3};
    return all[random_.below(4)];
  }
  void say(const std::string& what) { said_ += what + "\n"; }

  void find_ways() {
    const Plan& plan = sim_.plan();
    for (std::uint32_t number = 0; number < plan.paths.size(); ++number) {
      const Plan::PlanPath& path = plan.paths[number];
      if (path.host != guest) continue;
      Way way{number, path.stage, path.slot, std::max(1u, path.threads), true};
      while (plan.host_of(way.stage) == guest) {
        const Plan::PlanStage& stage = plan.stages[way.stage];
        const bool joins = sim_.kinds().find(plan.wrappers[stage.wrapper].kind)->joins();
        way.slot = stage.slot + (joins ? 0 : way.slot);
        way.has_own_slots = way.has_own_slots && !joins;
        way.stage = stage.below;
      }
      ways_.push_back(way);
    }
  }

  // ---- the victim and the honest host

  void run_thread(Host& host, std::uint32_t index) {
    Thread thread(host.deployment(), index, 1);
    const bool sums = thread.has_path("sum");
    for (int round = 0; round < rounds; ++round) {
      try {
        if (sums) {
          const double sum = thread.path("sum").move_value(double(round)).payload.read<double>();
          if (sum == 2.0 * round) ++results_;
          if (sum != 2.0 * round) say(fmt::format("round {}: {}", round, sum));
        } else {
          use_guest(thread, round);
        }
      } catch (const TravelError& error) {
        if (sums) say(error.what());
      } catch (const std::exception& error) {  // thrown if a tuple of the guest is too short
        if (sums) say(error.what());
      }
      thread.sleep_for(1ms);
    }
  }

  void use_guest(Thread& thread, int round) {
    if (round % 3 == 0) thread.path("ask").move_value(1.0);
    if (round % 3 == 1) thread.path("ask").newest(0);
    if (round % 4 == 3) thread.path("ask").traffic("ask");
    const Result both = thread.path("both").move_value(1.0);
    if (both.payload.size() != sizeof(double)) say("a result of both has no value");
  }

  // ---- the guest

  void attack() {
    const std::uint64_t steps = 20 + random_.below(200);
    for (std::uint64_t step = 0; step < steps && split_->receiver != nullptr; ++step) {
      act();
      if (random_.chance(0.2))
        runtime_->sleep_for(base::Nanos(random_.below(2) == 0 ? random_.between(0, 3'000'000) : 1));
      if (random_.chance(0.002)) runtime_->sleep_for(5s);
    }
    // The guest dies, so that no host waits for it any longer.
    for (const ConnectionId id : all_connections())
      if (split_->receiver != nullptr) split_->receiver->connection_lost(id, "the guest has died");
    if (greeted_.empty() && split_->receiver != nullptr) greet();
    for (const auto& [id, key] : greeted_)
      if (split_->receiver != nullptr) split_->receiver->connection_lost(id, "the guest has died");
  }

  void act() {
    const std::uint64_t choice = random_.below(100);
    if (choice < 8 || greeted_.empty()) return greet();
    if (choice < 60) return operate();
    if (choice < 80) return answer();
    if (choice < 85) return again();
    if (choice < 90) return control();
    if (choice < 92 && random_.chance(wrong_)) return bytes();
    if (choice < 93 && random_.chance(wrong_)) return die();
    if (choice < 96 && !held_.empty()) return deliver_held();
  }

  std::vector<ConnectionId> all_connections() const {
    std::vector<ConnectionId> all = split_->made;
    for (const auto& [id, key] : greeted_) all.push_back(id);
    return all;
  }
  ConnectionId any_connection() {
    const auto all = all_connections();
    return all[random_.below(all.size())];
  }

  template <class Unsigned>
  Unsigned edge(Unsigned right) {
    const auto top = static_cast<Unsigned>(~Unsigned{0});
    switch (random_.below(8)) {
      case 0: return 0;
      case 1: return 1;
      case 2: return top;
      case 3: return static_cast<Unsigned>(top - 1);
      case 4: return static_cast<Unsigned>(right + 1);
      case 5: return static_cast<Unsigned>(right - 1);
      case 6: return static_cast<Unsigned>(random_.below(16));
      default: return static_cast<Unsigned>(random_.next());
    }
  }
  template <class Field>
  void perhaps(Field& field) {
    if (random_.chance(wrong_)) field = edge(field);
  }

  Frame frame(FrameKind kind) {
    Frame made;
    made.kind = kind;
    made.run_high = sim_.plan().digest.high;
    made.run_low = sim_.plan().digest.low;
    made.from_host = guest;
    if (kind == FrameKind::hello || kind == FrameKind::welcome) {
      made.deployment =
          std::make_shared<const DeploymentId>(DeploymentId{"", 1, 99, sim_.plan().digest});
    }
    return made;
  }
  void spoil(Frame& made) {
    perhaps(made.run_high);
    perhaps(made.run_low);
    perhaps(made.from_host);
    if (made.deployment != nullptr && random_.chance(wrong_)) {
      DeploymentId call = *made.deployment;
      for (std::uint64_t* field : {&call.number, &call.incarnation, &call.plan.high})
        perhaps(*field);
      if (random_.chance(wrong_)) call.label = "x";
      made.deployment = std::make_shared<const DeploymentId>(std::move(call));
    }
    perhaps(made.credits);
    perhaps(made.call);
    perhaps(made.stage);
    if (random_.chance(wrong_ / 2)) made.version = edge(made.version);
    if (random_.chance(wrong_ / 2)) made.kind = static_cast<FrameKind>(random_.below(10));
    if (random_.chance(wrong_ / 2)) made.text = std::string(random_.below(60), '\x1b');
    Operation& operation = made.operation;
    if (random_.chance(wrong_)) operation.kind = static_cast<OperationKind>(random_.below(14));
    if (random_.chance(wrong_)) operation.one_way = !operation.one_way;
    if (random_.chance(wrong_)) operation.kept = !operation.kept;
    for (std::uint32_t* field : {&operation.path, &operation.thread, &operation.slot,
                                 &operation.segment, &operation.segments})
      perhaps(*field);
    for (std::uint64_t* field : {&operation.sequence, &operation.number, &operation.contributions})
      perhaps(*field);
    if (random_.chance(wrong_)) operation.payload = random_payload();
    if (random_.chance(wrong_ / 2)) operation.failure = some_failure();
    if (made.kind == FrameKind::error && !operation.failure) operation.failure = some_failure();
    Result& result = made.result;
    for (std::uint64_t* field :
         {&result.number, &result.sequence, &result.contributions, &result.origin.sequence})
      perhaps(*field);
    perhaps(result.origin.cluster);
    if (random_.chance(wrong_)) result.payload = random_payload();
    operation.segments = std::max(1u, operation.segments);
    // Keeps segment below segments, because a frame with another segment could not be decoded.
    operation.segment %= operation.segments;
  }
  base::Payload random_payload() {
    const std::size_t size = random_.chance(0.05) ? 70'000 : random_.below(80);
    return base::Payload::filled(size, [&](std::span<std::byte> bytes) {
      for (std::byte& one : bytes) one = static_cast<std::byte>(random_.next());
    });
  }
  Failure some_failure() {
    return std::make_shared<const TravelError>("guest", "log", "\x1b[2J", "made up");
  }

  void send(ConnectionId id, const Frame& made) {
    if (random_.chance(wrong_)) {
      held_.emplace_back(id, made);
      if (held_.size() > 32) held_.pop_front();
      return;
    }
    deliver(id, made);
  }
  void deliver(ConnectionId id, const Frame& made) {
    last_.emplace_back(id, made);
    if (last_.size() > 32) last_.pop_front();
    const auto header = encode_header(made);
    deliver(id, header, encode_body(made));
  }
  /// Decodes and delivers a frame as a transport does.
  void deliver(ConnectionId id, std::vector<std::byte> header, base::Payload body) {
    if (split_->receiver == nullptr || split_->dropped.contains(id)) return;
    ++figures_.frames;
    auto read = decode_frame(header, std::move(body));
    if (read) {
      split_->receiver->deliver(id, *std::move(read));
    } else {
      split_->receiver->turned_away("the guest", "no frame");
      split_->receiver->connection_lost(id, "it sent bytes that are not a frame");
    }
  }
  void deliver_held() {
    const std::size_t place = random_.below(held_.size());
    const auto [id, made] = held_[place];
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(place));
    deliver(id, made);
  }

  void greet() {
    const Way& way = ways_[random_.below(ways_.size())];
    Frame hello = frame(FrameKind::hello);
    const bool is_shared = sim_.plan().connection == Plan::Connection::shared;
    hello.stage = is_shared ? no_stage : way.stage;
    hello.text = "guest";
    // The victim refuses a second connection for the same stage, unless the first connection never
    // arrived.
    const bool is_there = std::any_of(greeted_.begin(), greeted_.end(),
                                      [&](const auto& one) { return one.second == hello.stage; });
    if (is_there && !random_.chance(wrong_)) return;
    spoil(hello);
    const ConnectionId id = split_->fresh();
    greeted_.emplace_back(id, hello.stage);
    deliver(id, hello);
  }

  void operate() {
    const Way& way = ways_[random_.below(ways_.size())];
    const bool is_shared = sim_.plan().connection == Plan::Connection::shared;
    const auto on = std::find_if(greeted_.begin(), greeted_.end(), [&](const auto& one) {
      return is_shared || one.second == way.stage;
    });
    if (on == greeted_.end()) return;
    Frame made = frame(FrameKind::request);
    made.call = next_call_++;
    made.stage = way.stage;
    Operation& operation = made.operation;
    operation.path = way.path;
    operation.thread = static_cast<std::uint32_t>(random_.below(way.threads));
    operation.slot = way.slot + (way.has_own_slots ? operation.thread : 0);
    std::uint64_t& moves = moves_[{way.stage, operation.slot}];
    operation.sequence = moves;
    const std::uint64_t choice = random_.below(100);
    if (choice < 70) {
      ++moves;
      operation.payload = tuple_for(way);
      if (choice < 35 || sim_.plan().paths[way.path].threads == 0) {
        made.kind = FrameKind::one_way;
        operation.one_way = true;
        operation.kept = random_.chance(0.5);
      }
      if (random_.chance(0.02)) operation.failure = some_failure();
    } else if (choice < 72 && random_.chance(0.2)) {
      operation.kind = OperationKind::release;
      made.kind = FrameKind::one_way;
      operation.one_way = true;
      if (random_.chance(0.5)) operation.failure = some_failure();
    } else {
      constexpr OperationKind kinds[] = {OperationKind::enter,          OperationKind::observe,
                                         OperationKind::observe_number, OperationKind::newest,
                                         OperationKind::first,          OperationKind::last,
                                         OperationKind::delta,          OperationKind::axe,
                                         OperationKind::traffic,        OperationKind::clock};
      operation.kind = kinds[random_.below(std::size(kinds))];
      operation.number = random_.below(3);
      if (random_.chance(0.01)) operation.kind = OperationKind::delete_element;
      if (random_.chance(0.01)) operation.kind = OperationKind::set_delta;
      if (operation.kind == OperationKind::clock) operation.slot = 0;
    }
    if (operation.failure) operation.payload = {};
    if (made.kind == FrameKind::request && operation.kind == OperationKind::move &&
        !operation.failure && stand(on->first, made))
      return;
    spoil(made);
    send(on->first, made);
  }
  /// Usually sends the operation as a short frame if its standing call (repeated request with the
  /// same stage and slot) is known. Returns whether it was sent. If the standing call is unknown,
  /// the operation sometimes begins a new standing call.
  bool stand(ConnectionId id, Frame& made) {
    const Operation& operation = made.operation;
    std::map<std::pair<StageId, std::uint32_t>, std::uint32_t>& known = standing_[id];
    const auto found = known.find({made.stage, operation.slot});
    if (found == known.end()) {
      if (known.size() == standing_max || random_.chance(0.5)) return false;
      const auto number = static_cast<std::uint32_t>(known.size());
      known[{made.stage, operation.slot}] = number;
      made.call = call_of_standing(number);
      return false;
    }
    if (random_.chance(0.3)) return false;
    ShortFrame frame;
    frame.standing = found->second;
    frame.thread = operation.thread;
    frame.result.sequence = operation.sequence;
    frame.result.contributions = operation.contributions;
    frame.result.payload = operation.payload;
    if (random_.chance(wrong_)) frame.is_reply = true;
    perhaps(frame.thread);
    deliver_short(id, std::move(frame));
    return true;
  }
  void deliver_short(ConnectionId id, ShortFrame&& frame) {
    Result& result = frame.result;
    perhaps(frame.standing);
    for (std::uint64_t* field :
         {&result.number, &result.sequence, &result.contributions, &result.origin.sequence})
      perhaps(*field);
    perhaps(result.origin.cluster);
    if (random_.chance(wrong_)) result.payload = random_payload();
    if (result.payload.size() > ShortFrame::payload_bytes_max) result.payload = {};
    if (split_->receiver == nullptr || split_->dropped.contains(id)) return;
    ++figures_.frames;
    split_->receiver->deliver_short(id, std::move(frame));
  }
  base::Payload tuple_for(const Way& way) {
    if (sim_.plan().paths[way.path].graph != "log") return base::Payload::of(random_.unit());
    std::vector<std::byte> tuple(4 + random_.below(40));
    tuple[0] = static_cast<std::byte>(tuple.size() - 4);
    return base::Payload::copy_of(tuple);
  }

  /// Replies to an operation of the victim, perhaps more than once.
  void answer() {
    if (!split_->received_short.empty() && random_.chance(0.5)) return answer_short();
    if (heard_.empty()) return;
    const std::size_t place = random_.below(heard_.size());
    const auto [id, asked] = heard_[place];
    if (!random_.chance(wrong_)) heard_.erase(heard_.begin() + static_cast<std::ptrdiff_t>(place));
    Frame made = frame(FrameKind::reply);
    made.call = asked.call;
    if (asked.kind == FrameKind::goodbye) made.kind = FrameKind::goodbye;
    if (asked.kind == FrameKind::hello) made.kind = FrameKind::welcome;
    if (asked.kind == FrameKind::request) made.credits = 1;
    if (made.kind == FrameKind::reply && asked.kind != FrameKind::request) return;
    if (made.kind == FrameKind::goodbye && id != made_by_victim(id)) return;
    made.result.payload = asked.operation.kind == OperationKind::traffic
                              ? base::Payload::copy_of(std::vector<std::byte>(sizeof(HostTraffic)))
                              : base::Payload::of(1.0);
    if (made.kind != FrameKind::reply) made.result.payload = {};
    if (made.kind == FrameKind::reply && random_.chance(0.1)) made.kind = FrameKind::error;
    spoil(made);
    send(id, made);
  }
  void answer_short() {
    auto& heard = split_->received_short;
    const std::size_t place = random_.below(heard.size());
    const auto [id, asked] = heard[place];
    if (!random_.chance(wrong_)) heard.erase(heard.begin() + static_cast<std::ptrdiff_t>(place));
    if (asked.is_reply) return;
    ShortFrame made;
    made.is_reply = !random_.chance(wrong_);
    made.standing = asked.standing;
    made.result.payload = base::Payload::of(1.0);
    deliver_short(id, std::move(made));
  }
  ConnectionId made_by_victim(ConnectionId id) const {
    return std::find(split_->made.begin(), split_->made.end(), id) != split_->made.end() ? id : 0;
  }

  void again() {
    if (last_.empty() || !random_.chance(wrong_)) return;
    const auto [id, made] = last_[random_.below(last_.size())];
    deliver(random_.chance(0.7) ? id : any_connection(), made);
  }

  void control() {
    constexpr FrameKind kinds[] = {FrameKind::hello,   FrameKind::welcome,   FrameKind::refuse,
                                   FrameKind::credits, FrameKind::heartbeat, FrameKind::goodbye};
    const bool is_wild = random_.chance(wrong_);
    Frame made = frame(is_wild ? kinds[random_.below(std::size(kinds))] : FrameKind::heartbeat);
    spoil(made);
    send(any_connection(), made);
  }

  void bytes() {
    std::vector<std::byte> header(random_.below(200));
    for (std::byte& one : header) one = static_cast<std::byte>(random_.next());
    if (random_.chance(0.7) && !last_.empty()) {
      header = encode_header(last_.back().second);
      header[random_.below(header.size())] ^= static_cast<std::byte>(1u << random_.below(8));
    }
    deliver(any_connection(), std::move(header), random_payload());
  }

  void die() {
    if (split_->receiver != nullptr)
      split_->receiver->connection_lost(any_connection(), "a connection of the guest's has died");
  }

  const Sim& sim_;
  runtime::Random random_;
  Figures& figures_;
  const double wrong_;  // probability that a field is wrong
  runtime::Runtime* runtime_ = nullptr;
  Split* split_ = nullptr;
  std::vector<Way> ways_;
  std::deque<std::pair<ConnectionId, Frame>> heard_, last_, held_;
  std::vector<std::pair<ConnectionId, StageId>> greeted_;
  std::map<std::pair<StageId, std::uint32_t>, std::uint64_t> moves_;
  std::map<ConnectionId, std::map<std::pair<StageId, std::uint32_t>, std::uint32_t>> standing_;
  std::uint64_t next_call_ = 0;
  int results_ = 0;
  std::string said_;
};

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;  // tidy: real time
}

std::uint64_t seed_now = 0;
std::string which_game() { return fmt::format("again with: PATHS_SEED={}", seed_now); }

}  // namespace

TEST_CASE("host: whatever a peer sends the run of the others continues and ends right") {
  const Sim sims[] = {Sim(config(false)), Sim(config(true))};
  // Bugs abort the process instead of throwing an exception. A stage would report an exception as a
  // failed operation, which would hide the bug.
  base::set_bugs_throw(false);

  const double seconds =
      static_cast<double>(test_support::from_environment("PATHS_CPU_SECONDS", 0));
  const std::uint64_t first = test_support::from_environment("PATHS_SEED", 1);
  const std::uint64_t games = test_support::from_environment("PATHS_SEEDS", 400);
  Figures figures;
  std::string wrong;
  {
    Printed printed;
    const auto report = [&] {
      printed.show(fmt::format(
          "{} games, {} frames, {:.0f} s of CPU, {} KiB resident, {} descriptors, {} lines\n",
          figures.games, figures.frames, cpu_seconds(), test_support::resident_kib(),
          test_support::open_descriptors(), figures.lines));
    };
    for (seed_now = first; wrong.empty(); ++seed_now) {
      if (seconds > 0 ? cpu_seconds() >= seconds : seed_now >= first + games) break;
      if (seconds > 0 && figures.games % 20'000 == 1'000) report();
      INFO(which_game());
      wrong = Game(sims[seed_now % 2], seed_now, figures).play();
      ++figures.games;
      // The victim has rejected the guest as a source of connections, and regards it as a dead
      // host.
      const std::uint64_t lines = printed.lines();
      figures.lines += lines;
      if (wrong.empty() && lines > 2) wrong = fmt::format("{} lines in the log", lines);
      if (!wrong.empty()) wrong += which_game();
    }
    if (seconds > 0) report();
  }
  base::set_bugs_throw(true);
  CHECK(wrong == "");
  CHECK(figures.frames > 5 * figures.games);
}
