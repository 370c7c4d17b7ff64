// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/report_fields_test.cpp — structs that describe their own fields: their JSON,
// schema and types.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "eventspace/analysis/describe_report.hpp"
#include "eventspace/analysis/report/json.hpp"
#include "eventspace/analysis/report/object_types.hpp"

namespace {

using namespace eventspace;

constexpr std::array<std::string_view, 2> colours = {"red", "blue"};

struct Inner {
  std::uint32_t count = 0;
  double mean = 0;
};

template <class Visitor>
void describe(Visitor& visit, const Inner& inner) {
  visit.object("inner_part", "Numbers.");
  visit.field("count", inner.count, units::count, "Count.");
  visit.field("mean", inner.mean, units::share, "Mean.", left_out_if("count", inner.count));
}

struct Outer {
  std::string name;
  bool flag = false;
  std::int64_t nanos = 0;
  std::string_view colour = colours[0];
  std::array<std::int64_t, 2> by_colour = {};
  std::vector<Inner> inner;
  std::vector<std::string> names;
};

template <class Visitor>
void describe(Visitor& visit, const Outer& outer) {
  visit.object("outer", "All kinds of fields.");
  visit.field("format", Constant{3}, units::none, "Constant.");
  visit.field("name", outer.name, units::none, "Text.", left_out(outer.name.empty(), "if empty"));
  visit.field("flag", outer.flag, units::none, "Flag.");
  visit.field("nanos", outer.nanos, units::nanos, "Time.");
  visit.field("colour", Word{outer.colour, colours}, units::none, "Word.");
  visit.field("by_colour", ByWord<std::int64_t>{colours, outer.by_colour}, units::nanos, "Times.");
  visit.field("inner", outer.inner, units::none, "Objects.");
  visit.field("rows",
              Mapped(outer.inner, [](const Inner& one) { return std::tuple(one.count, one.mean); }),
              units::none, "Rows.");
  visit.field("names", NotEmpty(outer.names), units::none, "Names.");
}

eventspace::FileFormat format_of(ObjectTypes types) {
  return {.title = "test",
          .title_with_article = "a test",
          .description = "A test.",
          .root = {{"type", "object"}},
          .introduction = "Test.",
          .types = std::move(types)};
}

nlohmann::ordered_json schema_of(const Outer& outer) {
  ObjectTypes types;
  types.add(outer);
  return nlohmann::ordered_json::parse(print_schema(format_of(types)))["$defs"];
}

}  // namespace

TEST_CASE("fields: JSON has every value in the order of the description") {
  const Outer outer{"x", true, -2, "blue", {4, 5}, {{1, 0.5}}, {"a", "b"}};
  CHECK(eventspace::JsonWriter::json_of(outer).dump() ==
        R"({"format":3,"name":"x","flag":true,"nanos":-2,"colour":"blue",)"
        R"("by_colour":{"red":4,"blue":5},"inner":[{"count":1,"mean":0.5}],)"
        R"("rows":[[1,0.5]],"names":["a","b"]})");
}

TEST_CASE("fields: JSON omits a field whose condition holds") {
  const Outer outer{"", true, 0, "red", {}, {{0, 0.5}}, {}};
  const auto json = eventspace::JsonWriter::json_of(outer);
  CHECK_FALSE(json.contains("name"));
  CHECK(json["inner"].dump() == R"([{"count":0}])");
}

TEST_CASE("fields: the schema requires unconditional fields and includes limits and words") {
  const auto outer = schema_of({})["outer"];
  CHECK(outer["required"].dump() ==
        R"(["format","flag","nanos","colour","by_colour","inner","rows","names"])");
  CHECK(outer["additionalProperties"] == false);
  const auto type = [&](const char* field) {
    auto property = outer["properties"][field];
    property.erase("description");
    return property.dump();
  };
  CHECK(type("format") == R"({"const":3})");
  CHECK(type("name") == R"({"type":"string"})");
  CHECK(type("flag") == R"({"type":"boolean"})");
  CHECK(type("nanos") == R"({"type":"integer"})");
  CHECK(type("colour") == R"({"enum":["red","blue"]})");
  CHECK(type("inner") == R"({"type":"array","items":{"$ref":"#/$defs/inner_part"}})");
  CHECK(type("rows") == R"({"type":"array","items":{"type":"array","prefixItems":)"
                        R"([{"type":"integer","minimum":0},{"type":"number"}],)"
                        R"("items":false,"minItems":2}})");
  CHECK(type("names") == R"({"type":"array","items":{"type":"string"},"minItems":1})");
}

TEST_CASE("fields: the schema omits a field exactly if the field it depends on has the value") {
  const auto inner = schema_of({})["inner_part"];
  CHECK(inner["required"].dump() == R"(["count"])");
  CHECK(inner["properties"]["mean"]["minimum"] == 0);
  CHECK(inner["allOf"].dump() == R"([{"if":{"properties":{"count":{"const":0}}},)"
                                 R"("then":{"properties":{"mean":false}},)"
                                 R"("else":{"required":["mean"]}}])");
}

TEST_CASE("fields: TypeScript and the reference list each type once after its first mention") {
  eventspace::ObjectTypes types;
  types.add(Outer{});
  types.add(Outer{});
  const std::string typescript = print_typescript(types);
  CHECK(typescript.find(R"(
export interface Outer {
  format: 3;
  name?: string;
  flag: boolean;
  nanos: number;
  colour: 'red' | 'blue';
  by_colour: Record<string, number>;
  inner: InnerPart[];
  rows: [number, number][];
  names: string[];
}

/** Numbers. */
export interface InnerPart {
  count: number;
  mean?: number;
}
)") != std::string::npos);
  CHECK(print_field_reference(format_of(types)).find(R"(
| `mean` | number | share of 1 | Mean. Left out if `count` is 0. |
)") != std::string::npos);
}

TEST_CASE("fields: the types of a report include figures and those of a comparison") {
  const eventspace::ObjectTypes types = eventspace::report_format().types;
  std::vector<std::string> names;
  for (const auto& type : types.all()) names.push_back(type.name);
  CHECK(names.front() == "report");
  for (const char* name : {"figures", "thread", "transfer_path", "group_link", "comparison"})
    CHECK(std::count(names.begin(), names.end(), name) == 1);
}
