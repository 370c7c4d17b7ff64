// SPDX-License-Identifier: Apache-2.0
// paths/config/read_security.hpp — protection of connections over TCP
#pragma once
#include "base/settings.hpp"
#include "paths/plan/plan.hpp"

namespace paths {

/// Reads the word of `security`.
void read_security(base::MapReader& network, const base::Settings& security, Plan& plan);

}  // namespace paths
