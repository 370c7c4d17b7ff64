// SPDX-License-Identifier: Apache-2.0
// paths/joins/cluster_tuples.cpp — encoding of the tuples that roots exchange.
#include "paths/joins/cluster_tuples.hpp"

#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "pastset/tuple.hpp"

namespace paths {
namespace {

pastset::Template parsed(const char* text) {
  const auto parsed = pastset::Template::parse(text);
  ENSURE(parsed.has_value());
  return *parsed;
}

constexpr std::size_t partial_value_offset = 2 * sizeof(std::uint64_t);

template <class T>
void put(std::span<std::byte>& rest, const T& value) {
  std::memcpy(rest.data(), &value, sizeof value);
  rest = rest.subspan(sizeof value);
}

void put(std::span<std::byte>& rest, const base::Payload& value, std::size_t size) {
  if (value.empty()) {
    std::memset(rest.data(), 0, size);
  } else {
    std::memcpy(rest.data(), value.bytes().data(), size);
  }
  rest = rest.subspan(size);
}

constexpr std::size_t batch_values_offset = 2 * sizeof(std::uint64_t) + sizeof(std::uint32_t);

}  // namespace

pastset::Template partial_template(const pastset::Template& value) {
  const auto scalar = [](base::Scalar type) {
    return pastset::Field{pastset::Field::Kind::scalar, type, 1};
  };
  std::vector<pastset::Field> fields = {scalar(base::Scalar::u64), scalar(base::Scalar::u64)};
  fields.insert(fields.end(), value.fields().begin(), value.fields().end());
  fields.push_back(scalar(base::Scalar::u8));
  fields.push_back(scalar(base::Scalar::u64));
  fields.insert(fields.end(), value.fields().begin(), value.fields().end());
  return pastset::Template(std::move(fields), "partial");
}

base::Payload partial_tuple(const Partial& partial, std::size_t value_bytes) {
  const std::size_t pair_bytes = 1 + sizeof(std::uint64_t) + value_bytes;
  const auto write = [&](std::span<std::byte> rest) {
    const bool has_exact = partial.last_exact.has_value();
    put(rest, partial.sequence);
    put(rest, partial.contributions);
    put(rest, partial.value, value_bytes);
    put(rest, static_cast<std::uint8_t>(has_exact));
    put(rest, has_exact ? partial.last_exact->sequence : std::uint64_t{0});
    put(rest, has_exact ? partial.last_exact->value : base::Payload(), value_bytes);
  };
  return base::Payload::filled(partial_value_offset + value_bytes + pair_bytes, write);
}

Partial read_partial(const base::Payload& tuple, std::size_t value_bytes) {
  const std::size_t pair_offset = partial_value_offset + value_bytes;
  const std::size_t exact_value_offset = pair_offset + 1 + sizeof(std::uint64_t);
  ENSURE_EQ(tuple.size(), exact_value_offset + value_bytes);
  const auto value_at = [&](std::size_t offset) {
    return base::Payload::copy_of(tuple.bytes().subspan(offset, value_bytes));
  };
  Partial partial{tuple.read<std::uint64_t>(), tuple.read<std::uint64_t>(sizeof(std::uint64_t)),
                  value_at(partial_value_offset), std::nullopt};
  if (tuple.read<std::uint8_t>(pair_offset) != 0)
    partial.last_exact =
        ExactPair{tuple.read<std::uint64_t>(pair_offset + 1), value_at(exact_value_offset)};
  return partial;
}

const pastset::Template& ask_template() {
  static const pastset::Template made = parsed("ask: u64, u64");
  return made;
}

base::Payload ask_tuple(const Ask& ask) {
  return pastset::TupleWriter(ask_template()).put(ask.from).put(ask.count).payload();
}

Ask read_ask(const base::Payload& tuple) {
  return {tuple.read<std::uint64_t>(), tuple.read<std::uint64_t>(sizeof(std::uint64_t))};
}

const pastset::Template& batch_template() {
  static const pastset::Template made = parsed("batch: u64, u64, bytes");
  return made;
}

base::Payload batch_tuple(const Batch& batch) {
  return pastset::TupleWriter(batch_template())
      .put(batch.first)
      .put(batch.contributions)
      .put_bytes(batch.values.bytes())
      .payload();
}

Batch read_batch(const base::Payload& tuple) {
  return {tuple.read<std::uint64_t>(), tuple.read<std::uint64_t>(sizeof(std::uint64_t)),
          base::Payload::copy_of(tuple.bytes().subspan(batch_values_offset))};
}

}  // namespace paths
