// SPDX-License-Identifier: Apache-2.0
// paths/host/requests/validator.cpp — rules for operations from other hosts.
#include "paths/host/requests/validator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <tuple>
#include <utility>

#include "base/errors.hpp"
#include "paths/plan/path_tuples.hpp"
#include "runtime/runtime.hpp"

namespace paths {
namespace {

std::uint64_t key(std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32 | low; }

Validator::Verdict refused(std::string reason) {
  return {.kind = Validator::Verdict::Kind::wrong, .reason = std::move(reason)};
}

}  // namespace

Validator::Validator(const Plan& plan, std::uint32_t host, const WrapperKinds& kinds)
    : plan_(plan), kinds_(kinds), threads_(std::max<std::uint64_t>(1, plan.thread_count())) {
  std::vector<Plan::Entrance> planned = plan.shares.at(host).entrances;
  std::sort(planned.begin(), planned.end(), [](const auto& a, const auto& b) {
    return std::tie(a.stage, a.slot) < std::tie(b.stage, b.slot);
  });
  for (const Plan::Entrance& one : planned) {
    if (entrances_.empty() || entrances_.back().stage != one.stage)
      entrances_.push_back({one.stage, one.slot});
    entrances_.back().from_hosts.push_back(one.from_host);
  }
  for (Entrance& entrance : entrances_) {
    auto& from = entrance.from_hosts;
    std::sort(from.begin(), from.end());
    from.erase(std::unique(from.begin(), from.end()), from.end());
  }
}

Validator::Verdict Validator::validate(const Frame& frame) {
  if (std::string wrong = wrong_form(frame); !wrong.empty()) return refused(std::move(wrong));
  if (std::string wrong = wrong_kind(frame); !wrong.empty()) return refused(std::move(wrong));
  Entrance* const entrance = entrance_at(frame.stage);
  const Way* way = nullptr;
  if (std::string wrong = wrong_place(frame, entrance, way); !wrong.empty())
    return refused(std::move(wrong));

  const Operation& operation = frame.operation;
  if (operation.kind == OperationKind::clock) return {};  // a clock request enters no slot
  return let_in({operation.kind, operation.slot, operation.segment, operation.sequence,
                 operation.failure != nullptr},
                *way, slot_of(*entrance, operation.slot));
}

Validator::Verdict Validator::let_in(const Entering& entering, const Way& way, Slot& slot) {
  const bool is_release = entering.kind == OperationKind::release;
  const bool is_move = entering.kind == OperationKind::move;
  if (is_release && std::exchange(slot.is_released_by_path, true))
    return refused(fmt::format("slot {} is released twice", entering.slot));
  // After the release of a slot, accepts only moves that were sent before the release. A release
  // with a failure may overtake such moves.
  if (slot.is_released && !(is_move && entering.sequence < slot.released_from))
    return {.kind = Verdict::Kind::late};
  Moves& moves = slot.moves_of(entering.segment);
  if (slot.inside >= way.inside_max)
    return refused(
        fmt::format("more than {} operations at once at slot {}", way.inside_max, entering.slot));
  const bool may_overtake = entering.has_failed || !way.has_order;
  if (is_move && !moves.note_next(entering.sequence, may_overtake)) {
    if (std::string wrong = moves.wrong(entering.sequence, may_overtake); !wrong.empty())
      return refused(std::move(wrong));
    // If moves may overtake each other, 128 ranges of missing numbers are remembered. This is
    // enough: at most 256 moves of a path are under way (Path::started_max). If every second of
    // their numbers is missing, there are 256 / 2 = 128 ranges.
    moves.note(entering.sequence, may_overtake, way.has_order ? 16 : 128);
  }
  if (is_release) {
    slot.is_released = true;
    slot.released_from = entering.sequence;
  }
  Verdict verdict;
  verdict.is_alone = slot.inside++ == 0;
  return verdict;
}

Validator::Standing Validator::standing_of(const Frame& request) {
  const Operation& operation = request.operation;
  Standing standing;
  standing.entrance = entrance_at(request.stage);
  standing.way = *way_into(*standing.entrance, operation.path);
  standing.slot = operation.slot;
  standing.place = operation.slot - standing.entrance->first_slot;
  standing.threads = std::max(1u, plan_.paths[operation.path].threads);
  return standing;
}

bool Validator::admit(const Standing& standing, std::uint32_t thread, std::uint64_t sequence,
                      std::uint64_t contributions) {
  const Way& way = standing.way;
  Slot& slot = standing.entrance->slots[standing.place];
  if (contributions == 0 || contributions > threads_ || !standing.is_of(thread)) return false;
  if (slot.is_released || slot.inside >= way.inside_max ||
      !slot.moves.note_next(sequence, !way.has_order))
    return false;
  ++slot.inside;
  return true;
}

Validator::Verdict Validator::validate(const Standing& standing, std::uint32_t thread,
                                       std::uint64_t sequence, std::uint64_t contributions) {
  if (contributions == 0 || contributions > threads_)
    return refused(fmt::format("{} contributions, expected 1 to {}", contributions, threads_));
  if (!standing.is_of(thread))
    return refused(
        fmt::format("thread {} at slot {}, which is not its own", thread, standing.slot));
  return let_in({.slot = standing.slot, .sequence = sequence}, standing.way,
                standing.entrance->slots[standing.place]);
}

void Validator::complete(const Standing& standing) {
  --standing.entrance->slots[standing.place].inside;
}

void Validator::complete(const Frame& frame) {
  if (frame.operation.kind == OperationKind::clock) return;
  --slot_of(*entrance_at(frame.stage), frame.operation.slot).inside;
}

bool Validator::release(StageId stage, std::uint32_t slot) {
  Slot& lost = slot_of(*entrance_at(stage), slot);
  lost.released_from = 0;
  return !std::exchange(lost.is_released, true);
}

/// Returns the entrance at a stage; nullptr if no path enters this host at the stage.
Validator::Entrance* Validator::entrance_at(StageId stage) {
  const auto found = std::lower_bound(
      entrances_.begin(), entrances_.end(), stage,
      [](const Entrance& entrance, StageId wanted) { return entrance.stage < wanted; });
  return found != entrances_.end() && found->stage == stage ? &*found : nullptr;
}

Validator::Slot& Validator::slot_of(Entrance& entrance, std::uint32_t slot) {
  ENSURE(slot >= entrance.first_slot);
  const std::size_t place = slot - entrance.first_slot;
  if (place >= entrance.slots.size()) entrance.slots.resize(place + 1);
  return entrance.slots[place];
}

/// Checks the fields of the frame against limits that hold for all stages and paths.
std::string Validator::wrong_form(const Frame& frame) const {
  const Operation& operation = frame.operation;
  if (operation.segment >= operation.segments || operation.segments > segments_max)
    return fmt::format("segment {} of {}, expected {} at most", operation.segment,
                       operation.segments, segments_max);
  if (operation.contributions == 0 || operation.contributions > threads_)
    return fmt::format("{} contributions, expected 1 to {}", operation.contributions, threads_);
  if (operation.path >= plan_.paths.size())
    return fmt::format("path {} of {}", operation.path, plan_.paths.size());
  return {};
}

/// Checks that the kind of an operation fits its frame. A one-way frame carries a move or a
/// farewell (release or withdrawal). Only moves and farewells have failures. The payload of a move
/// is a tuple, and the payload of an `enter` is a template. All other kinds have no payload.
std::string Validator::wrong_kind(const Frame& frame) const {
  const Operation& operation = frame.operation;
  const OperationKind kind = operation.kind;
  const bool is_move = kind == OperationKind::move;
  const bool is_last = is_farewell(kind);
  const bool is_one_way = frame.kind == FrameKind::one_way;
  if (operation.one_way != is_one_way || (is_one_way && !is_move && !is_last) ||
      (!is_one_way && is_last) || (operation.kept && !(is_one_way && is_move)))
    return fmt::format("{} as a {}", operation_name(kind), is_one_way ? "push" : "request");
  if (operation.failure && !is_move && !is_last)
    return fmt::format("{} that failed before", operation_name(kind));
  if (!is_one_way && is_of_standing(frame.call)) {
    if (!is_move) return fmt::format("{} in a standing call", operation_name(kind));
    if (operation.segments != 1)
      return fmt::format("segment {} of {} in a standing call", operation.segment,
                         operation.segments);
  }
  if (!operation.payload.empty() && !is_move && kind != OperationKind::enter)
    return fmt::format("{} with {} bytes", operation_name(kind), operation.payload.size());
  if (kind == OperationKind::traffic && operation.number >= plan_.graphs.size())
    return fmt::format("traffic of graph {} of {}", operation.number, plan_.graphs.size());
  return {};
}

std::string Validator::wrong_place(const Frame& frame, Entrance* entrance, const Way*& way) {
  const Operation& operation = frame.operation;
  const bool comes_from_there =
      entrance != nullptr &&
      std::binary_search(entrance->from_hosts.begin(), entrance->from_hosts.end(), frame.from_host);
  if (!comes_from_there)
    return fmt::format("stage {}, where no path from there enters", frame.stage);
  if (operation.kind == OperationKind::clock) return {};
  way = way_into(*entrance, operation.path);
  if (way == nullptr || way->from_host != frame.from_host)
    return fmt::format("path {} at stage {}, where it does not enter", operation.path, frame.stage);
  const std::uint32_t threads = std::max(1u, plan_.paths[operation.path].threads);
  if (operation.thread >= threads)
    return fmt::format("thread {} of path {}, which has {}", operation.thread, operation.path,
                       threads);
  const std::uint32_t slot = way->first_slot + (way->slots > 1 ? operation.thread : 0);
  if (operation.slot != slot) return fmt::format("slot {}, expected {}", operation.slot, slot);
  return {};
}

/// Returns the data of a path that enters this host at the stage of `entrance`; nullptr if the path
/// does not enter there. The first call for a path computes the data from the path's stages, and
/// stores it for later calls.
const Validator::Way* Validator::way_into(Entrance& entrance, std::uint32_t path) const {
  const auto known =
      std::lower_bound(entrance.ways.begin(), entrance.ways.end(), path,
                       [](const auto& way, std::uint32_t wanted) { return way.first < wanted; });
  if (known != entrance.ways.end() && known->first == path) return &known->second;
  const Plan::PlanPath& begun = plan_.paths[path];
  Way found;
  found.first_slot = begun.slot;
  found.slots = std::max(1u, begun.threads);
  for (StageId at = begun.stage; at != no_stage; at = plan_.stages[at].below) {
    pass(at, found);
    if (plan_.stages[at].below == entrance.stage)
      return &entrance.ways.emplace(known, path, found)->second;
  }
  return nullptr;
}

void Validator::pass(StageId stage, Way& way) const {
  const Plan::PlanStage& passed = plan_.stages[stage];
  const Plan::PlanWrapper& wrapper = plan_.wrappers[passed.wrapper];
  const WrapperKind& kind = kinds_.at(wrapper.kind);
  // The stages below a join see all paths above the join as one contributor.
  const bool joins = kind.joins();
  way.first_slot = passed.slot + (joins ? 0 : way.first_slot);
  if (joins) way.slots = 1;
  const bool has_root = kind.collective && !kind.collective->root_slot.empty();
  if (has_root && wrapper.settings.find(kind.collective->root_slot) == nullptr)
    way.has_order = false;
  way.from_host = wrapper.host;
  if (const base::Settings* rounds = wrapper.settings.find("rounds"))
    way.inside_max += std::strtoull(rounds->text().c_str(), nullptr, 10);
}

// ---- results of other hosts ------------------------------------------------------------------

std::string Validator::wrong_answer(StageId stage, const OperationHead& asked,
                                    const Result& answer) {
  const std::size_t size = answer.payload.size();
  const std::optional<pastset::Template>* expected = nullptr;
  switch (asked.kind) {
    case OperationKind::move: expected = &tuples(stage, asked.path).moved; break;
    case OperationKind::observe:
    case OperationKind::observe_number:
    case OperationKind::newest: expected = &tuples(stage, asked.path).read; break;
    case OperationKind::traffic: return {};  // checked by Path::traffic()
    default: return size == 0 ? std::string() : fmt::format("{} bytes with a number", size);
  }
  // Some moves return no value, for example in a reduction whose root is a different thread.
  if (!*expected || (size == 0 && asked.kind == OperationKind::move)) return {};
  const std::string mismatch = (*expected)->mismatch(answer.payload);
  return mismatch.empty() ? mismatch : "bytes that are not a tuple: " + mismatch;
}

bool Validator::is_surely_right(StageId stage, const OperationHead& asked, const Result& answer) {
  if (asked.kind != OperationKind::move) return false;
  const auto& moved = tuples(stage, asked.path).moved;
  return moved && moved->surely_takes(answer.payload);
}

const Validator::Tuples& Validator::tuples(StageId stage, std::uint32_t path) {
  const std::uint64_t place = key(stage, path);
  if (last_tuples_.second != nullptr && last_tuples_.first == place) return *last_tuples_.second;
  const auto [known, is_new] = tuples_.try_emplace(place);
  if (is_new) known->second = templates_at(plan_, kinds_, path, stage);
  last_tuples_ = {place, &known->second};
  return known->second;
}

// ---- moves of one slot -----------------------------------------------------------------------

bool Validator::Moves::note_next(std::uint64_t sequence, bool may_overtake) {
  if (sequence != next_ || sequence == std::numeric_limits<std::uint64_t>::max()) return false;
  ++next_;
  if (!may_overtake) next_in_order_ = next_;
  return true;
}

bool Validator::Moves::is_new(std::uint64_t sequence) const {
  if (sequence >= next_) return true;
  return std::any_of(gaps_.begin(), gaps_.end(), [sequence](const auto& gap) {
    return gap.first <= sequence && sequence < gap.second;
  });
}

std::string Validator::Moves::wrong(std::uint64_t sequence, bool may_overtake) const {
  if (sequence == std::numeric_limits<std::uint64_t>::max()) return "the last move there can be";
  if (!is_new(sequence)) return fmt::format("move {} arrives twice", sequence);
  if (!may_overtake && sequence < next_in_order_)
    return fmt::format("move {} arrives after move {}", sequence, next_in_order_ - 1);
  return {};
}

void Validator::Moves::note(std::uint64_t sequence, bool may_overtake, std::size_t gaps_max) {
  if (sequence >= next_) {
    if (sequence > next_) gaps_.emplace_back(next_, sequence);
    next_ = sequence + 1;
  } else {
    const auto gap = std::find_if(gaps_.begin(), gaps_.end(), [sequence](const auto& one) {
      return one.first <= sequence && sequence < one.second;
    });
    const std::uint64_t end = std::exchange(gap->second, sequence);
    if (sequence + 1 < end) gaps_.insert(std::next(gap), {sequence + 1, end});
    std::erase_if(gaps_, [](const auto& one) { return one.first == one.second; });
  }
  if (gaps_.size() > gaps_max) gaps_.erase(gaps_.begin());
  if (!may_overtake) next_in_order_ = std::max(next_in_order_, sequence + 1);
}

}  // namespace paths
