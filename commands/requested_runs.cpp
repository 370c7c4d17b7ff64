// SPDX-License-Identifier: Apache-2.0
// commands/requested_runs.cpp — messages that name the next run, and the run itself.
#include "commands/requested_runs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>
#include <sstream>

#include "base/errors.hpp"
#include "base/units.hpp"
#include "collectives/algorithms/all.hpp"
#include "collectives/schedule/tree.hpp"
#include "collectives/schedule/tree_program.hpp"
#include "groups/clocked_run.hpp"
#include "groups/selection/selection.hpp"
#include "paths/host/host.hpp"

namespace commands {
namespace {

using base::Nanos;
using collectives::Collective;
using collectives::Rank;
using Part = RunRequest::Part;

/// A run is void if a member started later than the agreed start by more than `late_least`, and by
/// more than `late_part` of the run's time.
constexpr double late_part = 0.02;
constexpr Nanos late_least = std::chrono::milliseconds(1);

constexpr std::array<std::string_view, 4> part_words = {"all", "longest_path", "pair", "pairs"};

std::string_view word_of(Part part) { return part_words[static_cast<std::size_t>(part)]; }

/// Returns the parameters of a schedule's text, such as "tree:shape=flat".
collectives::Parameters parameters_of(const std::string& schedule) {
  const auto [name, words] = collectives::split_at_colon(schedule);
  return collectives::algorithm_named(name).read(words);
}

}  // namespace

std::string RunRequest::text() const {
  return fmt::format("{} {} {}{}{}", name_of(collective), count, schedule,
                     part == Part::all ? "" : fmt::format(" {}", word_of(part)),
                     hosts == 0 ? "" : fmt::format(" on {} hosts", hosts));
}

std::vector<Rank> longest_path(const collectives::CollectiveSpec& spec,
                               const collectives::Parameters& parameters) {
  const auto tree = collectives::Tree::of_one_level(
      spec.group(), collectives::shape_named(parameters.word("shape"), parameters),
      collectives::root_of(spec));
  std::vector<Rank> longest;
  for (Rank leaf = 0; leaf < spec.size(); ++leaf) {
    std::vector<Rank> path = {leaf};
    while (path.back() != tree.root()) path.push_back(tree.node(path.back()).parent);
    if (path.size() >= longest.size()) longest = std::move(path);
  }
  std::reverse(longest.begin(), longest.end());
  return longest;
}

std::string operation_text(Collective collective, std::uint64_t bytes) {
  if (collective == Collective::barrier) return std::string(name_of(collective));
  return fmt::format("{} of {}", name_of(collective), base::format_bytes(bytes));
}

groups::Call tuned_call(Collective collective) {
  groups::Call call;
  call.collective = collective;
  call.scalar = base::Scalar::f64;
  if (is_reduction(collective) && collective != Collective::barrier) call.operation = "sum";
  return call;
}

RequestedRuns::RequestedRuns(paths::Thread& thread, const std::vector<std::uint32_t>& hosts)
    : thread_(thread), hosts_(hosts) {
  std::vector<Rank> ranks(hosts.size());
  std::iota(ranks.begin(), ranks.end(), Rank{0});
  all_ = make_team(ranks, "paths.tune");
}

RequestedRuns::Team RequestedRuns::make_team(const std::vector<Rank>& ranks,
                                             const std::string& name) const {
  const paths::Plan& plan = thread_.host().plan();
  std::vector<std::uint32_t> hosts, threads;
  for (const Rank rank : ranks) {
    hosts.push_back(hosts_[rank]);
    threads.push_back(plan.hosts[hosts_[rank]].first_thread);
  }
  return {groups::Selector(plan, hosts).network().topology,
          std::make_unique<groups::Group>(thread_, name, threads)};
}

/// Returns the ranks of this host's team for a request, with the root first; empty if this host
/// takes no part.
std::vector<Rank> RequestedRuns::ranks_for(const RunRequest& request) const {
  const Rank self = all_.group->rank(), half = static_cast<Rank>(hosts_.size() / 2);
  std::vector<Rank> ranks(request.hosts);
  std::iota(ranks.begin(), ranks.end(), Rank{0});
  if (request.part == Part::longest_path)
    ranks = longest_path(make_spec(request.collective, all_.topology, request.count),
                         parameters_of(request.schedule));
  else if (request.part == Part::pair || (request.part == Part::pairs && self >= 2 * half))
    ranks = {0, half};
  else if (request.part == Part::pairs)
    ranks = {self % half, self % half + half};
  const bool takes_part = std::find(ranks.begin(), ranks.end(), self) != ranks.end();
  return takes_part ? ranks : std::vector<Rank>{};
}

const RequestedRuns::Team* RequestedRuns::team_for(const RunRequest& request) {
  if (request.part == Part::all && request.hosts == 0) return &all_;
  const std::vector<Rank> ranks = ranks_for(request);
  if (ranks.empty()) return nullptr;
  const auto found = parts_.find(ranks);
  if (found != parts_.end()) return &found->second;
  const std::string name = fmt::format("paths.tune.{}", fmt::join(ranks, "."));
  return &parts_.emplace(ranks, make_team(ranks, name)).first->second;
}

void RequestedRuns::tell(const RunRequest& request) {
  const std::string text =
      request.schedule.empty()
          ? ""
          : fmt::format("{} {} {} {} {} {}", request.expected.count(), word_of(request.part),
                        request.hosts, name_of(request.collective), request.count,
                        request.schedule);
  std::array<std::uint8_t, request_bytes> bytes{};
  ENSURE(text.size() < bytes.size());
  std::copy(text.begin(), text.end(), bytes.begin());
  all_.group->run(groups::by("tree:shape=flat", groups::broadcast(bytes, 0)));
}

RunRequest RequestedRuns::hear() {
  std::array<std::uint8_t, request_bytes> bytes{};
  all_.group->run(groups::by("tree:shape=flat", groups::broadcast(bytes, 0)));
  std::istringstream words(reinterpret_cast<const char*>(bytes.data()));
  RunRequest request;
  std::int64_t expected = 0;
  std::string part, collective;
  words >> expected >> part >> request.hosts >> collective >> request.count >> request.schedule;
  request.expected = Nanos(expected);
  for (const Collective one : collectives::all_collectives)
    if (name_of(one) == collective) request.collective = one;
  for (const Part one : {Part::longest_path, Part::pair, Part::pairs})
    if (word_of(one) == part) request.part = one;
  return request;
}

std::optional<Nanos> RequestedRuns::run(const RunRequest& request) {
  tell(request);
  return run_once(request);
}

void RequestedRuns::serve() {
  for (RunRequest request = hear(); !request.schedule.empty(); request = hear()) run_once(request);
}

/// Runs the requested schedule once. All hosts call this function at the same time.
std::optional<Nanos> RequestedRuns::run_once(const RunRequest& request) {
  const Team* const team = team_for(request);
  std::vector<double> in, out;
  groups::Call call = tuned_call(request.collective);
  call.algorithm = request.schedule;
  if (request.part == Part::longest_path)
    call.algorithm = "tree:shape=chain,segment=" + parameters_of(request.schedule).word("segment");
  if (request.collective == Collective::barrier) {
    call = groups::by(call.algorithm, groups::barrier());
  } else if (team != nullptr) {
    const auto spec = make_spec(request.collective, team->topology, request.count);
    const bool is_scan =
        request.collective == Collective::scan || request.collective == Collective::exscan;
    const Rank self = team->group->rank();
    if (request.collective != Collective::broadcast) in.resize(in_range(spec, self).count);
    out.resize(is_scan ? request.count : out_range(spec, self).count);
    call.counts = {request.count};
    call.in = std::as_bytes(std::span(in));
    call.out = std::as_writable_bytes(std::span(out));
  }
  const groups::ClockedRun run = groups::run_clocked(
      thread_, *all_.group,
      [&] {
        if (team != nullptr) team->group->run(call);
      },
      request.expected);
  const auto allowed =
      std::max(late_least, std::chrono::duration_cast<Nanos>(run.time * late_part));
  if (run.late > allowed) return std::nullopt;
  // The time from the agreed start is never too short. A search prefers short times, so it would
  // prefer runs in which members that started early had worked before the last one started.
  return run.time + run.late;
}

}  // namespace commands
