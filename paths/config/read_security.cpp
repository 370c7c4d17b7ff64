// SPDX-License-Identifier: Apache-2.0
// paths/config/read_security.cpp — modes of protection
#include "paths/config/read_security.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>

#include "base/near_match.hpp"

namespace paths {

void read_security(base::MapReader& network, const base::Settings& security, Plan& plan) {
  if (security.is_null()) return;
  plan.security_written = true;
  const auto word = security.is_scalar() ? Plan::security_named(security.text())
                                         : std::optional<Plan::Security>();
  if (word) {
    plan.security = *word;
    return;
  }
  const auto& words = Plan::security_words;
  const std::string near =
      security.is_scalar() ? base::did_you_mean(security.text(), {words.begin(), words.end()}) : "";
  network.mistake("security", fmt::format("expected {}, found {}{}", fmt::join(words, ", "),
                                          security.describe(), near));
}

}  // namespace paths
