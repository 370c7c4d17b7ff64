// SPDX-License-Identifier: Apache-2.0
// wrappers/forward.hpp — where a path leaves its host.
#pragma once
#include <cstdint>

#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"

namespace wrappers {

/// Sends an operation to the next stage of its path on another host and answers with what comes
/// back from there. A push and a release are one frame; anything else is a frame each way.
///
/// Context: whichever brought the operation; on the other host a service context takes over.
/// Blocks:  until the answer is there or the host's deadline has passed; a push never.
/// Order:   frames of one connection arrive in the order they were sent. A push that waits for
///          credits is replaced by a newer one of its path, unless it is to be kept.
/// Throws:  TravelError: the other host's own, or one that says that the host is gone or late.
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
