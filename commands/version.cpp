// SPDX-License-Identifier: Apache-2.0
// commands/version.cpp — text of `--version`.
#include "commands/version.hpp"

#include <fmt/format.h>

#include "base/version.hpp"
#include "eventspace/page/page.hpp"
#include "paths/wire/zmq/transport.hpp"

namespace commands {
namespace {

#ifdef __clang__
constexpr std::string_view compiler = __VERSION__;
#else
constexpr std::string_view compiler = "g++ " __VERSION__;
#endif
constexpr std::string_view otf2 = PATHS_OTF2_VERSION;

}  // namespace

std::string version_text(std::string_view commit) {
  const bool has_page = !eventspace::page_template().empty();
  return fmt::format(
      "paths {}\n"
      "commit:   {}\n"
      "compiler: {}\n"
      "ZeroMQ:   {}\n"
      "OTF2:     {}\n"
      "page:     {}",
      base::version, commit, compiler, paths::zmq_version(),
      otf2.empty() ? "none: `paths analyze --otf2` does not work" : otf2,
      has_page ? "built in" : "none: `paths analyze --html` does not work");
}

}  // namespace commands
