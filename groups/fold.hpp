// SPDX-License-Identifier: Apache-2.0
// groups/fold.hpp — values of a reduction, folded with the left operand first.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/reduce.hpp"

namespace groups {

/// A value that a member gave, and that a reduction refuses: alone, or combined with others.
class WrongContribution : public base::BadValue {
 public:
  /// `place`: the member's, in the layout of its group.
  WrongContribution(std::uint32_t place, const base::BadValue& why)
      : base::BadValue(why), place_(place) {}
  std::uint32_t place() const { return place_; }

 private:
  std::uint32_t place_;
};

/// How two operands become one. A service that folds lets other services run every 64 KiB.
///
/// Sharing: one context's at a time.
class Fold {
 public:
  Fold() = default;  ///< of what is no reduction: does nothing
  /// The operation outlives it, as all that have a name do.
  Fold(const base::ReduceOperation& operation, base::Scalar scalar, base::Values values);

  /// into = left op right, of as many bytes each; `into` may be either, or apart from both.
  /// Throws: base::BadValue with the index, and then `into` is as it was where it is an operand.
  void operator()(std::span<std::byte> into, std::span<const std::byte> left,
                  std::span<const std::byte> right);
  /// Throws base::BadValue for a NaN, unless values are Values::ieee: of a value that is not, or
  /// not yet, combined with another one. Folding by built-in operations looks at both operands.
  void check(std::span<const std::byte> values) const;
  /// The bytes of as many whole elements as fit into so many, at least one.
  std::size_t whole_elements(std::size_t bytes) const {
    return std::max(element_bytes_, bytes - bytes % element_bytes_);
  }
  std::size_t element_bytes() const { return element_bytes_; }
  /// Runs no code of the application.
  bool is_built_in() const { return operation_ == nullptr || elements_ != nullptr; }
  /// One value, as if it had been folded with nothing.
  void alone(std::span<std::byte> values) const;

 private:
  void yield_after(std::size_t bytes);
  base::ReduceShape shape(std::size_t bytes) const;
  const base::ReduceOperation::Combine& combining() const;
  void combine(std::span<std::byte> into, std::span<const std::byte> left,
               std::span<const std::byte> right, std::size_t first_index = 0);
  const base::ReduceOperation* operation_ = nullptr;
  base::Scalar scalar_ = base::Scalar::u8;
  base::Values values_ = base::Values::checked;
  std::size_t element_bytes_ = 1;
  base::CombineElements elements_ = nullptr;
  std::vector<std::byte> left_;  // that is combined into
  std::size_t since_yield_ = 0;  // bytes
};

}  // namespace groups
