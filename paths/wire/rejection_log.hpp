// SPDX-License-Identifier: Apache-2.0
// paths/wire/rejection_log.hpp — rate-limited log of rejected peers
#pragma once
#include <set>
#include <string>

#include "runtime/wait.hpp"

namespace paths {

/// Logs rejected peers: each source once, and at most sources_max sources.
/// Why: without these limits, a peer could fill the log by many connections or bad frames.
///
/// Thread-safe: yes.
class RejectionLog {
 public:
  static constexpr std::size_t sources_max = 32;

  explicit RejectionLog(std::string host) : host_(std::move(host)) {}
  /// Logs `what`, unless a text was logged for `source` before. `source` is an address; "" if the
  /// address is not known.
  void tell(const std::string& source, const std::string& what);

 private:
  const std::string host_;
  runtime::Mutex mutex_;
  std::set<std::string> notified_of_;
};

}  // namespace paths
