// SPDX-License-Identifier: Apache-2.0
// groups/calls/fold.hpp — folding of reduction values, with the left operand first.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/reduce.hpp"

namespace groups {

/// Exception for a member's value that a reduction rejects, either alone or when it is combined
/// with other values.
class WrongContribution : public base::BadValue {
 public:
  /// `place` is the member's place in the layout of its group.
  WrongContribution(std::uint32_t place, const base::BadValue& why)
      : base::BadValue(why), place_(place) {}
  std::uint32_t place() const { return place_; }

 private:
  std::uint32_t place_;
};

/// Applies a reduction operation to two operands. In a service context (a fiber that does work for
/// other hosts), it lets other fibers run after every 64 KiB of folded values.
///
/// Thread-safe: no; one OS thread or fiber at a time.
class Fold {
 public:
  Fold() = default;  ///< folds nothing; for collectives other than reductions
  /// Requires: `operation` outlives this object. Operations of base::reduce_operation() always do.
  Fold(const base::ReduceOperation& operation, base::Scalar scalar, base::Values values);

  /// Stores left op right in `into`; all three spans have the same size. `into` may be identical to
  /// an operand, but must not overlap an operand partly.
  /// Throws: base::BadValue with the index of the element. If `into` is an operand, its elements
  ///         from the failing block on are unchanged.
  void operator()(std::span<std::byte> into, std::span<const std::byte> left,
                  std::span<const std::byte> right);
  /// Stores values[0] op values[1] op ..., from the left, in `into`. There are at least two values.
  /// Each value has the size of `into`, and no value overlaps `into`.
  /// Throws: base::BadValue with the index of the element. `into` is then undefined.
  void fold_all(std::span<std::byte> into, std::span<const std::span<const std::byte>> values);
  /// Checks the values of a contribution that was not combined with other contributions. Folding
  /// with a built-in operation needs no such check, because the operation checks both operands.
  /// Throws: base::BadValue for a NaN, unless values are Values::ieee.
  void check(std::span<const std::byte> values) const;
  /// Returns the largest multiple of the element size that is at most `bytes`, but at least the
  /// element size.
  std::size_t whole_elements(std::size_t bytes) const {
    return std::max(element_bytes_, bytes - bytes % element_bytes_);
  }
  std::size_t element_bytes() const { return element_bytes_; }
  /// Returns whether folding runs no code of the application.
  bool is_built_in() const { return operation_ == nullptr || elements_ != nullptr; }
  /// Normalizes a contribution that was not combined with other contributions
  /// (ReduceOperation::normalize). Results of folding need no such call, because combining also
  /// normalizes.
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
  std::vector<std::byte> left_;  // copy of the left operand; receives the combination
  std::size_t since_yield_ = 0;  // bytes folded since the last yield
};

}  // namespace groups
