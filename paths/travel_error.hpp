// SPDX-License-Identifier: Apache-2.0
// paths/travel_error.hpp — error of an operation on a path: where it failed, and why.
#pragma once
#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#include "pastset/errors.hpp"

namespace paths {

/// Cause of the failure of an operation. A program may retry after some causes and stop after other
/// causes.
enum class FailureCause : std::uint8_t {
  other,          ///< any cause that is not listed below, or an unknown one
  deadline,       ///< expected message or contribution missing at the deadline
  peer_gone,      ///< host that ended, detached or could not be reached
  released,       ///< contributor that released its path before this round
  refused_value,  ///< value that must not be combined, or an overflow
  application,    ///< exception in application code, or failed application thread
  ended,          ///< end or cancellation of this host or of the run
};

/// Error that fails an operation on a path: a lost peer, a passed deadline, an exception in a
/// wrapper, or a value that must not be reduced. The error travels along the path, crosses hosts
/// and reaches every thread of the round. The error names the host, path and wrapper where it
/// began.
class TravelError : public std::runtime_error {
 public:
  TravelError(std::string host, std::string path, std::string wrapper, std::string reason,
              FailureCause cause = FailureCause::other);
  const std::string& host() const { return host_; }
  const std::string& path() const { return path_; }        ///< name of the collective or element
  const std::string& wrapper() const { return wrapper_; }  ///< "" if no wrapper was reached
  const std::string& reason() const { return reason_; }
  FailureCause cause() const { return cause_; }

 private:
  std::string host_, path_, wrapper_, reason_;
  FailureCause cause_;
};

/// Returns the error mark that an element gets because of `error`. A mark is an error text that an
/// element keeps in place of further tuples.
pastset::ErrorMark mark_of(const std::exception& error);
/// Returns the error that an error mark describes. The host, path and wrapper of this error are "",
/// because the text of the mark names them.
TravelError error_of_mark(const pastset::ErrorMark& mark);

using Failure = std::shared_ptr<const TravelError>;

}  // namespace paths
