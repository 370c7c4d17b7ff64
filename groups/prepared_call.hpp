// SPDX-License-Identifier: Apache-2.0
// groups/prepared_call.hpp — what is known of a call before anybody's memory comes into it.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "groups/call.hpp"
#include "groups/layout.hpp"
#include "groups/selection.hpp"

namespace groups {

/// Of all calls that are alike. Programs do the same again and again, which then costs them little.
///
/// Sharing: never changes, but for the choice, which is guarded by whoever keeps it.
struct PreparedCall {
  /// Throws UsageError for counts that cannot be.
  PreparedCall(const Call& call, const Layout& layout);
  PreparedCall(const PreparedCall&) = delete;
  PreparedCall& operator=(const PreparedCall&) = delete;
  bool is_of(const Call& other) const;

  const Call call;  ///< without memory
  const CallCounts counts;
  const std::string signature;  ///< what members of a host compare
  const std::uint64_t digest;   ///< of it
  const SelectionKey question;
  mutable std::shared_ptr<const Selection> choice = {};  ///< once somebody has asked
};

/// Those that came last and were not known before.
///
/// Sharing: guarded by whoever has it.
class PreparedCallCache {
 public:
  /// Those of very many counts are not worth their memory.
  static bool keep(const Call& call) { return call.counts.size() <= counts_most; }
  /// Throws as Prepared does.
  std::shared_ptr<const PreparedCall> of(const Call& call, const Layout& layout);

 private:
  static constexpr std::size_t most = 8, counts_most = 1024;
  std::vector<std::shared_ptr<const PreparedCall>> known_;
  std::size_t oldest_ = 0;
};

/// The operation of a reduction; null of everything else.
const base::ReduceOperation* operation_of(const Call& call);

}  // namespace groups
