// SPDX-License-Identifier: Apache-2.0
// paths/cluster_tuples.cpp — tuples between roots: their templates and their bytes.
#include "paths/cluster_tuples.hpp"

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
