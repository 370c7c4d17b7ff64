// SPDX-License-Identifier: Apache-2.0
// paths/messages/channels/accounts.cpp — issue, use and return of credit
#include "paths/messages/channels/accounts.hpp"

#include <algorithm>

#include "base/errors.hpp"

namespace paths {

std::uint64_t Account::wants() const {
  const std::uint64_t missing = aim_ > issued_ ? aim_ - issued_ : 0;
  return unused() < least_ || missing >= least_ ? missing : 0;
}

std::uint64_t Account::issue() {
  if (is_closed_) return 0;
  const std::uint64_t bytes = std::min(wants(), inbox_.free());
  issued_ += bytes;
  inbox_.issued_ += bytes;
  return bytes;
}

bool Account::take(std::uint64_t charge) {
  if (is_closed_ || charge > unused()) return false;
  held_ += charge;
  inbox_.held_ += charge;
  inbox_.held_most_ = std::max(inbox_.held_most_, inbox_.held_);
  return true;
}

void Account::give_back(std::uint64_t charge) {
  if (is_closed_) return;
  ENSURE(charge <= held_);
  held_ -= charge;
  issued_ -= charge;
  inbox_.held_ -= charge;
  inbox_.issued_ -= charge;
}

void Account::close() {
  if (is_closed_) return;
  inbox_.issued_ -= issued_;
  inbox_.held_ -= held_;
  issued_ = held_ = 0;
  is_closed_ = true;
}

}  // namespace paths
