// SPDX-License-Identifier: Apache-2.0
// paths/joins/reduction.cpp — reading of a reduction's settings, and checks of its values.
#include "paths/joins/reduction.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "base/buffer.hpp"
#include "paths/joins/condition.hpp"
#include "paths/plan/plan.hpp"

namespace paths {
namespace {

using Kind = pastset::Field::Kind;

/// Returns the shape of the values that the template describes; nullopt if the template does not
/// fit the operation. `located` tells whether the operation is located, such as a minimum with its
/// location (MPI_MINLOC). A located operation needs a value and an i64. Any other operation needs
/// one scalar or an array of fixed size.
std::optional<base::ReduceShape> shape_of(const pastset::Template& value, bool located) {
  const std::vector<pastset::Field>& fields = value.fields();
  if (fields.size() != (located ? 2 : 1)) return std::nullopt;
  const pastset::Field& field = fields[0];
  if (located) {
    const bool pair = field.kind == Kind::scalar && fields[1].kind == Kind::scalar &&
                      fields[1].scalar == base::Scalar::i64;
    if (!pair) return std::nullopt;
    return base::ReduceShape{field.scalar, 1, true};
  }
  if (field.kind != Kind::scalar && field.kind != Kind::array) return std::nullopt;
  return base::ReduceShape{field.scalar, field.kind == Kind::array ? field.count : 1, false};
}

void read_shape(base::MapReader& reader, Reduction& reduction) {
  const bool located = reduction.operation->located;
  const std::string_view expected =
      located ? "a value and a location such as \"f64, i64\""
              : "one scalar or an array of fixed size such as \"f64\" or \"f64[1024]\"";
  const std::string text = reader.required_word("template", expected);
  if (!reader.take("template").is_scalar()) return;  // a mistake that required_word() has reported
  std::string wrong;
  const auto value = pastset::Template::parse(text, &wrong);
  if (!value) return reader.mistake("template", wrong);
  const auto shape = shape_of(*value, located);
  if (!shape) {
    return reader.mistake("template", fmt::format("{} takes {}, found \"{}\"",
                                                  reduction.operation->name, expected, text));
  }
  reduction.shape = *shape;
  if (!reduction.operation->accepts(shape->scalar)) {
    reader.mistake("template", fmt::format("{} does not take {}", reduction.operation->name,
                                           base::scalar_name(shape->scalar)));
  }
}

}  // namespace

bool is_reduced_before(const Plan& plan, std::uint32_t wrapper, std::uint32_t path) {
  if (path >= plan.paths.size()) return false;
  for (StageId stage = plan.paths[path].stage; stage != no_stage;
       stage = plan.stages[stage].below) {
    const std::uint32_t here = plan.stages[stage].wrapper;
    if (here == wrapper) return false;
    if (plan.wrappers[here].settings.find("operation") != nullptr) return true;
  }
  return false;
}

std::string Reduction::wrong(const base::Payload& value, base::Sign allowed) const {
  if (value.size() != shape.bytes())
    return fmt::format("expected {} bytes to combine by {}, found {}", shape.bytes(),
                       operation->name, value.size());
  try {
    base::check_contribution(shape, allowed, value.bytes(), values);
  } catch (const base::WrongSign& bad) {
    return fmt::format("{}, but contributions are declared {}", bad.what(), sign_name(sign));
  } catch (const base::BadValue& bad) {
    return bad.what();
  }
  return {};
}

void Reduction::fold(std::span<std::byte> left, std::span<const std::byte> right) const {
  const bool is_ieee = values == base::Values::ieee && operation->combine_ieee;
  (is_ieee ? operation->combine_ieee : operation->combine)(shape, left, right);
}

void Reduction::normalize(Operation& contribution) const {
  if (!operation->normalize || contribution.contributions != 1) return;
  auto value = base::Buffer::thaw(std::move(contribution.payload));
  operation->normalize(shape, value.bytes());
  contribution.payload = std::move(value).freeze();
}

Reduction read_reduction(base::MapReader& reader) {
  Reduction reduction;
  const std::string name = reader.choice("operation", base::reduce_operation_names(), "sum");
  reduction.operation = base::reduce_operation(name);
  reduction.sign = read_sign(reader);
  reduction.values = read_values(reader);
  read_shape(reader, reduction);
  if (reduction.operation->elements != nullptr)
    reduction.elements = reduction.operation->elements(reduction.shape.scalar, reduction.values);
  return reduction;
}

Reduction reduction_of(const base::Settings& settings) {
  base::Mistakes told;
  base::MapReader reader(settings, told, "reduction");
  const Reduction reduction = read_reduction(reader);
  reader.finish();
  return reduction;
}

std::vector<SettingHelp> reduction_settings() {
  return {
      {"operation", "operation", "sum", "How values are combined, left operand first."},
      {"contributions", "any, non_negative or non_positive", "any",
       "The sign that all contributions have."},
      {"values", "checked or ieee", "checked",
       "Whether NaN and integer overflow are errors, or what IEEE 754 and two's complement make of "
       "them."},
      {"template", "template", "required", "The values: one scalar, or an array of fixed size."},
  };
}

}  // namespace paths
