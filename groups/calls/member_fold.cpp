// SPDX-License-Identifier: Apache-2.0
// groups/calls/member_fold.cpp — search for the member that contributed a wrong value.
#include "groups/calls/member_fold.hpp"

#include <fmt/format.h>

#include <string>

namespace groups {

void MemberFold::check(std::size_t member, std::span<const std::byte> values,
                       std::size_t begin) const {
  try {
    fold_.check(values);
  } catch (const base::BadValue& bad) {
    const std::size_t first_index = begin / element_bytes_;
    throw WrongContribution(place(member), {std::string(bad.wrong()), first_index + *bad.index()});
  }
}

void MemberFold::fold_all(std::span<std::byte> sum, std::size_t begin) {
  const auto given = [&](std::size_t member) {
    return calls_[member]->in.subspan(begin, sum.size());
  };
  std::size_t member = 1;
  try {
    fold_(sum, given(0), given(1));
    for (member = 2; member < calls_.size(); ++member) fold_(sum, sum, given(member));
  } catch (const base::BadValue& bad) {
    for (std::size_t one = 0; one <= member; ++one) check(one, given(one), begin);
    throw_not_combined(place(member), bad, begin);
  }
}

void MemberFold::fold_one(std::uint32_t place, std::span<std::byte> to,
                          std::span<const std::byte> left, std::span<const std::byte> given) {
  try {
    fold_(to, left, given);
  } catch (const base::BadValue& bad) {
    throw_not_combined(place, bad, 0);
  }
}

/// Throws: WrongContribution for a value that is valid alone, but cannot be combined with the
///         values of earlier members.
void MemberFold::throw_not_combined(std::uint32_t place, const base::BadValue& bad,
                                    std::size_t begin) const {
  const std::string why = fmt::format("combining what it contributed: {}", bad.wrong());
  if (!bad.index()) throw WrongContribution(place, base::BadValue(why));
  throw WrongContribution(place, {why, begin / element_bytes_ + *bad.index()});
}

}  // namespace groups
