// SPDX-License-Identifier: Apache-2.0
// commands/encryption_cost.hpp — price of encrypted TCP connections, for the links of a config.
#pragma once
#include <string>
#include <vector>

#include "collectives/cost/network.hpp"
#include "paths/plan/plan.hpp"

namespace commands {

// Figures that bench/transport_rates.cpp has measured for messages of 1 MiB over TCP.
// docs/reference/config.md has all figures, and tells how they were measured.
/// Processor time of both hosts together, in seconds for each GB.
inline constexpr double plain_seconds_per_gb = 0.6, encrypted_seconds_per_gb = 3.2;
/// Rate that one encrypted connection carries.
inline constexpr double encrypted_bits_per_second = 2.4e9;

/// Returns whether some hosts have encrypted TCP connections with each other. This is not so if the
/// config does not encrypt, or if all hosts are on one machine and share memory.
bool has_encrypted_connection(const paths::Plan& plan);

/// Returns whether hosts of two clusters have encrypted TCP connections with each other.
bool is_link_encrypted(const paths::Plan& plan, const std::string& from, const std::string& to);

/// Returns a text about the price of encryption between the hosts of a plan; "" if they have no
/// encrypted connection.
std::string encryption_text(const paths::Plan& plan);

/// The same, and the fastest link that encryption limits. `clusters` has the names of the network's
/// clusters.
std::string encryption_text(const paths::Plan& plan, const pricing::Network& network,
                            const std::vector<std::string>& clusters);

}  // namespace commands
