// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/object_types.cpp — output of types as JSON schema, TypeScript and
// Markdown.
#include "eventspace/analysis/report/object_types.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace eventspace {
namespace {

using Json = nlohmann::ordered_json;
using Field = ObjectType::Field;

constexpr std::size_t columns_max = 100;

/// Returns text such as "count = 0"; "" if no other field decides whether the field is present.
std::string other_value(const Presence& presence, std::string_view form) {
  if (presence.field.empty()) return {};
  return fmt::format(fmt::runtime(form), presence.field, presence.value);
}

bool may_be_left_out(const Presence& presence) {
  return !presence.condition.empty() || !presence.field.empty();
}

std::string help_of(const Field& field) {
  if (!may_be_left_out(field.presence)) return field.help;
  return fmt::format("{} Left out {}{}.", field.help, field.presence.condition,
                     other_value(field.presence, "if `{}` is {}"));
}

/// Returns the name of the type that a reference points to.
std::string name_of_reference(const Json& type) {
  constexpr std::string_view prefix = "#/$defs/";
  return type["$ref"].get<std::string>().substr(prefix.size());
}

// --- JSON schema --------------------------------------------------------------------------------

/// Returns schema conditions for fields whose presence depends on the value of another field. All
/// fields with the same condition are present or missing together.
Json dependent_fields(const ObjectType& type) {
  std::map<std::pair<std::string_view, std::string_view>, std::vector<std::string>> groups;
  for (const Field& field : type.fields)
    if (!field.presence.field.empty())
      groups[{field.presence.field, field.presence.value}].push_back(field.name);
  Json conditions = Json::array();
  for (const auto& [other, names] : groups) {
    Json none = Json::object();
    for (const std::string& name : names) none[name] = false;
    conditions.push_back(
        {{"if", {{"properties", {{other.first, {{"const", Json::parse(other.second)}}}}}}},
         {"then", {{"properties", none}}},
         {"else", {{"required", names}}}});
  }
  return conditions;
}

Json schema_of(const ObjectType& type) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const Field& field : type.fields) {
    Json& property = properties[field.name] = field.type;
    property["description"] = help_of(field);
    if (!may_be_left_out(field.presence)) required.push_back(field.name);
  }
  Json schema = {{"description", type.help}, {"type", "object"}, {"properties", properties}};
  if (!required.empty()) schema["required"] = required;
  schema["additionalProperties"] = false;
  if (Json dependent = dependent_fields(type); !dependent.empty()) schema["allOf"] = dependent;
  return schema;
}

/// Prints a value in one line if it fits into a line; otherwise prints a line for each entry.
std::string print(const Json& json, std::size_t indent) {
  const std::string line = json.dump();
  if (!json.is_structured() || json.empty() || indent + line.size() <= columns_max) return line;
  std::vector<std::string> entries;
  const std::string margin(indent + 2, ' ');
  for (const auto& [key, value] : json.items())
    entries.push_back(margin + (json.is_object() ? Json(key).dump() + ": " : "") +
                      print(value, indent + 2));
  const std::string_view ends = json.is_object() ? "{}" : "[]";
  return fmt::format("{}\n{}\n{}{}", ends[0], fmt::join(entries, ",\n"), std::string(indent, ' '),
                     ends[1]);
}

// --- TypeScript ---------------------------------------------------------------------------------

/// Returns the TypeScript name of a type: "GroupLink" for "group_link".
std::string typescript_name(std::string_view name) {
  std::string text;
  bool is_first = true;
  for (const char letter : name) {
    if (letter != '_')
      text +=
          is_first ? static_cast<char>(std::toupper(static_cast<unsigned char>(letter))) : letter;
    is_first = letter == '_';
  }
  return text;
}

std::string quoted(const Json& value) {
  return value.is_string() ? fmt::format("'{}'", value.get<std::string>()) : value.dump();
}

std::string typescript_of(const Json& type) {
  if (type.contains("$ref")) return typescript_name(name_of_reference(type));
  if (type.contains("const")) return quoted(type["const"]);
  if (type.contains("enum")) {
    std::vector<std::string> words;
    for (const Json& word : type["enum"]) words.push_back(quoted(word));
    return fmt::format("{}", fmt::join(words, " | "));
  }
  if (type.contains("prefixItems")) {
    std::vector<std::string> columns;
    for (const Json& column : type["prefixItems"]) columns.push_back(typescript_of(column));
    return fmt::format("[{}]", fmt::join(columns, ", "));
  }
  if (type["type"] == "array") return typescript_of(type["items"]) + "[]";
  if (type["type"] == "object")
    return fmt::format("Record<string, {}>", typescript_of(type["properties"].front()));
  return type["type"] == "string" || type["type"] == "boolean" ? type["type"] : Json("number");
}

/// Prints a field in the layout of the formatter prettier. The field takes one line, or has its
/// type on a second line, or has a line for each word.
std::string typescript_of(const Field& field) {
  const std::string name = field.name + (may_be_left_out(field.presence) ? "?" : "");
  const std::string type = typescript_of(field.type);
  if (name.size() + type.size() + 5 <= columns_max) return fmt::format("  {}: {};\n", name, type);
  if (type.size() + 5 <= columns_max) return fmt::format("  {}:\n    {};\n", name, type);
  std::string lines = fmt::format("  {}:", name);
  for (const Json& word : field.type["enum"]) lines += fmt::format("\n    | {}", quoted(word));
  return lines + ";\n";
}

// --- Markdown -----------------------------------------------------------------------------------

std::string markdown_of(const Json& type) {
  if (type.contains("$ref")) {
    const std::string name = name_of_reference(type);
    return fmt::format("[{0}](#{0})", name);
  }
  if (type.contains("const")) return fmt::format("`{}`", type["const"].dump());
  if (type.contains("enum")) {
    std::vector<std::string> words;
    for (const Json& word : type["enum"])
      words.push_back(fmt::format("`{}`", word.get<std::string>()));
    return fmt::format("{}", fmt::join(words, ", "));
  }
  if (type.contains("prefixItems")) return "row";
  if (type["type"] == "array") return "list of " + markdown_of(type["items"]);
  if (type["type"] == "object") {
    std::vector<std::string> words;
    for (const auto& [word, value] : type["properties"].items())
      words.push_back(fmt::format("`{}`", word));
    return fmt::format("{} for each of {}", markdown_of(type["properties"].front()),
                       fmt::join(words, ", "));
  }
  return type["type"];
}

}  // namespace

std::string print_schema(const FileFormat& format) {
  Json definitions = Json::object();
  for (const ObjectType& type : format.types.all()) definitions[type.name] = schema_of(type);
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", "PATHS " + format.title},
                 {"description", format.description + " scripts/describe writes this file."}};
  schema.update(format.root);
  schema["$defs"] = definitions;
  return print(schema, 0) + '\n';
}

std::string print_typescript(const ObjectTypes& types) {
  std::string text =
      "// SPDX-License-Identifier: Apache-2.0\n"
      "// eventspace/page/web/src/report.ts — types of the report. scripts/describe writes this "
      "file.\n";
  for (const ObjectType& type : types.all()) {
    const std::string base =
        type.included.empty() ? "" : " extends " + typescript_name(type.included);
    text += fmt::format("\n/** {} */\nexport interface {}{} {{\n", type.help,
                        typescript_name(type.name), base);
    for (const Field& field : type.fields)
      if (!field.is_included) text += typescript_of(field);
    text += "}\n";
  }
  return text;
}

std::string print_field_reference(const FileFormat& format) {
  std::string text = fmt::format(
      "# Fields of {}\n\n{}\n`scripts/describe` writes this file; a test compares it.\n",
      format.title_with_article, format.introduction);
  for (const ObjectType& type : format.types.all()) {
    text += fmt::format("\n## {}\n\n{}\n\n", type.name, type.help);
    if (!type.included.empty())
      text += fmt::format("It also has the fields of [{0}](#{0}).\n\n", type.included);
    text += "| field | type | unit | content |\n| --- | --- | --- | --- |\n";
    for (const Field& field : type.fields)
      if (!field.is_included)
        text += fmt::format("| `{}` | {} | {} | {} |\n", field.name, markdown_of(field.type),
                            field.unit.name, help_of(field));
  }
  return text;
}

}  // namespace eventspace
