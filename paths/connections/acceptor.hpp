// SPDX-License-Identifier: Apache-2.0
// paths/connections/acceptor.hpp — finds the deployment that a new connection is for.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "paths/connections/connections.hpp"
#include "paths/connections/deployment_table.hpp"
#include "paths/wire/frame.hpp"
#include "paths/wire/multiplexer.hpp"
#include "paths/wire/rejection_log.hpp"
#include "paths/wire/transport.hpp"

namespace paths {

/// A host's door. Protocol and run are compared here; a greeting then goes to the deployment of
/// whose call it is, waits until this host makes that call, or is answered with how that call
/// ended. Connections for lanes go to whoever receives those.
///
/// Sharing: any context may call anything.
class Acceptor final : public Receiver {
 public:
  /// `number` is the host's in the run, `incarnation` another one each time it is started.
  Acceptor(std::string host, std::uint32_t number, base::Digest run, std::uint64_t incarnation,
           std::unique_ptr<Transport> transport);
  ~Acceptor() override;

  void start() { multiplexer_.start(); }
  void stop() { multiplexer_.stop(); }
  /// Multiplexer::share().
  std::unique_ptr<Multiplexer::SubTransport> share(HostNumbers numbers = nullptr) {
    return multiplexer_.share(std::move(numbers));
  }
  RejectionLog& rejections() { return rejections_; }

  /// A call of deploy() begins. Throws UsageError when one of that label is under way here.
  std::shared_ptr<const DeploymentId> begin(const std::string& label, const base::Digest& plan);
  /// From now on it takes greetings; those that waited for it come at once. Both outlive end().
  void open(const DeploymentId& call, Connections& connections, Multiplexer::SubTransport& share);
  /// The call has ended, and how; the first word counts. What peers still say on `arrivals`,
  /// connections that they made, is answered in its name.
  void end(const DeploymentId& call, const std::string& how,
           const std::vector<ConnectionId>& arrivals = {});

  /// A peer said which number of that label could meet it.
  void hear(const DeploymentId& call, std::uint64_t number);

  /// Who gets connections whose first frame is a lane's, and compares what that says. A share that
  /// has been started.
  void open_lanes(Multiplexer::SubTransport& share);

  void deliver(ConnectionId connection, Frame&& frame) override;
  void deliver_short(ConnectionId connection, ShortFrame&& frame) override;
  void connection_lost(ConnectionId connection, const std::string& reason) override;
  void turned_away(const std::string& source, const std::string& reason) override;

  /// Labels that are remembered: those of calls that this host made, and of greetings that wait.
  std::size_t labels() const;

 private:
  /// A greeting of a call that this host has not made yet.
  struct Waiting {
    ConnectionId connection = 0;
    std::string host;
    std::uint64_t number = 0;
    Frame hello;
    std::string source;
    std::string failure;  ///< of that call; the connection is gone then
  };
  struct Label {
    DeploymentTable deployments;
    Connections* connections = nullptr;  // of the call that is under way
    Multiplexer::SubTransport* share = nullptr;
    std::vector<Waiting> waiting;

    /// This host has made no call of it, and no greeting waits for one.
    bool is_unused() const {
      return waiting.empty() && deployments.number() == 0 && !deployments.is_under_way();
    }
  };
  /// What is to be done with a frame when the mutex is let go.
  struct Verdict {
    Multiplexer::SubTransport* share = nullptr;  ///< to which it goes
    std::vector<Frame> answers = {};
    std::string complaint = {};
    bool is_last = false;  ///< of its connection
  };
  Verdict judge(ConnectionId connection, Frame& frame);
  Verdict judge_deployment(ConnectionId connection, Frame& hello);
  Verdict judge_call(ConnectionId connection, Frame& hello, Label& label);
  Verdict judge_after_end(ConnectionId connection, const Frame& frame);
  Verdict refused(std::string why, std::shared_ptr<const DeploymentId> about = nullptr) const;
  std::string wrong_run(const Frame& hello) const;
  bool fails_waiting(ConnectionId connection, const std::string& failure);
  void forget_oldest_failure();
  void forget_if_unused(const std::string& label);

  const std::string host_;
  const std::uint32_t number_;
  const base::Digest run_;
  const std::uint64_t incarnation_;
  RejectionLog rejections_;
  mutable runtime::Mutex mutex_;
  std::map<std::string, Label, std::less<>> labels_;
  std::unordered_map<ConnectionId, std::string> waits_;        // its label
  std::deque<std::pair<std::string, ConnectionId>> failures_;  // label; of waiting greetings
  std::unordered_set<ConnectionId> after_end_;  // made by peers, of deployments that ended
  Multiplexer::SubTransport* lanes_ = nullptr;
  Multiplexer multiplexer_;
};

}  // namespace paths
