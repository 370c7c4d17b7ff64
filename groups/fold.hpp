// SPDX-License-Identifier: Apache-2.0
// groups/fold.hpp — values of a reduction, folded with the left operand first.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "base/reduce.hpp"

namespace groups {

/// How two operands become one.
///
/// Sharing: one context's at a time.
class Fold {
 public:
  Fold() = default;  ///< of what is no reduction: does nothing
  /// The operation outlives it, as all that have a name do.
  Fold(const base::ReduceOperation& operation, base::Scalar scalar, base::Values values);

  /// into = left op right, of as many bytes each; `into` may be either, or apart from both.
  /// Throws: base::BadValue.
  void operator()(std::span<std::byte> into, std::span<const std::byte> left,
                  std::span<const std::byte> right);
  /// Runs no code of the application.
  bool is_built_in() const { return operation_ == nullptr || elements_ != nullptr; }
  /// One value, as if it had been folded with nothing.
  void alone(std::span<std::byte> values) const;

 private:
  base::ReduceShape shape(std::size_t bytes) const;
  const base::ReduceOperation::Combine& combining() const;
  void combine(std::span<std::byte> into, std::span<const std::byte> left,
               std::span<const std::byte> right);
  const base::ReduceOperation* operation_ = nullptr;
  base::Scalar scalar_ = base::Scalar::u8;
  base::Values values_ = base::Values::checked;
  std::size_t element_bytes_ = 1;
  base::CombineElements elements_ = nullptr;
  std::vector<std::byte> left_;  // that is combined into
};

}  // namespace groups
