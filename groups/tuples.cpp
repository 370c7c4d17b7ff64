// SPDX-License-Identifier: Apache-2.0
// groups/tuples.cpp — tuples as the memory of a call, and moves of result tuples
#include "groups/tuples.hpp"

#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "base/usage_error.hpp"

namespace groups {
namespace {

using collectives::Collective;
using pastset::Field;

[[noreturn]] void refuse(const pastset::Element& element, const std::string& why) {
  throw base::UsageError(fmt::format("element {}: {}", element.name(), why));
}

/// Returns the field of the element's template, which must be one array of numbers. Throws:
/// UsageError.
const Field& array_of(const pastset::Element& element) {
  const auto& fields = element.tuple_template().fields();
  const bool is_array = fields.size() == 1 && (fields[0].kind == Field::Kind::scalar ||
                                               fields[0].kind == Field::Kind::array ||
                                               fields[0].kind == Field::Kind::variable_array);
  if (!is_array)
    refuse(element, fmt::format("expected tuples of one array of numbers, such as f64[1024], found "
                                "'{}'",
                                element.tuple_template().text()));
  return fields[0];
}

/// Returns the size of the length field before the values of an array of variable size; 0 for other
/// arrays.
std::size_t front_bytes(const Field& field) {
  return field.is_variable() ? sizeof(std::uint32_t) : 0;
}

base::Buffer made_for(const Field& field, std::size_t bytes) {
  base::Buffer made(front_bytes(field) + bytes);
  const auto length = static_cast<std::uint32_t>(bytes);  // little-endian, as on all machines
  if (field.is_variable()) std::memcpy(made.bytes().data(), &length, sizeof length);
  return made;
}

bool gives(const Call& call, std::uint32_t rank) {
  const bool is_roots =
      call.collective == Collective::broadcast || call.collective == Collective::scatter;
  return call.collective != Collective::barrier && (!is_roots || rank == call.root);
}

/// Returns whether the member moves a result tuple. The root of a broadcast does not, because its
/// element contains the tuple already.
bool gets(const Call& call, std::uint32_t rank) {
  switch (call.collective) {
    case Collective::barrier: return false;
    case Collective::reduce:
    case Collective::gather: return rank == call.root;
    case Collective::broadcast: return rank != call.root;
    case Collective::exscan: return rank > 0;
    default: return true;
  }
}

void bind_newest(Call& call) {
  const pastset::Element& element = *call.from;
  const std::optional<pastset::Stored> stored = element.try_newest();
  if (!stored) refuse(element, "expected a tuple to give, found none");
  call.tuple = stored->payload;
  call.in = call.tuple.bytes().subspan(front_bytes(array_of(element)));
}

}  // namespace

Newest newest(const pastset::Element& element) { return {&element, array_of(element).scalar}; }

Into into(pastset::Element& element, std::optional<std::uint64_t> count) {
  const Field& field = array_of(element);
  if (field.is_variable()) {
    if (!count)
      refuse(element, fmt::format("tuples of '{}' are of any length: expected how many values",
                                  element.tuple_template().text()));
    const std::uint64_t most =
        std::numeric_limits<std::uint32_t>::max() / base::scalar_bytes(field.scalar);
    if (*count > most)
      refuse(element, fmt::format("expected at most {} values, found {}", most, *count));
  } else if (count && *count != field.count) {
    refuse(element, fmt::format("tuples of '{}' have {} values, found {}",
                                element.tuple_template().text(), field.count, *count));
  }
  return {&element, field.scalar, count.value_or(field.count)};
}

void check_scalars(Collective collective, base::Scalar given, base::Scalar taken) {
  if (given != taken)
    throw base::UsageError(
        fmt::format("{}: expected values of one type, found {} to give and {} to receive",
                    name_of(collective), base::scalar_name(given), base::scalar_name(taken)));
}

void bind_tuples(Call& call, std::uint32_t rank) {
  if (call.from && gives(call, rank)) bind_newest(call);
  if (!call.into) return;
  const Field& field = array_of(*call.into);
  const std::size_t bytes = call.into_count * base::scalar_bytes(field.scalar);
  const bool is_needed = gets(call, rank) || call.collective == Collective::broadcast ||
                         call.collective == Collective::exscan;
  if (!is_needed) return;
  call.made = std::make_shared<base::Buffer>(made_for(field, bytes));
  call.out = call.made->bytes().subspan(front_bytes(field));
  if (!gets(call, rank)) call.into = nullptr;
  if (call.collective != Collective::broadcast || call.in.empty()) return;
  if (call.in.size() != call.out.size())
    refuse(*call.from, fmt::format("expected a tuple of {} bytes to broadcast, found {}",
                                   call.out.size(), call.in.size()));
  // Schedules may write to the root's buffer. It must therefore be a copy of the tuple.
  std::memcpy(call.out.data(), call.in.data(), call.in.size());
  call.in = {};
}

void move_tuple(Call& call, runtime::Deadline deadline) {
  if (call.into && call.made) call.into->move(std::move(*call.made).freeze(), deadline);
}

}  // namespace groups
