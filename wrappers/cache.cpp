// SPDX-License-Identifier: Apache-2.0
// wrappers/cache.cpp — look-up of recent tuples by number.
#include "wrappers/cache.hpp"

#include <iterator>
#include <memory>
#include <utility>

namespace wrappers {

using paths::OperationKind;

void Cache::handle(paths::Operation&& operation, paths::Next next, paths::Responder& responder) {
  if (std::optional<paths::Result> answer = known(operation))
    return responder.reply(*std::move(answer));
  responder.on_reply([this, kind = operation.kind, number = operation.number](
                         paths::Responder up, paths::Outcome&& outcome) {
    if (!outcome.failure) learn(kind, number, outcome.result);
    up.reply(std::move(outcome));
  });
  next.handle(std::move(operation), std::move(responder));
}

std::optional<paths::Result> Cache::known(const paths::Operation& operation) const {
  runtime::Lock lock(mutex_);
  auto found = kept_.end();
  if (operation.kind == OperationKind::observe_number) found = kept_.find(operation.number);
  if (operation.kind == OperationKind::newest && !kept_.empty()) {
    const auto last = std::prev(kept_.end());
    if (last->first >= operation.number) found = last;
  }
  if (found == kept_.end()) return std::nullopt;
  paths::Result answer = found->second;
  answer.sequence = operation.sequence;
  return answer;
}

void Cache::learn(OperationKind kind, std::uint64_t number, const paths::Result& result) {
  runtime::Lock lock(mutex_);
  switch (kind) {
    case OperationKind::observe:
    case OperationKind::observe_number:
    case OperationKind::newest:
      kept_.insert_or_assign(result.number, result);
      if (kept_.size() > keep_) kept_.erase(kept_.begin());
      break;
    case OperationKind::axe: kept_.erase(kept_.begin(), kept_.upper_bound(number)); break;
    case OperationKind::delete_element: kept_.clear(); break;
    default: break;
  }
}

paths::WrapperKind cache_kind() {
  paths::WrapperKind kind;
  kind.name = "cache";
  kind.help = "Replies to reads with the newest tuples that passed up through it.";
  kind.settings = {
      {"keep", "integer from 1", "1", "Number of tuples to keep, those with the highest numbers."}};
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace&) -> paths::MakeWrapper {
    const auto keep = static_cast<std::size_t>(reader.integer("keep", 1, 1, 1'000'000));
    return [keep](paths::Deployment&) { return std::make_unique<Cache>(keep); };
  };
  return kind;
}

}  // namespace wrappers
