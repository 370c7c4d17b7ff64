// SPDX-License-Identifier: Apache-2.0
// tests/collectives/schedule/proofs.cpp — digests of schedules and collectives.
#include "tests/collectives/schedule/proofs.hpp"

#include "base/errors.hpp"
#include "collectives/cost/outline.hpp"

namespace collectives {

base::Digest Proofs::digest(const CollectiveSpec& task) const {
  std::vector<std::uint64_t> numbers{static_cast<std::uint64_t>(task.collective), task.root,
                                     task.counts.blocks()};
  for (std::size_t block = 0; block < task.counts.blocks(); ++block)
    numbers.push_back(task.counts.block(block).count);
  for (const Steps& steps : schedule_) {
    numbers.push_back(steps.size());
    for (std::size_t index = 0; index < steps.size(); ++index)
      pricing::append(numbers, steps[index]);
  }
  return base::digest_of(std::as_bytes(std::span(numbers)));
}

std::string Proofs::mistake(const Algorithm& algorithm, const CollectiveSpec& task,
                            const Parameters& parameters) {
  ENSURE(task.topology == topology_);
  ++schedules_;
  schedule_of(algorithm, task, parameters, schedule_);
  const auto [known, is_new] = orders_.try_emplace(digest(task), Order::canonical);
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
