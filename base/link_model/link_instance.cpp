// SPDX-License-Identifier: Apache-2.0
// base/link_model/link_instance.cpp — timing of messages, frames and control messages on a link
#include "base/link_model/link_instance.hpp"

#include <algorithm>

namespace tuning {

base::Nanos LinkInstance::pass(base::Nanos now, std::uint64_t bytes) {
  const LinkModel::Passage passage = model_.pass(now, free_at_, bytes);
  free_at_ = passage.free_again;
  last_arrival_ = std::max(last_arrival_, passage.arrives);
  return last_arrival_;
}

LinkInstance::Passage LinkInstance::carry(base::Nanos head, base::Nanos lag, std::uint64_t bytes) {
  const base::Nanos start = std::max(head, free_at_);
  const LinkModel::Passage passage = model_.pass(start, start, bytes);
  const base::Nanos latency = passage.arrives - passage.free_again;
  free_at_ = passage.free_again;
  last_head_ = std::max(last_head_, start + latency);
  const base::Nanos tail = std::max(passage.free_again, head + lag) + latency;
  return {free_at_, last_head_, std::max(tail - last_head_, base::Nanos(0))};
}

base::Nanos LinkInstance::carry_control(base::Nanos now) {
  return last_control_ = std::max(last_control_, now + model_.at(now).latency);
}

}  // namespace tuning
