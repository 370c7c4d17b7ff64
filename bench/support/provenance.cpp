// SPDX-License-Identifier: Apache-2.0
// bench/support/provenance.cpp — asks the system.
#include "bench/support/provenance.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <ctime>

#include "base/version.hpp"

namespace bench {

nlohmann::ordered_json provenance(std::optional<double> wall_seconds) {
  utsname machine{};
  uname(&machine);
  const std::time_t now = std::time(nullptr);  // tidy: real time
  char text[sizeof "2000-01-01T00:00:00Z"];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  nlohmann::ordered_json json = {
      {"time", text},
      {"machine", machine.nodename},
      {"system", fmt::format("{} {} {}", machine.sysname, machine.release, machine.machine)}};
  if (wall_seconds) json["wall_seconds"] = *wall_seconds;
  json["version"] = base::version;
  return json;
}

}  // namespace bench
