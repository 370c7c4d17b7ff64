// SPDX-License-Identifier: Apache-2.0
// pastset/shared/glanced_tuples.cpp — copies of tuples that may be dropped at any moment
#include "pastset/shared/glanced_tuples.hpp"

#include <string>
#include <utility>

#include "pastset/waiters.hpp"

namespace pastset {

void GlancedTuples::refuse_deleted() const {
  if (log_.is_deleted()) throw deleted(element_);
}

bool GlancedTuples::has(Access::Kind kind, std::uint64_t number) const {
  const SharedLog::Numbers it = log_.range().numbers_now();
  switch (kind) {
    case Access::Kind::observe_number: return number < it.last;
    case Access::Kind::newest: return it.oldest < it.last && number < it.last;
    default: return false;
  }
}

Stored GlancedTuples::take(Access::Kind kind, std::uint64_t number) const {
  const bool is_newest = kind == Access::Kind::newest;
  if (auto stored = is_newest ? newest_now(0) : glance(number)) return std::move(*stored);
  const SharedLog::Numbers it = log_.range().numbers_now();
  throw expired(element_, is_newest ? it.last : number, it.oldest);
}

std::optional<Stored> GlancedTuples::newest_now(std::uint64_t from) const {
  for (int tried = 0; tried < 1000 && has(Access::Kind::newest, from); ++tried)
    if (auto stored = glance(log_.range().numbers_now().last - 1)) return stored;
  return std::nullopt;
}

std::optional<Stored> GlancedTuples::glance(std::uint64_t number) const {
  std::optional<base::Payload> copied = log_.glance(number);
  refuse_deleted();
  if (!copied) return std::nullopt;
  if (const std::string mismatch = element_.tuple_template().mismatch(*copied); !mismatch.empty())
    throw log_.overwritten(number, mismatch);
  copied->set_type(element_.tuple_template().value_type());
  return Stored{number, std::move(*copied)};
}

}  // namespace pastset
