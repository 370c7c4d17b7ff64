// SPDX-License-Identifier: Apache-2.0
// bench/support/provenance.cpp — queries of the system for time, machine and memory
#include "bench/support/provenance.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "base/version.hpp"
#include "runtime/runtime.hpp"

namespace bench {

nlohmann::ordered_json provenance(std::optional<double> wall_seconds) {
  utsname machine{};
  uname(&machine);
  nlohmann::ordered_json json = {
      {"time", runtime::utc_text()},
      {"machine", machine.nodename},
      {"system", fmt::format("{} {} {}", machine.sysname, machine.release, machine.machine)}};
  if (wall_seconds) json["wall_seconds"] = *wall_seconds;
  json["version"] = base::version;
  return json;
}

std::uint64_t peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace bench
