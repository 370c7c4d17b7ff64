// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/proofs.cpp — digests of schedules and collectives.
#include "collectives/schedule/proofs.hpp"

#include "base/errors.hpp"

namespace collectives {
namespace {

/// Two 64-bit hashes that mix differently.
class StepsDigest {
 public:
  void add(std::uint64_t word) {
    high_ = (high_ ^ word) * 0x9E3779B97F4A7C15;
    high_ ^= high_ >> 29;
    low_ = (low_ + word) * 0xC2B2AE3D27D4EB4F;
    low_ ^= low_ >> 31;
  }
  void add(std::uint64_t upper, std::uint64_t lower) { add(upper << 32 | lower); }
  void add(const Step& step) {
    add(static_cast<std::uint64_t>(step.action), step.peer);
    add(step.channel, step.blocks.size());
    for (const Block& block : step.blocks) {
      add(static_cast<std::uint64_t>(block.buffer.storage), block.buffer.index);
      add(block.cells.offset);
      add(block.cells.count);
    }
  }
  std::uint64_t high() const { return high_; }
  std::uint64_t low() const { return low_; }

 private:
  std::uint64_t high_ = 1, low_ = 2;
};

}  // namespace

Proofs::Key Proofs::key(const CollectiveSpec& task) const {
  StepsDigest digest;
  digest.add(static_cast<std::uint64_t>(task.collective), task.root);
  digest.add(task.counts.blocks());
  for (std::size_t block = 0; block < task.counts.blocks(); ++block)
    digest.add(task.counts.block(block).count);
  for (const Steps& steps : schedule_) {
    digest.add(steps.size());
    for (std::size_t index = 0; index < steps.size(); ++index) digest.add(steps[index]);
  }
  return {digest.high(), digest.low()};
}

std::string Proofs::mistake(const Algorithm& algorithm, const CollectiveSpec& task,
                            const Parameters& parameters) {
  ENSURE(task.topology == topology_);
  ++schedules_;
  schedule_of(algorithm, task, parameters, schedule_);
  const auto [known, is_new] = orders_.try_emplace(key(task), Order::canonical);
  if (is_new) {
    ++verified_;
    const Verdict verdict = verify(task, schedule_);
    if (!verdict.holds()) {
      orders_.erase(known);
      return verdict.mistake;
    }
    known->second = verdict.order;
  }
  return wrong_order(algorithm, task, parameters, known->second);
}

}  // namespace collectives
