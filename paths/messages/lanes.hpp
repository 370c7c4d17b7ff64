// SPDX-License-Identifier: Apache-2.0
// paths/messages/lanes.hpp — messages from any host to any other, without a path.
#pragma once
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "paths/messages/group.hpp"
#include "paths/messages/incoming.hpp"
#include "paths/messages/outgoing_lanes.hpp"
#include "paths/wire/complaints.hpp"
#include "runtime/processes/process_end.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// What carries frames to the next host.
class LaneCarrier {
 public:
  virtual ~LaneCarrier() = default;
  /// Hands a frame to a host that is one step away, in the order of the calls; opens what it needs
  /// at first use. Never blocks.
  virtual void send(std::uint32_t host, LaneFrame frame) = 0;
  /// Whether what goes there is taken only as fast as it leaves: as has_room() says.
  virtual bool tells_of_room(std::uint32_t /*host*/) const { return false; }
  /// Whether more leaves at once; where it does not, Lanes::room_made() says when it does. Never
  /// calls back.
  virtual bool has_room(std::uint32_t /*host*/) { return true; }
  /// Of hosts that were sent something, those that have given no sign of life.
  virtual std::set<std::uint32_t> silent() const { return {}; }
  /// Asks them all for one, also those that gave some before. Returns the hosts that gave none in
  /// `silent_looks_max` of these looks in a row: no wait is for them any more. Steady clock only.
  virtual std::set<std::uint32_t> look_after(std::uint32_t /*silent_looks_max*/) { return {}; }
  /// A host is gone: waits for nothing more from it, also not at the end. Called with the mutex of
  /// the lanes held.
  virtual void forget(std::uint32_t /*host*/) {}
  /// How far a host had got with ending when it last gave one (Lanes::end_progress()).
  virtual std::uint64_t end_progress(std::uint32_t /*host*/) const { return 0; }
};

/// The lanes of one host: what it sends, what it receives, and what passes it on the way between
/// clusters. State grows with groups, hosts and links in use, never with pairs of hosts.
///
/// Why:     declared paths are trees; what has none still crosses the same links, exits and
///          gateways (Bongo et al. 2004, §III-A and §V-D), and takes them from each other.
/// Time:    of the runtime's clock; on the steady one moments are ideal ones (departures.hpp).
/// Context: what is due is done by threads of the host that wait, while they look; while none does,
///          by one service context, which is there while something is on the agenda.
/// Sharing: any context may call anything.
class Lanes {
 public:
  /// All outlive it. `plan` is the run's, which counts the hosts. The lanes of an emulated switch,
  /// which have its number, are in no group: what is delivered passes it.
  Lanes(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan, std::uint32_t host,
        EmulatedLinks& links, LaneCarrier& carrier);
  ~Lanes();  ///< stop()
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  /// Joins the group of that name, which all its hosts do, in any order, with the same hosts and
  /// options. A name may be used again when the group was left; the n-th use of each host belongs
  /// together. Does not block. Throws UsageError when it has no hosts, or one that there is not, or
  /// twice, or not this one; while the host is in one of that name; and where there is no way.
  std::unique_ptr<LaneGroup> group(std::string_view name, std::vector<std::uint32_t> hosts,
                                   GroupOptions options = {});
  /// The same; what is rising already is shared, which counts where thousands are in one process.
  std::unique_ptr<LaneGroup> join(std::string_view name, SharedHosts hosts,
                                  GroupOptions options = {});
  /// The same of hosts by name.
  std::unique_ptr<LaneGroup> group_of(std::string_view name, const std::vector<std::string>& hosts,
                                      GroupOptions options = {});

  /// What crosses from here to another cluster, from now on; before anything does.
  void record_transfers(RecorderOf recorder_of);

  /// Has questions about threads of this host answered: why one of them will never join a group;
  /// "": none is known. Called with the mutex held. Before any group is made.
  using WhyAbsent = std::function<std::string(std::string_view threads)>;
  void answer_for_threads(WhyAbsent why_absent);

  // Of the carrier; they do not block.

  /// What `from` handed over for this host, or for one further on.
  void deliver(std::uint32_t from, LaneFrame frame);
  /// Its carrier had no room for what goes to a host that is one step away, and has some.
  void room_made(std::uint32_t host);
  /// Nothing more will come from that host, nor get there: whoever waits for it is told, also on
  /// other hosts. Likewise of a switch, with which go all whose way leads through it.
  void host_lost(std::uint32_t host, const std::string& reason);
  /// The same of one that has ended as it should. What it sent before is still on its way where it
  /// passes switches, which therefore tell nobody.
  void host_ended(std::uint32_t host);

  /// Where switches are processes: opens connections on which they hear of their hosts' end, and
  /// hosts and other switches of theirs.
  void look_at_neighbours();

  /// Reports the arrival of this host to all others, as finish() reports the end of its threads.
  /// For hosts that are processes, if the config has the key `lanes`. Does not block.
  void begin();
  /// Blocks until all hosts have arrived or are gone, if begin() was called: two deadlines at most.
  /// (A host that is missing is gone a deadline after the start of the host that connects to it.)
  /// Prints what it waits for after 5 s, then ever less often.
  void await_all();

  /// This host's threads have ended: leaves the groups it is in, and sees off what is on its way.
  /// If the config has the key `lanes`, then also blocks until the threads of all hosts have ended,
  /// passing on meanwhile what they send each other. Hosts tell the exits of their clusters, those
  /// tell each other, where they are very many in rounds (Hoefler et al. 2006), and then their
  /// hosts.
  /// Of a switch: blocks until all hosts of its cluster have ended, or are gone, or have not come
  /// before the deadline; then sees off what is on its way.
  /// Returns what went wrong, "" = nothing: hosts took part in different operations of a group, or
  /// a host is gone. A host that reports that its threads have ended counts as gone, too, if its
  /// frame of that does not arrive within a deadline. If the run has failed, hosts without a sign
  /// of life are given up after 2 s.
  std::string finish(bool has_failed = false);
  /// How far the end has got here: 0 = threads of this host run, 1 = they have ended, 2 + n = this
  /// exit has reported the end of its cluster in round n, all bits set = all threads have ended.
  std::uint64_t end_progress() const;
  /// From here on nothing moves.
  void stop();
  /// Whether lanes were used here, or passed.
  bool in_use() const;
  /// One made by fork has the memory, but neither the threads nor the connections.
  bool is_of_this_process() const { return forks_ == runtime::forks_until_here(); }

  struct Use {
    std::uint64_t inbox_issued = 0, inbox_held = 0, inbox_held_most = 0;  ///< bytes
    std::uint64_t frames = 0;  ///< that came, for this host or others
    std::uint64_t control = 0;
    base::Nanos lateness_lost{0};
  };
  Use use() const;
  /// Credit here and there of each lane, for tests: (group, peer) to bytes that may still be used.
  using Balance = std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t>;
  Balance credit_issued() const;
  Balance credit_to_use() const;

 private:
  friend class LaneGroup;
  friend class LaneHandle;
  struct Group {
    std::uint64_t id = 0;
    std::string name;
    SharedHosts hosts;  // sorted
    GroupOptions options;
    std::map<std::uint32_t, LaneOut> out;                 // by target; nodes do not move
    std::map<std::uint32_t, std::unique_ptr<LaneIn>> in;  // by source
    std::map<std::uint32_t, std::string> over;            // peers that nothing comes from, and why
    std::set<std::uint32_t> said;                         // of those, who said so themselves
    std::map<std::uint32_t, PartTaken> parts;             // of those, what they took part in
    std::uint64_t closed_before = 0;                      // channels below are closed
    std::set<std::uint64_t> closed;                       // and those
    std::pair<std::uint64_t, std::shared_ptr<const std::string>> last_closed;  // what it was; null
    struct Failed {
      std::uint64_t last = 0;
      std::string why;
      std::set<std::uint32_t> knowing;  // peers that said so
      bool is_told = false;             // to the others, by this host
      bool is_mismatch = false;         // hosts take the first of the channels for different things
    };
    std::map<std::uint64_t, Failed> failed;  // channels, by the first; apart from each other
    struct Meaning {
      std::uint64_t meaning = 0;
      std::uint32_t host = 0;  ///< who said so first
    };
    std::map<std::uint64_t, Meaning> meanings;  // of channels that are not closed
    bool has(std::uint32_t host) const;
    bool is_closed(std::uint64_t channel) const {
      return channel < closed_before || closed.contains(channel);
    }
    /// Why a channel has failed; null: it has not.
    const std::string* why_failed(std::uint64_t channel) const;
    void close(std::uint64_t channel);
    void forget_closed();
    std::string text_of_closed(std::uint64_t channel) const;
    /// Those that have not failed yet do: whether there are some.
    bool fail(const Channels& which, const std::string& why);
    /// The channels that fail from this one on do so because hosts take it for different things.
    void mark_mismatch(std::uint64_t channel);
  };
  /// A group that this host has left.
  struct Ended {
    std::string name;
    PartTaken part;
  };
  class Clock;
  class Lookers;
  using Waits = std::vector<std::shared_ptr<LaneWait>>;

  // Of groups and handles:
  void send(std::uint64_t group, std::uint32_t to, std::uint64_t channel, base::Payload message,
            const std::shared_ptr<LaneWait>& wait);
  void send(std::uint64_t group, std::uint32_t to, const NamedMessage& which, base::Payload message,
            const std::shared_ptr<LaneWait>& wait);
  void receive(std::uint64_t group, std::uint32_t from, std::uint64_t channel,
               const std::shared_ptr<LaneWait>& wait);
  void receive(std::uint64_t group, std::uint32_t from, const NamedMessage& which,
               const std::shared_ptr<LaneWait>& wait);
  bool is_paced(std::uint32_t to);
  void let_go(LaneWait& wait);
  void close(std::uint64_t group, std::uint64_t channel, std::shared_ptr<const std::string> what);
  void fail_channels(std::uint64_t group, const Channels& which, const std::string& why);
  void ask(std::uint64_t group, const LaneQuestion& question);
  Waits unsent(std::uint64_t group);
  void leave(std::uint64_t group, const std::string& why = "", const PartTaken& part = {});
  void wait(LaneWait& one, const std::string& what);
  runtime::Deadline deadline() const;
  std::string host_text(std::uint32_t host) const;
  std::string known_cause_text() const;
  std::string silent_switch_text() const;

  bool is_switch() const { return host_ >= plan_->hosts.size(); }
  bool leads_to(std::uint32_t target) const;
  base::Nanos farthest() const;
  bool comes_by_network(std::uint32_t from) const;

  // With the mutex held:
  void catch_up();
  template <class Work>
  void at(base::Nanos moment, Work work);  // when it has come: at once, if it has
  void see_ended(std::uint32_t host);
  void see_neighbour(std::uint32_t place, std::uint32_t end);
  bool tells_of_losses() const;
  Group* find(std::uint64_t id);
  Group& joined(std::uint64_t id);
  LaneIn& lane_from(Group& group, std::uint32_t source);
  LaneOut& lane_to(Group& group, std::uint32_t target);
  std::uint64_t bytes_under_way(std::uint32_t source) const;
  template <class Send>
  void send_by(std::uint64_t id, std::uint32_t to, const NamedMessage& which,
               const std::shared_ptr<LaneWait>& wait, const Send& send);
  template <class Receive>
  void receive_by(std::uint64_t id, std::uint32_t from, const NamedMessage& which,
                  const std::shared_ptr<LaneWait>& wait, const Receive& receive);
  bool may_wait_to_ask(const LaneIn& lane, const NamedMessage& which) const;
  bool has_ample_credit(const LaneIn& lane) const;
  void ask_for(std::uint64_t group, std::uint32_t source, const LaneIn::HeldBack& message,
               bool is_at_once = false);
  void ask_for_held_back(const Group& group, std::uint32_t source, LaneIn& lane);
  void ask_for_all();
  base::Nanos clock_next() const;
  bool needs_clock() const;
  void issue(Group& group, std::uint32_t source);
  void issue_returned(Group& group, std::uint32_t source);
  void issue_to_short();
  LaneFrame control(LaneKind kind, std::uint32_t target, std::uint64_t group) const;
  void post(LaneFrame frame) { departures_.depart(std::move(frame), runtime_.now()); }
  void pass(bool is_received, base::Nanos came, LaneFrame frame);
  void take_data(LaneFrame frame);
  void take_control(LaneFrame frame, base::Nanos moment);
  void take_permission(Group& group, const LaneFrame& frame, base::Nanos moment);
  void take_question(Group& group, const LaneFrame& frame);
  std::string why_never_here(const LaneFrame& frame) const;
  std::string why_never_split(const LaneFrame& question) const;
  void answer_for_good(std::uint32_t source, std::uint64_t group, const std::string& why);
  void answer_early();
  void take_farewell(Group& group, const LaneFrame& frame);
  LaneFrame farewell(std::uint32_t peer, std::uint64_t group, const PartTaken& part) const;
  bool compare(const Ended& ended, std::uint32_t peer, const PartTaken& part);
  void see_mismatch(const Ended& ended, std::uint64_t channel, const std::string& why);
  void take_failed(Group& group, const LaneFrame& frame);
  void end_channels(Group& group, const Channels& which, const std::string& why);
  void tell_failed(Group& group, std::uint32_t peer, std::uint64_t channel);
  void refuse(const LaneFrame& frame, const std::string& wrong);
  void see_meaning(Group& group, std::uint64_t channel, const Group::Meaning& said);
  void fail(const Group& group, std::uint32_t peer, const Waits& waits, const std::string& reason);
  void fail_as_said(const Waits& waits, const std::string& reason);
  void end_lanes(Group& group, std::uint32_t peer, const std::string& reason);
  void end_lanes_over(Group& group, std::uint32_t host, const std::string& reason);
  bool count_out(std::uint32_t host, const std::string& reason);
  void note_at_end(const std::string& wrong);
  void tell_of_loss(std::uint32_t from, const LaneFrame& frame);
  void lose(std::uint32_t host, const std::string& reason);
  void tell_exit(std::uint32_t host, const std::string& reason);
  bool is_word_of_neighbour(std::uint32_t from, const LaneFrame& frame) const;
  void take_word(const LaneFrame& frame);
  void tell_neighbour(std::uint32_t place, LaneFrame frame);
  LaneFrame lost_frame(std::uint32_t target, std::uint32_t host, const std::string& reason) const;
  void see_whether_hosts_are_over();
  runtime::Deadline next_look(bool has_failed) const;
  void finish_switch(runtime::Lock& lock);
  void keep_for_later(LaneFrame frame);
  struct Gathering;
  void take_news(Gathering& of, const LaneFrame& frame);
  void gather(Gathering& of);
  void tell_clusters(Gathering& of);
  void tell_all(Gathering& of);
  LaneFrame news(const Gathering& of, std::uint32_t target, std::uint64_t bytes) const;
  std::vector<std::uint32_t> awaited(const Gathering& of) const;
  std::string awaited_text(const Gathering& of) const;
  void look_at_undone();
  void await_end(runtime::Lock& lock, bool has_failed);
  void give_up_silent(runtime::Lock& lock);
  void give_up_overdue();
  bool is_cluster_gone(std::uint32_t cluster) const;
  bool is_behind_lost_switch(std::uint32_t host) const;
  void drain(runtime::Lock& lock, runtime::Deadline limit);
  /// Hands over what leaves, wakes who waits, and sees to the clock. The mutex is let go meanwhile.
  void settle(runtime::Lock& lock);
  bool go_on(int& rounds);
  void run_clock();
  void do_what_is_due(runtime::Lock& lock, Turn turn);

  runtime::Runtime& runtime_;
  const std::shared_ptr<const Plan> plan_;
  const std::uint32_t forks_ = runtime::forks_until_here();
  const std::uint32_t host_;
  LaneCarrier& carrier_;
  const std::string name_;
  Complaints complaints_;
  std::shared_ptr<EmulatedLink> receiving_;           // null: none is emulated
  std::shared_ptr<Lanes> self_{this, [](Lanes*) {}};  // by which handles know that it is there
  mutable runtime::Mutex mutex_;
  Agenda agenda_;
  Departures departures_;
  OutgoingLanes outgoing_;
  Inbox inbox_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Group>> groups_;
  std::map<std::uint64_t, Ended> ended_groups_;
  std::string parted_;                                      // who was found to differ when it left
  std::map<std::string, std::uint64_t, std::less<>> uses_;  // of a group's name
  std::map<std::uint64_t, std::vector<LaneFrame>> early_;   // control for groups to come
  std::size_t early_frames_ = 0;
  std::list<std::pair<std::uint64_t, std::uint32_t>>
      short_;                                  // lanes that the inbox had no room for
  std::map<std::uint32_t, std::string> lost_;  // hosts, and why
  std::set<std::uint32_t> ended_hosts_;        // lost ones that had ended as they should
  std::string first_loss_;                     // text about another lost one; "" = none
  bool is_failure_delivered_ = false;          // an operation of a thread here has failed
  // Hosts that something came from or went to; of a switch also other switches.
  std::set<std::uint32_t> neighbours_;
  base::Nanos all_come_by_{0};                    // of what was handed over until now
  base::Nanos asks_at_ = base::Nanos::max();      // for what is held back
  std::vector<std::shared_ptr<LaneWait>> ended_;  // to be completed without the mutex
  std::uint64_t frames_ = 0, controls_ = 0;
  bool is_sending_ = false;
  struct Settled {
    Departures::Leaving leaving;
    Waits ended;
  };
  Settled settled_;          // of the one who sends; its memory is used again
  bool is_put_off_ = false;  // what goes on, to when others have had their turn
  bool is_stopped_ = false;
  WhyAbsent why_absent_;
  std::unique_ptr<Clock> clock_;
  std::unique_ptr<Lookers> lookers_;
  runtime::WaitList quiet_;  // for the agenda to be empty
  /// How the hosts of a run learn that something holds for all of them: that they have arrived, or
  /// that their threads have ended.
  struct Gathering {
    LaneKind kind;
    // Hosts of this cluster for which it holds, if this is its exit; a switch's hosts that ended.
    std::set<std::uint32_t> hosts = {};
    std::vector<std::uint32_t> mine = {};  // the hosts of this cluster, if this is its exit
    // Which clusters have said in which round that it holds for all they know of; of an exit.
    std::set<std::pair<std::uint64_t, std::uint32_t>> heard = {};
    std::uint64_t round = 0;     // of an exit
    bool is_here = false;        // it holds for this host
    bool is_told = false;        // by this host, of an exit in this round
    bool is_everywhere = false;  // of a switch: its hosts, that came
  };
  Gathering begin_{LaneKind::here};
  Gathering end_{LaneKind::done};
  runtime::Deadline begins_by_ = runtime::Deadline::never();  // then threads run all the same
  std::map<std::uint32_t, base::Nanos> overdue_;  // hosts whose word at the end is, and since when
  std::string wrong_at_end_;                      // result of finish() unless parted_ has one
  runtime::WaitList ending_;
  runtime::WaitList beginning_;
};

}  // namespace paths
