// SPDX-License-Identifier: Apache-2.0
// paths/wire/rejection_log.hpp — what the log is told of those who are turned away.
#pragma once
#include <set>
#include <string>

#include "runtime/wait.hpp"

namespace paths {

/// Whoever makes many connections, or sends many frames, is told of once, and nobody fills the log
/// under many names.
///
/// Sharing: any context may call anything.
class RejectionLog {
 public:
  static constexpr std::size_t sources_max = 32;

  explicit RejectionLog(std::string host) : host_(std::move(host)) {}
  /// `source` is an address, as far as it is known.
  void tell(const std::string& source, const std::string& what);

 private:
  const std::string host_;
  runtime::Mutex mutex_;
  std::set<std::string> told_of_;
};

}  // namespace paths
