// SPDX-License-Identifier: Apache-2.0
// paths/wire/connections.hpp — requests, replies and pushes of one host, as frames with credits.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "paths/responder.hpp"
#include "paths/wire/complaints.hpp"
#include "paths/wire/frame.hpp"
#include "paths/wire/peers.hpp"
#include "paths/wire/transport.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Frames that left a host, counted once where they are sent.
struct Traffic {
  std::uint64_t messages = 0;  ///< requests, replies, errors, pushes
  std::uint64_t bytes = 0;     ///< their payloads
  std::uint64_t control = 0;   ///< handshakes, credits, releases, this count itself: messages
  Traffic& operator+=(const Traffic& other) {
    messages += other.messages;
    bytes += other.bytes;
    control += other.control;
    return *this;
  }
};

/// All that a host says to other hosts and hears from them.
///
/// Credits: each request and push uses one; they come back riding on replies, alone only when
///          half of them would be on their way back. What finds none left is held, and leaves in
///          the order in which it came; a push that is held is replaced by a newer one of the same
///          path.
/// Sharing: any context may call anything.
class Connections final : public Receiver {
 public:
  /// Called for every request and push of a peer that was welcomed, on a connection it may come on;
  /// must not block; answers a request by reply() later, or refuses the peer by refuse().
  using Serve = std::function<void(ConnectionId, Frame&&)>;
  /// The same for a request of a standing call, whose first one was served.
  using ServeShort = std::function<void(ConnectionId, ShortFrame&&)>;
  /// Called once for a host from which nothing more can come, with why: it said goodbye on every
  /// connection the plan has it make, or one of its connections is lost, or one of us refused the
  /// other; `has_parted` in the first case. Must not block.
  using Gone = std::function<void(std::uint32_t host, const std::string& reason, bool has_parted)>;
  /// Which call of wire() they are of, and whether it fails as soon as one peer cannot be met: then
  /// wire() is to follow.
  struct Opening {
    std::shared_ptr<const WiringCall> id;
    bool needs_all = false;
  };
  Connections(runtime::Runtime& runtime, std::shared_ptr<const Peers> peers, std::uint32_t host,
              Opening opening, std::unique_ptr<Transport> transport, Complaints& complaints,
              Serve serve, ServeShort serve_short, Gone gone);
  ~Connections() override;

  void start() { transport_->start(*this); }
  /// Connects to `host`, where what leaves for `stage` will go; does not wait for it.
  void meet(std::uint32_t host, StageId stage);
  /// The same of hosts to which nothing will go: all that it does is to know that they are there.
  void meet_others() {
    for (const std::uint32_t host : peers_->hosts[host_].meets) meet(host, no_stage);
  }
  /// Blocks until every host that the plan joins to this one directly was met on all connections
  /// between the two, or is gone. Says for whom it waits after 5 s, then ever less often; who has
  /// not come at `limit` is gone.
  void await_peers(runtime::Deadline limit);
  /// The same of a call that needs all. Answers why it has failed, at once, or nothing. Until it
  /// succeeds nobody is told by `gone` of peers that were lost.
  std::string wire(runtime::Deadline limit);
  /// The call has failed, while wire() waits; or another host makes one of a higher number, which
  /// fails this one unless the two were wired. From any context.
  void fail(const std::string& why);
  void outgrown(const std::string& host, const WiringCall& theirs);
  /// Tells every peer why, and gives up all connections: of a call that failed, or a wiring that
  /// was left.
  void abandon(const std::string& why);
  /// The highest number of its label that a peer which refused us named.
  std::uint64_t number_heard() const;
  /// Connections that peers made, on which they have not said goodbye.
  std::vector<ConnectionId> open_arrivals() const;
  /// For one who waits for peers to release their paths, every `look_pause()`: asks them for a sign
  /// of life. One that gave none for the rest of a deadline is gone.
  void look_after_peers();
  base::Nanos look_pause() const;
  /// Which peers had to be given up, in a sentence; "" when none.
  std::string given_up() const;
  /// What failed, for peers to hear with our goodbyes and our answers to theirs; the first counts,
  /// be it said here or by one of them.
  void note_failure(const std::string& failure);
  std::string failure() const;
  /// Says goodbye on every connection it made, behind what is held, and waits until the peers
  /// answered: what was sent before has arrived then. (A socket closed earlier takes with it what
  /// its peer did not read.) The deadline is for each step of the peers; who then has not answered
  /// is given up.
  void stop(runtime::Deadline deadline);
  /// Nothing is delivered from now on, without a word to anybody: after stop(), or of a host whose
  /// run failed.
  void close() { transport_->stop(); }

  /// Blocks for the reply; throws TravelError when it is one, or the peer is gone or late.
  Result call(std::uint32_t to_host, StageId stage, Operation&& operation,
              runtime::Deadline deadline);
  /// The same without a context: what comes back answers `responder`, which throwing leaves alone.
  void begin_call(std::uint32_t to_host, StageId stage, Operation&& operation,
                  runtime::Deadline deadline, Responder& responder);
  /// Calls without a context whose reply is late at `now` fail; answers when the next one's will
  /// be.
  base::Nanos end_late(base::Nanos now);
  void push(std::uint32_t to_host, StageId stage, Operation operation);
  void reply(ConnectionId connection, Frame&& frame);
  /// To a standing call of that path.
  void reply(ConnectionId connection, std::uint32_t path, ShortFrame&& frame);
  /// The peer on this connection sent what it may not: it is told why, and is gone from here on.
  void refuse(ConnectionId connection, const std::string& wrong);
  /// The same of the peer that answers for `stage`; what its callers are to be told.
  TravelError refuse_answer(std::uint32_t host, StageId stage, std::uint32_t path,
                            const std::string& wrong);
  /// A push that came in has been carried out: its credit goes back.
  void pushed_in(ConnectionId connection);

  /// What was sent for the paths of one graph (an index into Peers::graphs), to other clusters and
  /// in all. What belongs to no path, such as handshakes, is in `traffic()` only.
  Traffic wan_traffic(std::uint32_t graph) const;
  Traffic traffic(std::uint32_t graph) const;
  Traffic traffic() const;

  void deliver(ConnectionId connection, Frame&& frame) override;
  void deliver_short(ConnectionId connection, ShortFrame&& frame) override;
  std::shared_ptr<ShortEnd> short_end(ConnectionId connection) override;
  void connection_lost(ConnectionId connection, const std::string& reason) override;
  static constexpr std::uint32_t window = 256;  ///< credits a connection begins with

 private:
  static constexpr const char* has_ended = "it has ended";
  struct Call;
  struct Begun;
  struct Standing;
  class End;
  struct Connection;
  struct Peer {
    bool departed = false;
    std::string why;                   // it departed
    std::string refused;               // one that came in its name, and why
    std::map<StageId, bool> comes_on;  // connections the plan has it make to us; has it come?
    std::uint32_t greeted_on = 0;      // of those, by a hello
    std::uint32_t parted_from = 0;     // of those, by a goodbye
    std::uint32_t silent_looks = 0;
    std::optional<std::uint64_t> incarnation = {};  // of the call that ours is wired with
    bool is_another(const WiringCall& call) const {
      return incarnation && *incarnation != call.incarnation;
    }
  };
  StageId key_of(StageId stage) const;
  Connection& connection_to(std::uint32_t host, StageId stage);
  Connection* find(ConnectionId id);
  Connection& found_or_new(ConnectionId id);
  void erase(ConnectionId id);
  void take(Connection& connection, ShortFrame&& frame, runtime::Lock held);
  void post(Connection& connection, Frame&& frame);
  void send(const Connection& connection, std::uint32_t path, ShortFrame&& frame,
            runtime::Lock& lock);
  void count(const Connection& connection, std::uint32_t graph, const Traffic& sent);
  bool request(Call& call, std::uint32_t to_host, StageId stage, Operation& operation);
  void leave(const Call& call, bool is_short, Operation& operation, runtime::Lock& lock);
  static void tell(Call& call, runtime::Wakes& wakes);
  void end(Begun& begun);
  runtime::Deadline limit_of(const Call& call) const;
  Result result_of(Call& call) const;
  TravelError late(const Call& call) const;
  void forget(const Call& call, runtime::Lock& lock);
  void post_held(Connection& connection, runtime::Wakes& wakes);
  void post_what_waited_for_the_welcome(Connection& connection, runtime::Wakes& wakes);
  void leave_at_last(Connection& connection, Frame&& frame, runtime::Wakes& wakes);
  static bool may_leave(const Connection& connection, const Frame& frame);
  void leave(Connection& connection, Frame&& frame);
  void take_credits(Connection& connection, std::uint32_t credits, runtime::Wakes& wakes);
  std::string wrong(Connection& connection, const Frame& frame) const;
  std::string wrong_from_us(Connection& connection, const Frame& frame) const;
  std::string wrong_to_us(const Connection& connection, const Frame& frame) const;
  std::string wrong(Connection& connection, const ShortFrame& frame) const;
  std::string wrong_reply(Connection& connection, std::uint64_t call, const Result& result) const;
  std::string wrong_greeting(const Frame& hello) const;
  std::string wrong_plan(const std::string& peer, const Frame& greeting) const;
  std::string wrong_call(std::uint32_t host, const Frame& welcome) const;
  void fail(const std::string& why, runtime::Wakes& wakes);
  bool greet(Connection& connection, const Frame& hello, runtime::Wakes& wakes);
  void turn_away(Connection& connection, const std::string& wrong, runtime::Wakes& wakes);
  bool refuse(Connection& connection, const std::string& wrong, runtime::Wakes& wakes);
  static void answer(Connection& connection, Frame&& frame, runtime::Wakes& wakes);
  static void answer(Connection& connection, ShortFrame&& frame, runtime::Wakes& wakes);
  void lose(Connection& connection, const std::string& reason, runtime::Wakes& wakes);
  void count_planned_connections();
  bool depart(std::uint32_t peer, const std::string& why);
  void hear_failure(const Connection& connection, const std::string& text);
  void tell_gone(std::uint32_t peer, const std::string& why, bool has_parted);
  enum class Which : std::uint8_t { not_met, all };
  bool forsake(std::uint32_t peer, Which connections, const std::string& why,
               runtime::Wakes& wakes);
  void give_up(std::uint32_t peer, const std::string& why);
  std::set<std::uint32_t> absent() const;
  std::string place_of(std::uint32_t peer) const;
  bool part(Connection& connection, runtime::Wakes& wakes);
  std::map<std::uint32_t, std::size_t> unfinished() const;
  void await_goodbyes(runtime::Deadline deadline);
  void part_from_those_who_stay();
  void forgo_goodbyes(std::uint32_t peer, base::Nanos patience);
  bool has_posted() const { return !posted_.empty() || !dropped_.empty(); }
  void send_posted();
  void send_posted(runtime::Lock& lock);
  void send_all(runtime::Lock& lock);
  struct ShortOne {
    std::shared_ptr<ShortWay> way;
    ShortFrame frame;
  };
  using AnyFrame = std::variant<Frame, ShortOne>;
  template <class Send>
  void hand_over(ConnectionId connection, Send send);
  void not_sent(ConnectionId connection, const std::exception& error);
  Frame frame_of(FrameKind kind) const;
  Frame goodbye() const;
  TravelError gone(const Connection& connection, std::uint32_t path) const;

  runtime::Runtime& runtime_;
  std::shared_ptr<const Peers> peers_;
  const std::uint32_t host_;
  const std::shared_ptr<const WiringCall> call_;
  const bool needs_all_;
  std::unique_ptr<Transport> transport_;
  Complaints& complaints_;
  Serve serve_;
  ServeShort serve_short_;
  Gone gone_;
  mutable runtime::Mutex mutex_;
  std::unordered_map<std::uint32_t, Peer> met_;  // not of all hosts: there may be very many
  std::vector<std::string> given_up_;
  std::string failure_;
  bool is_wired_;       // or needs not all
  std::string failed_;  // why the call has, before it was wired
  std::uint64_t number_heard_ = 0;
  runtime::WaitList meeting_;  // for peers
  runtime::WaitList parting_;  // for answers to our goodbyes
  /// Frames leave in the order in which they were posted, so one context at a time sends them, all
  /// there are: outside the lock, because within one process that runs the peer's deliver().
  std::vector<std::pair<ConnectionId, AnyFrame>> posted_;
  std::vector<std::pair<ConnectionId, AnyFrame>> sent_;  // by the context that sends
  std::vector<ConnectionId> dropped_;
  bool sending_ = false;
  std::unordered_map<ConnectionId, std::unique_ptr<Connection>> connections_;
  std::unordered_map<std::uint64_t, Connection*> by_destination_;  // host and stage
  Connection* recent_ = nullptr;                                   // that something came in on last
  struct Counted {
    Traffic all;
    Traffic wan;
  };
  static constexpr std::uint32_t no_graph = std::numeric_limits<std::uint32_t>::max();
  Counted counted_of(std::uint32_t graph) const;
  /// Holds graphs that something was sent for, and `no_graph`. A plan may have a graph for each
  /// host.
  std::unordered_map<std::uint32_t, Counted> counted_;
  std::pair<std::uint32_t, Counted*> last_counted_{no_graph, nullptr};
};

}  // namespace paths
