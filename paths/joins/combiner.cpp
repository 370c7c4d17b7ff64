// SPDX-License-Identifier: Apache-2.0
// paths/joins/combiner.cpp — combination of a round's contributions, as a whole or part by part.
#include "paths/joins/combiner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/buffer.hpp"
#include "base/errors.hpp"
#include "base/reduce.hpp"
#include "paths/plan/plan.hpp"
#include "runtime/runtime.hpp"

namespace paths {

Combiner::Combiner(const HostView& view, const Wrapper& join, std::uint32_t index,
                   std::optional<Reduction> reduction, bool is_by_last, runtime::Mutex& mutex)
    : view_(view),
      join_(join),
      index_(index),
      reduction_(std::move(reduction)),
      bytes_(reduction_ ? reduction_->shape.bytes() : 0),
      checks_in_fold_(is_by_last && view.plan().wrappers[index].slots > 1 && reduction_ &&
                      reduction_->elements != nullptr),
      mutex_(mutex) {}

base::Sign Combiner::sign_of(std::uint32_t path, std::uint64_t contributions) const {
  return reduction_->sign_of(view_.plan(), index_, path, contributions);
}

void Combiner::check(Operation& contribution) const {
  if (!reduction_ || contribution.failure) return;
  if (checks_in_fold_ && contribution.payload.size() == bytes_) return;
  const std::string wrong = reduction_->wrong(
      contribution.payload, sign_of(contribution.path, contribution.contributions));
  if (wrong.empty()) return reduction_->normalize(contribution);
  contribution.payload = {};
  contribution.failure =
      refused(contribution.slot, contribution.path, contribution.sequence, wrong);
}

bool Combiner::is_short() const {
  if (!reduction_ || view_.plan().wrappers[index_].slots == 1) return true;
  return reduction_->elements != nullptr && bytes_ <= fold_part_bytes;
}

Failure Combiner::first_wrong(std::span<const Contribution> contributions,
                              std::uint64_t sequence) const {
  if (!checks_in_fold_) return nullptr;
  for (std::uint32_t slot = 0; slot < contributions.size(); ++slot) {
    const Contribution& one = contributions[slot];
    const std::string wrong = reduction_->wrong(one.payload, sign_of(one.path, one.contributions));
    if (!wrong.empty()) return refused(slot, one.path, sequence, wrong);
  }
  return nullptr;
}

Failure Combiner::refused(std::uint32_t slot, std::uint32_t path, std::uint64_t sequence,
                          const std::string& why) const {
  return view_.failure(
      join_.name(), path,
      fmt::format("round {}: {}: {}", sequence, view_.plan().contributor(index_, slot), why),
      FailureCause::refused_value);
}

void Combiner::combine(Round& round, Operation& operation) const {
  operation.contributions = 0;
  for (const Contribution& one : round.by_slot) operation.contributions += one.contributions;
  if (!reduction_) return;
  if (round.by_slot.size() == 1) {
    operation.payload = round.by_slot[0].payload;
  } else if (reduction_->elements == nullptr) {
    operation.payload = fold_whole(round, operation);
  } else if (auto sum = fold(round)) {
    operation.payload = *std::move(sum);
    if (operation.payload.size() >= shared_fold_bytes)
      for (Contribution& one : round.by_slot) one.payload = {};
  } else {
    if (const Failure wrong = first_wrong(round.by_slot, operation.sequence))
      throw TravelError(*wrong);
    fold_whole(round, operation);
    base::report_bug(__FILE__, __LINE__, "parts could not be combined, but the whole can");
  }
}

/// Combines the contributions one after the other, each as a whole.
/// Throws: TravelError that names the contributor if a value cannot be combined.
base::Payload Combiner::fold_whole(const Round& round, const Operation& operation) const {
  const std::span<const std::byte> first = round.by_slot[0].payload.bytes();
  return base::Payload::filled(first.size(), [&](std::span<std::byte> sum) {
    std::copy(first.begin(), first.end(), sum.begin());
    for (std::uint32_t slot = 1; slot < round.by_slot.size(); ++slot) {
      if (sum.size() > fold_part_bytes) runtime::yield_to_services();
      try {
        reduction_->fold(sum, round.by_slot[slot].payload.bytes());
      } catch (const base::BadValue& bad) {
        throw TravelError(*view_.failure(
            join_.name(), operation.path,
            fmt::format("round {}: combining what {} contributed: {}", operation.sequence,
                        view_.plan().contributor(index_, slot), bad.what()),
            FailureCause::refused_value));
      }
    }
  });
}

/// Combines the contributions part by part. For each part, the function combines the values of all
/// slots in the order of the slots. The result therefore has the same bits as the result of
/// fold_whole(), but each byte is read only once. Returns nullopt if a value must not be combined.
std::optional<base::Payload> Combiner::fold(Round& round) const {
  if (bytes_ < shared_fold_bytes || !view_.runtime().is_parallel()) return fold_alone(round);
  {
    runtime::DeferredWakes wakes;
    auto shared = std::make_unique<SharedFold>(bytes_, fold_part_bytes);
    runtime::Lock lock(mutex_);
    round.fold = std::move(shared);
    round.waiting.wake_all(wakes);
  }
  help(round);
  SharedFold& shared = *round.fold;
  runtime::Lock lock(mutex_);
  while (shared.ended.load(std::memory_order_acquire) < shared.parts)
    shared.waiting.wait(lock, runtime::Deadline::never(),
                        {"the last part of a sum in", join_.name()});
  return shared.is_right ? std::optional(std::move(shared.sum).freeze()) : std::nullopt;
}

std::optional<base::Payload> Combiner::fold_alone(const Round& round) const {
  bool is_right = true;
  base::Buffer sum(bytes_);
  for (std::size_t at = 0; at < bytes_; at += fold_part_bytes) {
    if (at > 0) runtime::yield_to_services();
    if (!fold_part(round, sum.bytes(), at)) is_right = false;
  }
  return is_right ? std::optional(std::move(sum).freeze()) : std::nullopt;
}

/// Combines the part of all contributions that begins at byte `at`, and stores the result at the
/// same place in `to`. Returns false if this part of any contribution contains a value that must
/// not be combined.
bool Combiner::fold_part(const Round& round, std::span<std::byte> to, std::size_t at) const {
  const auto part_of = [at](auto bytes) {
    return bytes.subspan(at, std::min(fold_part_bytes, bytes.size() - at));
  };
  const std::span<std::byte> sum = part_of(to);
  bool is_right = true;
  std::span<const std::byte> left;
  for (const Contribution& one : round.by_slot) {
    const std::span<const std::byte> mine = part_of(one.payload.bytes());
    const base::Sign sign = sign_of(one.path, one.contributions);
    if (sign != base::Sign::any)
      is_right &= base::are_right(reduction_->shape.scalar, sign, reduction_->values, mine);
    if (&one != &round.by_slot.front()) {
      is_right &= reduction_->elements(sum, left, mine);
      left = sum;
    } else {
      left = mine;
    }
  }
  return is_right;
}

bool Combiner::can_help(const Round& round) const {
  return round.fold && round.fold->begun.load(std::memory_order_relaxed) < round.fold->parts &&
         !view_.runtime().on_services_thread();
}

void Combiner::help(Round& round) const {
  SharedFold& shared = *round.fold;
  for (;;) {
    const std::size_t part = shared.begun.fetch_add(1, std::memory_order_relaxed);
    if (part >= shared.parts) return;
    if (!fold_part(round, shared.sum.bytes(), part * fold_part_bytes)) shared.is_right = false;
    if (shared.ended.fetch_add(1, std::memory_order_acq_rel) + 1 < shared.parts) {
      runtime::yield_to_services();
      continue;
    }
    runtime::DeferredWakes wakes;
    runtime::Lock lock(mutex_);
    shared.waiting.wake_all(wakes);
    return;
  }
}

}  // namespace paths
