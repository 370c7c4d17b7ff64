// SPDX-License-Identifier: Apache-2.0
// wrappers/forward.cpp — calls and pushes to another host.
#include "wrappers/forward.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/near_match.hpp"
#include "paths/host/deployment.hpp"
#include "paths/plan/plan.hpp"

namespace wrappers {
namespace {

std::uint32_t read_host(base::MapReader& reader, const paths::WrapperPlace& place) {
  const std::string name = reader.required_word("to", "the name of a host");
  if (name.empty()) return 0;  // the reader has reported the mistake
  if (const std::optional<std::uint32_t> host = place.plan().host_named(name)) {
    if (*host == place.host()) {
      reader.mistake("to", fmt::format("expected another host, found '{}', its own", name));
    }
    return *host;
  }
  std::vector<std::string_view> names;
  for (const auto& host : place.plan().hosts) names.push_back(host.name);
  reader.mistake("to", fmt::format("expected the name of a host, found '{}'{}", name,
                                   base::did_you_mean(name, names)));
  return 0;
}

}  // namespace

void Forward::handle(paths::Operation&& operation, paths::Next next, paths::Responder& responder) {
  const paths::StageId stage = leave(operation, next);
  if (!operation.one_way)
    return next.deployment().remote_calls().call(to_host_, next.stage(), std::move(operation),
                                                 responder);
  next.deployment().remote_calls().push(to_host_, stage, std::move(operation));
  responder.reply(paths::Result{});
}

/// Prepares the operation for the other host. Returns the stage of that host at which the operation
/// continues.
paths::StageId Forward::leave(paths::Operation& operation, const paths::Next& next) {
  next.taken();
  operation.slot += next.stage().slot;
  if (paths::is_farewell(operation.kind)) operation.one_way = true;
  return next.stage().below_id;
}

paths::WrapperKind forward_kind() {
  paths::WrapperKind kind;
  kind.name = "forward";
  kind.help = "Carries operations to another host, where the path continues.";
  kind.settings = {{"to", "host", "required", "Host on which the path continues."}};
  kind.job = paths::Job::crossing;
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace& place) -> paths::MakeWrapper {
    const std::uint32_t to_host = read_host(reader, place);
    return [to_host](paths::Deployment&) { return std::make_unique<Forward>(to_host); };
  };
  return kind;
}

}  // namespace wrappers
