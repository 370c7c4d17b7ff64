// SPDX-License-Identifier: Apache-2.0
// wrappers/cache.hpp — answers reads from tuples that passed before.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"
#include "runtime/wait.hpp"

namespace wrappers {

/// Keeps the newest few tuples that came up through it as answers to observe and newest. A read
/// of a tuple by number is answered from them; newest(from) as well, when one of them is `from`
/// or later. Everything else goes down.
///
/// The answer of newest may be older than the element's newest tuple, and a tuple read by number
/// may have been axed by a path that does not pass here. An axe or delete that passes here empties
/// the cache accordingly.
///
/// Context: whichever brought the operation.
/// Blocks:  nothing of its own.
/// Order:   an answer from the cache may overtake operations that went down before it.
/// Throws:  nothing of its own.
class Cache final : public paths::Wrapper {
 public:
  explicit Cache(std::size_t keep) : keep_(keep) {}
  void handle(paths::Operation&& operation, paths::Next next, paths::Responder& responder) override;
  paths::OperationSet nonblocking_operations() const override { return paths::OperationSet::all(); }

 private:
  std::optional<paths::Result> known(const paths::Operation& operation) const;
  void learn(paths::OperationKind kind, std::uint64_t number, const paths::Result& result);

  const std::size_t keep_;
  mutable runtime::Mutex mutex_;
  std::map<std::uint64_t, paths::Result> kept_;  // by the tuple's number
};

paths::WrapperKind cache_kind();

}  // namespace wrappers
