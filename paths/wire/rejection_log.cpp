// SPDX-License-Identifier: Apache-2.0
// paths/wire/rejection_log.cpp — one log line per source, up to a maximum
#include "paths/wire/rejection_log.hpp"

#include <spdlog/spdlog.h>

namespace paths {

void RejectionLog::tell(const std::string& source, const std::string& what) {
  const runtime::Lock lock(mutex_);
  if (notified_of_.size() > sources_max || !notified_of_.insert(source).second) return;
  if (notified_of_.size() > sources_max) {
    spdlog::warn("host {}: further rejected peers are not reported", host_);
  } else if (source.empty()) {
    spdlog::warn("host {}: {}", host_, what);
  } else {
    spdlog::warn("host {}: from {}: {}", host_, source, what);
  }
}

}  // namespace paths
