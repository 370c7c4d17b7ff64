// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/fields.hpp — descriptions of the fields of report structs.
//
// A struct that is part of a report has a function next to it:
//
//   template <class Visitor>
//   void describe(Visitor& visit, const ClusterReport& cluster) {
//     visit.object("cluster", "Sums over the hosts and threads of a cluster.");
//     visit.field("hosts", cluster.hosts, units::count, "Hosts of the cluster.");
//     ...
//
// Visitors write the JSON (json.hpp) or collect the types (object_types.hpp). The type of a value
// decides the type of its field: text, flag, number, list, or another struct with `describe`.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace eventspace {

/// Unit of the numbers in a field.
struct Unit {
  std::string_view name;       ///< "" if the field has no number
  bool is_at_least_0 = false;  ///< true if no value is below 0, although the type is signed
};

namespace units {
inline constexpr Unit none{""};
inline constexpr Unit count{"count"};
inline constexpr Unit nanos{"ns"};
inline constexpr Unit resolution_nanos{"ns", true};
inline constexpr Unit bytes{"bytes"};
inline constexpr Unit rounds{"rounds"};
inline constexpr Unit share{"share of 1", true};
inline constexpr Unit ratio{"ratio"};
inline constexpr Unit iterations{"iterations"};
inline constexpr Unit at_once{"at once", true};
inline constexpr Unit as_field{"unit of the field"};  ///< unit of the field with the Summary
inline constexpr Unit deviation{"unit of the field", true};
}  // namespace units

/// Whether a field is in the JSON of this report. The other members state the condition on which
/// any report leaves the field out. A field without a condition is always present.
struct Presence {
  bool is_here = true;
  std::string_view condition = {};  ///< words that follow "Left out" in the docs; "" = none
  /// Name of another field; "" = none. If there is a name, the condition is that the other field
  /// has the value `value`.
  std::string_view field = {};
  std::string_view value = {};  ///< value of the field `field` in JSON
};

inline Presence left_out(bool is_left_out, std::string_view condition) {
  return {!is_left_out, condition};
}
/// Returns the presence of a field that the JSON leaves out if another field is 0. `field` is the
/// name of the other field, and `count` is its value. All fields with the same condition are left
/// out together.
inline Presence left_out_if(std::string_view field, std::uint64_t count) {
  return {count != 0, {}, field, "0"};
}
inline Presence left_out_if_false(std::string_view field, bool flag) {
  return {flag, {}, field, "false"};
}

/// Value that is the same in every report.
template <class Value>
struct Constant {
  Value value;
};

/// Word out of a fixed list of words.
struct Word {
  std::string_view word;
  std::span<const std::string_view> words;
};

/// Returns the name of an enumerator. `names` lists the names in the order of the enum.
template <class Enum, class Names>
constexpr std::string_view name_in(const Names& names, Enum value) {
  return names.at(static_cast<std::size_t>(value));
}

/// Object with one value for each of a fixed list of words.
template <class Value>
struct ByWord {
  std::span<const std::string_view> words;
  std::span<const Value> values;
};

/// List that always has at least one entry.
template <class List>
struct NotEmpty {
  const List& list;
};
template <class List>
NotEmpty(const List&) -> NotEmpty<List>;

/// List that is written with the entry `entry_of(item)` for each item. An entry that is a
/// std::tuple is written as a row (a JSON array).
template <class List, class Function>
struct Mapped {
  const List& list;
  Function entry_of;
};
template <class List, class Function>
Mapped(const List&, Function) -> Mapped<List, Function>;

/// Struct that has a function `describe` next to it.
template <class Value>
concept Described = requires(int& visitor, const Value& value) {
  describe(visitor, value);
};

}  // namespace eventspace
