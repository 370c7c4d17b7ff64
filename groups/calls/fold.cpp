// SPDX-License-Identifier: Apache-2.0
// groups/calls/fold.cpp — folding: block by block with built-in operations, otherwise all at once
#include "groups/calls/fold.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/runtime.hpp"

namespace groups {
namespace {

constexpr std::size_t block_bytes = 4096;
constexpr std::size_t yield_bytes = std::size_t{64} << 10;

/// Returns `bytes`, or a copy of them if they begin at `overwritten`, the memory that the caller is
/// about to overwrite.
std::span<const std::byte> kept(std::span<const std::byte> bytes, const std::byte* overwritten,
                                std::array<std::byte, block_bytes>& copy) {
  if (bytes.data() != overwritten) return bytes;
  std::memcpy(copy.data(), bytes.data(), bytes.size());
  return std::span(copy).first(bytes.size());
}

}  // namespace

Fold::Fold(const base::ReduceOperation& operation, base::Scalar scalar, base::Values values)
    : operation_(&operation),
      scalar_(scalar),
      values_(values),
      element_bytes_(base::ReduceShape{scalar, 1, operation.located}.bytes()) {
  if (operation.elements != nullptr) elements_ = operation.elements(scalar, values);
}

base::ReduceShape Fold::shape(std::size_t bytes) const {
  return {scalar_, bytes / element_bytes_, operation_->located};
}

const base::ReduceOperation::Combine& Fold::combining() const {
  const bool is_ieee = values_ == base::Values::ieee && operation_->combine_ieee;
  return is_ieee ? operation_->combine_ieee : operation_->combine;
}

void Fold::operator()(std::span<std::byte> into, std::span<const std::byte> left,
                      std::span<const std::byte> right) {
  // Nothing to fold: no reduction, or no values (a barrier).
  if (operation_ == nullptr || into.empty()) return;
  if (elements_ == nullptr) {
    yield_after(into.size());
    return combine(into, left, right);
  }
  std::array<std::byte, block_bytes> left_copy, right_copy;
  const std::size_t block = whole_elements(block_bytes);
  for (std::size_t at = 0; at < into.size(); at += block) {
    const std::size_t bytes = std::min(block, into.size() - at);
    yield_after(bytes);
    const auto to = into.subspan(at, bytes);
    const auto left_block = kept(left.subspan(at, bytes), to.data(), left_copy);
    const auto right_block = kept(right.subspan(at, bytes), to.data(), right_copy);
    if (elements_(to, left_block, right_block)) continue;
    if (left_block.data() == left_copy.data()) std::memcpy(to.data(), left_copy.data(), bytes);
    if (right_block.data() == right_copy.data()) std::memcpy(to.data(), right_copy.data(), bytes);
    combine(to, left_block, right_block, at / element_bytes_);
  }
}

void Fold::fold_all(std::span<std::byte> into, std::span<const std::span<const std::byte>> values) {
  if (elements_ == nullptr) {
    (*this)(into, values[0], values[1]);
    for (const auto& value : values.subspan(2)) (*this)(into, into, value);
    return;
  }
  // Memory for intermediate results of a block. A block is small, so that this memory stays in the
  // nearest cache.
  std::array<std::array<std::byte, block_bytes>, 2> between;
  const std::size_t block = whole_elements(block_bytes);
  for (std::size_t at = 0; at < into.size(); at += block) {
    const std::size_t bytes = std::min(block, into.size() - at);
    std::span<const std::byte> left = values[0].subspan(at, bytes);
    try {
      for (std::size_t next = 1; next < values.size(); ++next) {
        const std::span<std::byte> to = next + 1 == values.size()
                                            ? into.subspan(at, bytes)
                                            : std::span(between[next % 2]).first(bytes);
        (*this)(to, left, values[next].subspan(at, bytes));
        left = to;
      }
    } catch (const base::BadValue& bad) {
      if (at == 0 || !bad.index()) throw;
      throw base::BadValue(std::string(bad.wrong()), at / element_bytes_ + *bad.index());
    }
  }
}

/// Yields to other service contexts after each `yield_bytes` folded bytes. Counts the bytes of all
/// calls together.
void Fold::yield_after(std::size_t bytes) {
  if (since_yield_ >= yield_bytes) {
    since_yield_ = 0;
    runtime::yield_to_services();
  }
  since_yield_ += bytes;
}

void Fold::combine(std::span<std::byte> into, std::span<const std::byte> left,
                   std::span<const std::byte> right, std::size_t first_index) {
  left_.assign(left.begin(), left.end());
  try {
    combining()(shape(left_.size()), left_, right);
  } catch (const base::BadValue& bad) {
    if (first_index == 0 || !bad.index()) throw;
    throw base::BadValue(std::string(bad.wrong()), first_index + *bad.index());
  }
  std::memcpy(into.data(), left_.data(), into.size());
}

void Fold::check(std::span<const std::byte> values) const {
  if (operation_ == nullptr) return;
  base::check_contribution(shape(values.size()), base::Sign::any, values, values_);
}

void Fold::alone(std::span<std::byte> values) const {
  if (operation_ != nullptr && operation_->normalize)
    operation_->normalize(shape(values.size()), values);
}

}  // namespace groups
