// SPDX-License-Identifier: Apache-2.0
// wrappers/forward.hpp — transfer of operations to the next stage of a path on another host.
#pragma once
#include <cstdint>

#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"

namespace wrappers {

/// Sends an operation to the next stage of its path, which is on another host, and replies with
/// that host's result. A push or a release takes one frame. Other operations take one frame in each
/// direction.
///
/// Blocks:  until the reply has arrived or the host's deadline has passed; never for a push or a
///          release.
/// Throws:  TravelError if the other host reports a failure, is gone, or replies too late.
/// Context: runs in the context of the operation. On the other host a service context continues it.
/// Order:   Frames of one connection arrive in the order in which they were sent. If a push waits
///          for credits, a newer push of the same path replaces it. A push with the flag `kept` is
///          not replaced.
class Forward final : public paths::Wrapper {
 public:
  explicit Forward(std::uint32_t to_host) : to_host_(to_host) {}
  void handle(paths::Operation&& operation, paths::Next next, paths::Responder& responder) override;
  paths::OperationSet nonblocking_operations() const override {
    return paths::OperationSet::pushes();
  }
  bool sees_failed_operations() const override { return true; }

 private:
  static paths::StageId leave(paths::Operation& operation, const paths::Next& next);
  const std::uint32_t to_host_;
};

paths::WrapperKind forward_kind();

}  // namespace wrappers
