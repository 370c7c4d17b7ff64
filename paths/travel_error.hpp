// SPDX-License-Identifier: Apache-2.0
// paths/travel_error.hpp — the world failed: where an operation ended on its way, and why.
#pragma once
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

namespace paths {

/// What kind of event ended an operation. A program can retry after one and give up after another.
enum class FailureCause : std::uint8_t {
  other,          ///< none of these; or unknown, because an element keeps errors as text
  deadline,       ///< something did not come in time
  peer_gone,      ///< a host ended, left or could not be reached
  released,       ///< a contributor released its path before this round
  refused_value,  ///< a value that may not be combined, or an overflow
  application,    ///< code of the application threw, or a thread of it failed
  ended,          ///< this host, or the run, ended or was cancelled
};

/// A peer gone, a deadline passed, a wrapper that threw, a value that may not be reduced. Crosses
/// hosts and reaches every thread whose round it spoils, always naming where it began.
class TravelError : public std::runtime_error {
 public:
  TravelError(std::string host, std::string path, std::string wrapper, std::string reason,
              FailureCause cause = FailureCause::other);
  const std::string& host() const { return host_; }
  const std::string& path() const { return path_; }        ///< the graph's name
  const std::string& wrapper() const { return wrapper_; }  ///< "" when none was reached
  const std::string& reason() const { return reason_; }
  FailureCause cause() const { return cause_; }

 private:
  std::string host_, path_, wrapper_, reason_;
  FailureCause cause_;
};

using Failure = std::shared_ptr<const TravelError>;

}  // namespace paths
