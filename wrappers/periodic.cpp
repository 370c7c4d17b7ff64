// SPDX-License-Identifier: Apache-2.0
// wrappers/periodic.cpp — passage of one round in `every`.
#include "wrappers/periodic.hpp"

#include <memory>
#include <utility>

namespace wrappers {

void Periodic::handle(paths::Operation&& operation, paths::Next next, paths::Responder& responder) {
  // Only rounds whose number, counted from 1, is a multiple of `every_` reach the joins below. The
  // sequence number of a withdrawal or release equals the number of the last round before it. This
  // number is lowered to that of the last round that reached the joins.
  if (paths::is_farewell(operation.kind)) operation.sequence -= operation.sequence % every_;
  const bool goes_on =
      operation.kind != paths::OperationKind::move || (operation.sequence + 1) % every_ == 0;
  if (goes_on) return next.handle(std::move(operation), std::move(responder));
  next.taken();
  if (operation.failure) return responder.fail(operation.failure);
  responder.reply(paths::unchecked_result(operation, std::move(operation.payload)));
}

paths::WrapperKind periodic_kind() {
  paths::WrapperKind kind;
  kind.name = "periodic";
  kind.help = "Passes one round in `every` down; the others return at once, unchecked.";
  kind.job = paths::Job::gate;
  kind.may_answer_partial_values = true;
  kind.settings = {{"every", "integer from 1", "required",
                    "Period of the rounds that go down, counted from 1."}};
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace&) -> paths::MakeWrapper {
    if (!reader.has("every")) reader.mistake("every", "missing, expected a number of rounds");
    const auto every = static_cast<std::uint64_t>(reader.integer("every", 1, 1, 1'000'000'000));
    return [every](paths::Deployment&) { return std::make_unique<Periodic>(every); };
  };
  return kind;
}

}  // namespace wrappers
