// SPDX-License-Identifier: Apache-2.0
// wrappers/cache.hpp — cache of tuples that passed earlier, which serves later reads.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"
#include "runtime/wait.hpp"

namespace wrappers {

/// Keeps the newest few tuples that came up through this wrapper, and replies to later reads with
/// these tuples. It replies to a read by number if it has the tuple with that number. It replies to
/// newest(from) if it has tuple `from` or a later tuple. All other operations go down the path.
///
/// The reply to newest(from) may be older than the newest tuple of the element. The reply to a read
/// by number may be a tuple that an operation on another path has already axed. If an axe or delete
/// passes through this wrapper, the wrapper drops the affected tuples.
///
/// Context: runs in the context of the operation.
/// Blocks:  never.
/// Throws:  nothing of its own.
/// Order:   A reply from the cache may overtake operations that went down earlier.
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
  std::map<std::uint64_t, paths::Result> kept_;  // newest tuples, by tuple number
};

paths::WrapperKind cache_kind();

}  // namespace wrappers
