// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/json.hpp — JSON of structs that describe their fields.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "eventspace/analysis/report/fields.hpp"

namespace eventspace {

/// Visitor that writes the fields of one object.
class JsonWriter {
 public:
  void object(std::string_view /*name*/, std::string_view /*help*/) {}

  template <class Value>
  void field(std::string_view name, const Value& value, const Unit&, std::string_view /*help*/,
             const Presence& presence = {}) {
    if (presence.is_here) json_[std::string(name)] = json_of(value);
  }

  /// Writes the fields of `base` into the same object.
  template <class Base>
  void include(const Base& base) {
    json_.update(to_json(base));
  }

  template <Described Value>
  static nlohmann::ordered_json json_of(const Value& value) {
    JsonWriter writer;
    describe(writer, value);
    return std::move(writer.json_);
  }

 private:
  using Json = nlohmann::ordered_json;

  template <class Value>
  static Json json_of(const Value& value) {
    if constexpr (requires { value.entry_of; })
      return list_of(value.list, value.entry_of);
    else if constexpr (requires { value.list; })
      return json_of(value.list);
    else if constexpr (requires {
                         typename Value::value_type;
                         Value().front();
                       } &&
                       !std::is_convertible_v<const Value&, std::string_view>)
      return list_of(
          value, [](const auto& item) -> const auto& { return item; });
    else
      return value;
  }
  template <class Value>
  static Json json_of(const Constant<Value>& constant) {
    return constant.value;
  }
  static Json json_of(const Word& word) { return word.word; }
  template <class Value>
  static Json json_of(const ByWord<Value>& by_word) {
    Json json = Json::object();
    for (std::size_t place = 0; place < by_word.words.size(); ++place)
      json[std::string(by_word.words[place])] = by_word.values[place];
    return json;
  }
  template <class... Columns>
  static Json json_of(const std::tuple<Columns...>& row) {
    Json json = Json::array();
    std::apply([&json](const auto&... column) { (json.push_back(column), ...); }, row);
    return json;
  }
  template <class List, class Function>
  static Json list_of(const List& list, Function entry_of) {
    Json json = Json::array();
    for (const auto& item : list) json.push_back(json_of(entry_of(item)));
    return json;
  }

  Json json_ = Json::object();
};

}  // namespace eventspace
