// SPDX-License-Identifier: Apache-2.0
// paths/connections/acceptor.cpp — checks of hellos, and replies to frames of closed deployments
#include "paths/connections/acceptor.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/usage_error.hpp"

namespace paths {

namespace {

// Maximum number of waiting hellos that are kept after their connection was lost.
constexpr std::size_t failures_max = 256;

std::string name_of(const DeploymentId& call) {
  return fmt::format("number {} of deployment '{}'", call.number, call.label);
}

}  // namespace

Acceptor::Acceptor(std::string host, std::uint32_t number, base::Digest run, base::Digest config,
                   std::uint64_t incarnation, std::unique_ptr<Transport> transport)
    : host_(std::move(host)),
      number_(number),
      run_(run),
      config_(config),
      incarnation_(incarnation),
      rejections_(host_),
      multiplexer_(std::move(transport), *this) {}

// ---- functions that this host calls -----------------------------------------------------------

std::shared_ptr<const DeploymentId> Acceptor::begin(const std::string& label,
                                                    const base::Digest& plan) {
  std::shared_ptr<const DeploymentId> call;
  std::vector<Waiting> skipped;  // hellos for calls that this host has skipped
  {
    const runtime::Lock lock(mutex_);
    Label& known = labels_[label];
    if (known.deployments.is_under_way())
      throw base::UsageError(
          fmt::format("host {}: deployment '{}' is in use here: it has not ended", host_, label));
    call = std::make_shared<const DeploymentId>(
        DeploymentId{label, known.deployments.begin(), incarnation_, plan});
    std::erase_if(known.waiting, [&](Waiting& one) {
      if (one.number() >= call->number) return false;
      if (places_.free(one.connection)) skipped.push_back(std::move(one));
      return true;
    });
  }
  // Refuses these hellos, like hellos for such calls that arrive from now on.
  for (Waiting& one : skipped) deliver(one.connection, std::move(one.hello));
  return call;
}

void Acceptor::open(const DeploymentId& call, Connections& connections,
                    Multiplexer::SubTransport& share) {
  std::vector<Waiting> came;
  std::string failure;
  {
    const runtime::Lock lock(mutex_);
    Label& label = labels_.at(call.label);
    label.connections = &connections;
    label.share = &share;
    std::erase_if(label.waiting, [&](Waiting& one) {
      if (one.number() > call.number) return false;
      places_.free(one.connection);
      if (!one.failure.empty()) {
        failure = one.failure;
        return true;
      }
      if (multiplexer_.give(one.connection, share, one.source)) came.push_back(std::move(one));
      return true;
    });
  }
  for (Waiting& one : came) multiplexer_.pass_on(one.connection, share, std::move(one.hello));
  if (!failure.empty()) connections.meeting().fail(failure);
}

void Acceptor::end(const DeploymentId& call, const std::string& how,
                   const std::vector<ConnectionId>& arrivals) {
  const runtime::Lock lock(mutex_);
  Label& label = labels_.at(call.label);
  if (label.deployments.meaning_of(call.number) != DeploymentTable::Meaning::now) return;
  label.deployments.end(how);
  label.connections = nullptr;
  label.share = nullptr;
  after_end_.insert(arrivals.begin(), arrivals.end());
}

void Acceptor::hear(const DeploymentId& call, std::uint64_t number) {
  const runtime::Lock lock(mutex_);
  labels_.at(call.label).deployments.hear(number);
}

void Acceptor::open_lanes(Multiplexer::SubTransport& share) {
  const runtime::Lock lock(mutex_);
  lanes_ = &share;
}

// ---- frames on connections without a deployment ----------------------------------------------

void Acceptor::deliver(ConnectionId connection, Frame&& frame) {
  Verdict verdict;
  {
    const runtime::Lock lock(mutex_);
    verdict = judge(connection, frame);
    if (verdict.share != nullptr && !multiplexer_.give(connection, *verdict.share)) return;
  }
  if (verdict.evicted) {
    const auto& [loser, place] = *verdict.evicted;
    rejections_.tell(multiplexer_.transport().source(loser),
                     fmt::format("refused: host {} has more calls waiting on host {} than others",
                                 place.peer, host_));
    multiplexer_.transport().send(loser, refusal_of_stranger(RefusalWord::busy));
    multiplexer_.transport().drop(loser);
  }
  if (!verdict.complaint.empty())
    rejections_.tell(multiplexer_.transport().source(connection), "refused: " + verdict.complaint);
  if (verdict.share != nullptr)
    return multiplexer_.pass_on(connection, *verdict.share, std::move(frame));
  for (Frame& answer : verdict.answers) {
    try {
      multiplexer_.transport().send(connection, std::move(answer));
    } catch (const std::exception&) {  // no action: the connection of the frame is lost
    }
  }
  if (verdict.is_last) multiplexer_.transport().drop(connection);
}

std::uint64_t Acceptor::body_bytes_max(ConnectionId connection, const Frame& /*head*/) {
  const runtime::Lock lock(mutex_);
  return after_end_.contains(connection) ? body_bytes_limit : 0;
}

/// Handles a short frame for a deployment that is not open. Handles a short request like a normal
/// request frame, and drops a short reply.
void Acceptor::deliver_short(ConnectionId connection, ShortFrame&& frame) {
  if (!frame.is_reply) deliver(connection, new_frame(run_, number_, FrameKind::request));
}

/// Decides the reaction to a frame.
/// Requires: the mutex is held, as for all functions below up to forget_if_unused().
Acceptor::Verdict Acceptor::judge(ConnectionId connection, Frame& frame) {
  if (after_end_.contains(connection)) return judge_after_end(connection, frame);
  if (places_.has(connection)) {
    if (frame.kind == FrameKind::refuse || frame.kind == FrameKind::goodbye)
      fails_waiting(connection, frame.text);
    return {};
  }
  // Ignores credits and refusals. A peer may still send them after the deployment on this host has
  // closed its connections.
  if (frame.kind == FrameKind::credits || frame.kind == FrameKind::refuse) return {};
  if (frame.kind == FrameKind::lane && lanes_ != nullptr) return {.share = lanes_};
  if (Rejection wrong = wrong_run(frame); !wrong.reason.empty()) return rejected(std::move(wrong));
  if (frame.kind != FrameKind::hello)
    return rejected({RefusalWord::place, "a frame before its hello"});
  if (frame.deployment != nullptr) return judge_deployment(connection, frame);
  return rejected({RefusalWord::place,
                   fmt::format("host {} does not name the deployment that it makes", frame.text)});
}

Acceptor::Verdict Acceptor::judge_deployment(ConnectionId connection, Frame& hello) {
  const std::string label = hello.deployment->label;
  Verdict verdict = judge_call(connection, hello, labels_[label]);
  forget_if_unused(label);
  if (!verdict.evicted) return verdict;
  const auto& [loser, place] = *verdict.evicted;
  std::erase_if(labels_.at(place.label).waiting,
                [&one_lost = loser](const Waiting& one) { return one.connection == one_lost; });
  forget_if_unused(place.label);
  return verdict;
}

Acceptor::Verdict Acceptor::judge_call(ConnectionId connection, Frame& hello, Label& label) {
  const DeploymentId& call = *hello.deployment;
  DeploymentTable& deployments = label.deployments;
  if (deployments.is_too_far(call.number))
    return rejected({RefusalWord::busy,
                     fmt::format("host {} makes {}, more than {} ahead of host {}", hello.text,
                                 name_of(call), DeploymentTable::ahead_max, host_)});
  deployments.hear(call.number);
  switch (deployments.meaning_of(call.number)) {
    case DeploymentTable::Meaning::now:
      if (label.share != nullptr) return {.share = label.share};
      break;  // the deployment is not open yet, so the hello waits
    case DeploymentTable::Meaning::ended: {
      DeploymentId last = call;
      const bool is_last = call.number == deployments.number();
      // Tells the peer the number of this host's current or next call of deploy(), so that the peer
      // can make a call with the same number.
      last.number = deployments.number() + (deployments.is_under_way() ? 0 : 1);
      return refused(fmt::format("{} has ended on host {}{}{}", name_of(call), host_,
                                 is_last ? ": " : "", is_last ? deployments.how_it_ended() : ""),
                     std::make_shared<const DeploymentId>(std::move(last)));
    }
    case DeploymentTable::Meaning::later:
      if (label.connections != nullptr)
        label.connections->meeting().note_later_call(hello.text, call);
      break;
  }
  Verdict verdict;
  if (!places_.may_take(hello.text, verdict.evicted))
    return rejected(
        {RefusalWord::busy,
         fmt::format("host {} has {} calls waiting that it has not made", host_, places_.size())});
  std::erase_if(label.waiting, [&](const Waiting& one) {
    return one.hello.text == hello.text && one.number() < call.number && !one.failure.empty();
  });
  places_.take(connection, {call.label, hello.text});
  label.waiting.push_back(
      {connection, std::move(hello), multiplexer_.transport().source(connection)});
  return verdict;
}

/// Replies to a frame for a deployment that has ended on this host. Such a frame is not an error,
/// because the deployment may end much later on other hosts.
Acceptor::Verdict Acceptor::judge_after_end(ConnectionId connection, const Frame& frame) {
  Verdict verdict;
  switch (frame.kind) {
    case FrameKind::goodbye:
      after_end_.erase(connection);
      verdict.answers.push_back(new_frame(run_, number_, FrameKind::goodbye));
      break;
    case FrameKind::heartbeat:
      verdict.answers.push_back(new_frame(run_, number_, FrameKind::credits));
      break;
    case FrameKind::request:
      after_end_.erase(connection);
      verdict = refused("it has ended");
      break;
    default: break;
  }
  return verdict;
}

Acceptor::Verdict Acceptor::refused(std::string why,
                                    std::shared_ptr<const DeploymentId> about) const {
  Verdict verdict;
  Frame refusal = new_frame(run_, number_, FrameKind::refuse);
  refusal.text = std::move(why);
  refusal.deployment = std::move(about);
  verdict.answers.push_back(std::move(refusal));
  verdict.is_last = true;
  return verdict;
}

Acceptor::Verdict Acceptor::rejected(Rejection rejection) {
  Verdict verdict;
  verdict.answers.push_back(refusal_of_stranger(rejection.word));
  verdict.complaint = std::move(rejection.reason);
  verdict.is_last = true;
  return verdict;
}

/// Compares the protocol version and run of a hello with those of this host. Must be called before
/// any other field of the hello is used.
Rejection Acceptor::wrong_run(const Frame& hello) const {
  const base::Digest theirs{hello.run_high, hello.run_low};
  if (hello.version != protocol_version)
    return {RefusalWord::version,
            fmt::format("host {} speaks protocol version {}, host {} version {}", hello.text,
                        hello.version, host_, protocol_version)};
  if (theirs == run_) return {};
  // Without a launcher, the id of a run is the digest of its config.
  const bool has_no_launcher = hello.deployment != nullptr && hello.deployment->plan == theirs;
  if (has_no_launcher && run_ == config_)
    return {RefusalWord::plan, fmt::format("host {} runs config {}, host {} config {}", hello.text,
                                           theirs.text(), host_, config_.text())};
  // The text contains no id of a run, because the ids are secret and the text is logged.
  return {RefusalWord::run, fmt::format("host {} is of another run", hello.text)};
}

/// Records a failure for the hello on `connection` that waits for a call of deploy(). Returns false
/// if no such hello waits.
bool Acceptor::fails_waiting(ConnectionId connection, const std::string& failure) {
  const auto place = places_.free(connection);
  if (!place) return false;
  for (Waiting& one : labels_.at(place->label).waiting)
    if (one.connection == connection)
      one.failure =
          fmt::format("host {}: {}", one.hello.text, failure.empty() ? "it has ended" : failure);
  failures_.emplace_back(place->label, connection);
  if (failures_.size() <= failures_max) return true;
  // Too many failures are kept, so the oldest one is forgotten. A later call of deploy() then
  // cannot report why the peer of that failure is missing.
  const auto [label, oldest] = std::move(failures_.front());
  failures_.pop_front();
  const auto found = labels_.find(label);
  if (found == labels_.end()) return true;
  std::erase_if(found->second.waiting, [lost = oldest](const Waiting& one) {
    return one.connection == lost && !one.failure.empty();
  });
  forget_if_unused(label);
  return true;
}

void Acceptor::forget_if_unused(const std::string& label) {
  const auto found = labels_.find(label);
  if (found != labels_.end() && found->second.is_unused()) labels_.erase(found);
}

std::size_t Acceptor::labels() const {
  const runtime::Lock lock(mutex_);
  return labels_.size();
}

void Acceptor::connection_lost(ConnectionId connection, const std::string& reason) {
  const runtime::Lock lock(mutex_);
  after_end_.erase(connection);
  fails_waiting(connection, reason);
}

void Acceptor::turned_away(const std::string& source, const std::string& reason) {
  rejections_.tell(source, reason);
}

}  // namespace paths
