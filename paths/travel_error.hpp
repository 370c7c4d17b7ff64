// SPDX-License-Identifier: Apache-2.0
// paths/travel_error.hpp — the world failed: where an operation ended on its way, and why.
#pragma once
#include <memory>
#include <stdexcept>
#include <string>

namespace paths {

/// A peer gone, a deadline passed, a wrapper that threw, a value that may not be reduced. Crosses
/// hosts and reaches every thread whose round it spoils, always naming where it began.
class TravelError : public std::runtime_error {
 public:
  TravelError(std::string host, std::string path, std::string wrapper, std::string reason);
  const std::string& host() const { return host_; }
  const std::string& path() const { return path_; }        ///< the graph's name
  const std::string& wrapper() const { return wrapper_; }  ///< "" when none was reached
  const std::string& reason() const { return reason_; }

 private:
  std::string host_, path_, wrapper_, reason_;
};

using Failure = std::shared_ptr<const TravelError>;

}  // namespace paths
