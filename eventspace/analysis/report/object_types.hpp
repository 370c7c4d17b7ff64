// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/object_types.hpp — types of structs that describe their fields.
#pragma once
#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "eventspace/analysis/report/fields.hpp"

namespace eventspace {

/// Description of one type of object in the JSON.
struct ObjectType {
  struct Field {
    std::string name;
    nlohmann::ordered_json type;  ///< JSON schema, without a description
    Unit unit;
    std::string help;
    Presence presence;
    bool is_included = false;  ///< whether the field comes from the type ObjectType::included
  };
  std::string name;
  std::string help;
  std::string included;  ///< name of the type whose fields this type contains; "" = none
  std::vector<Field> fields;
};

/// Collects the types of all objects that an object can contain, in the order in which the
/// descriptions mention them.
class ObjectTypes {
 public:
  /// Adds the type of `value` and all types that it contains. Returns the name of its type.
  template <class Value>
  std::string add(const Value& value) {
    Visitor visitor{*this};
    describe(visitor, value);
    return visitor.name;
  }
  const std::vector<ObjectType>& all() const { return all_; }

 private:
  using Json = nlohmann::ordered_json;

  struct Visitor {
    void object(std::string_view object_name, std::string_view help) {
      name = object_name;
      is_known = std::any_of(types.all_.begin(), types.all_.end(),
                             [this](const ObjectType& type) { return type.name == name; });
      place = types.all_.size();
      if (!is_known) types.all_.push_back({name, std::string(help), {}, {}});
    }

    template <class Value>
    void field(std::string_view field_name, const Value& value, const Unit& unit,
               std::string_view help, const Presence& presence = {}) {
      if (is_known) return;
      Json type = types.type_of(value, unit);
      types.all_[place].fields.push_back(
          {std::string(field_name), std::move(type), unit, std::string(help), presence});
    }

    template <class Base>
    void include(const Base& base) {
      if (is_known) return;
      const std::size_t included = types.all_.size();
      types.all_[place].included = types.add(base);
      for (ObjectType::Field field : types.all_[included].fields) {
        field.is_included = true;
        types.all_[place].fields.push_back(std::move(field));
      }
    }

    ObjectTypes& types;
    std::string name = {};
    bool is_known = false;
    std::size_t place = 0;
  };

  template <class Value>
  Json type_of(const Value& value, const Unit& unit) {
    if constexpr (Described<Value>) {
      return {{"$ref", "#/$defs/" + add(value)}};
    } else if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
      return {{"type", "string"}};
    } else if constexpr (std::is_same_v<Value, bool>) {
      return {{"type", "boolean"}};
    } else if constexpr (std::is_arithmetic_v<Value>) {
      Json type = {{"type", std::is_integral_v<Value> ? "integer" : "number"}};
      if (std::is_unsigned_v<Value> || unit.is_at_least_0) type["minimum"] = 0;
      return type;
    } else if constexpr (requires { value.entry_of; }) {
      using Item = std::decay_t<decltype(*value.list.begin())>;
      return {{"type", "array"}, {"items", type_of(value.entry_of(Item{}), unit)}};
    } else if constexpr (requires { value.list; }) {
      Json type = type_of(value.list, unit);
      type["minItems"] = 1;
      return type;
    } else {
      return {{"type", "array"}, {"items", type_of(typename Value::value_type{}, unit)}};
    }
  }
  template <class Value>
  Json type_of(const Constant<Value>& constant, const Unit&) {
    return {{"const", constant.value}};
  }
  Json type_of(const Word& word, const Unit&) { return {{"enum", list_of(word.words)}}; }
  template <class Value>
  Json type_of(const ByWord<Value>& by_word, const Unit& unit) {
    Json properties = Json::object();
    for (const std::string_view word : by_word.words)
      properties[std::string(word)] = type_of(Value{}, unit);
    return {{"type", "object"},
            {"properties", properties},
            {"required", list_of(by_word.words)},
            {"additionalProperties", false}};
  }
  template <class... Columns>
  Json type_of(const std::tuple<Columns...>& row, const Unit& unit) {
    Json columns = Json::array();
    const auto add_column = [&](const auto& column) {
      // The unit describes only the columns with floating-point numbers.
      columns.push_back(
          type_of(column, std::is_integral_v<std::decay_t<decltype(column)>> ? units::none : unit));
    };
    std::apply([&](const auto&... column) { (add_column(column), ...); }, row);
    return {{"type", "array"},
            {"prefixItems", columns},
            {"items", false},
            {"minItems", sizeof...(Columns)}};
  }

  static Json list_of(std::span<const std::string_view> words) {
    return std::vector<std::string_view>(words.begin(), words.end());
  }

  std::vector<ObjectType> all_;
};

/// A format of JSON files, with the texts of its documentation: a JSON schema and a Markdown page.
struct FileFormat {
  std::string title;               ///< rest of the schema's title after the word "PATHS"
  std::string title_with_article;  ///< rest of the page's title after "Fields of"
  std::string description;         ///< description in the schema
  /// JSON schema of the whole file, such as a reference to one of the types.
  nlohmann::ordered_json root;
  std::string introduction;  ///< first sentences of the page
  ObjectTypes types;
};

/// The next three functions return the contents of a generated file: the types as JSON schema,
/// TypeScript or Markdown.
std::string print_schema(const FileFormat& format);
std::string print_typescript(const ObjectTypes& types);
std::string print_field_reference(const FileFormat& format);

}  // namespace eventspace
