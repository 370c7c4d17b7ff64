// SPDX-License-Identifier: Apache-2.0
// bench/support/values.cpp — contributions derived from a condition, or read from a table
#include "bench/support/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "base/errors.hpp"
#include "base/settings.hpp"
#include "base/text_file.hpp"

namespace bench {
namespace {

constexpr std::size_t mistakes_shown_max = 20;
constexpr std::string_view separators = " \t\r,;";

/// Returns values that may decide the condition: 0, 1, the condition's constant, and the values
/// next to the constant.
std::vector<base::Payload> candidates(const paths::ConditionSpec& spec) {
  return base::with_scalar(spec.scalar, [&](auto sample) {
    using T = decltype(sample);
    std::vector<base::Payload> values = {base::Payload::of(T(0)), base::Payload::of(T(1))};
    const auto add = [&values](T value) { values.push_back(base::Payload::of(value)); };
    if constexpr (std::is_floating_point_v<T>) {
      if (const auto* constant = std::get_if<double>(&spec.constant)) {
        const auto near = static_cast<T>(*constant);
        add(near);
        add(std::nextafter(near, std::numeric_limits<T>::infinity()));
        add(std::nextafter(near, -std::numeric_limits<T>::infinity()));
      }
    } else if constexpr (!std::is_same_v<T, bool>) {
      using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
      if (const auto* constant = std::get_if<Wide>(&spec.constant)) {
        const auto near = static_cast<T>(*constant);
        add(near);
        if (near < std::numeric_limits<T>::max()) add(static_cast<T>(near + 1));
        if (near > std::numeric_limits<T>::min()) add(static_cast<T>(near - 1));
      }
    }
    return values;
  });
}

bool is_allowed(const paths::Reduction& reduction, const base::Payload& value) {
  try {
    base::check_contribution(reduction.shape, reduction.sign, value.bytes());
    return true;
  } catch (const base::BadValue&) {
    return false;
  }
}

/// Appends the number in `text` to `table`, as bytes. Returns false if `text` is not a number.
bool append_number(base::Scalar scalar, std::string_view text, std::vector<std::byte>& table) {
  return base::with_scalar(scalar, [&](auto sample) {
    using T = decltype(sample);
    using Parsed = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
    if (text.starts_with('+')) text.remove_prefix(1);
    const bool is_plain = std::is_floating_point_v<T> ? base::parse_number(text).has_value()
                          : std::is_signed_v<T>       ? base::parse_integer(text).has_value()
                                                      : base::parse_natural(text).has_value();
    if (!is_plain) return false;
    Parsed parsed{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
    if (error != std::errc{} || end != text.data() + text.size()) return false;
    if (std::is_same_v<T, bool> && parsed > Parsed{1}) return false;
    const auto value = static_cast<T>(parsed);
    const auto bytes = std::as_bytes(std::span<const T, 1>(&value, 1));
    table.insert(table.end(), bytes.begin(), bytes.end());
    return true;
  });
}

/// Calls `use` with each word of a line and its column, counted from 1.
template <class Use>
void for_words(std::string_view line, Use&& use) {
  line = line.substr(0, line.find('#'));
  std::size_t begin = 0;
  while ((begin = line.find_first_not_of(separators, begin)) != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(separators, begin), line.size());
    use(line.substr(begin, end - begin), static_cast<int>(begin) + 1);
    begin = end;
  }
}

}  // namespace

Values::Values(const Collective& collective, const std::string& which, std::uint64_t iterations,
               std::uint32_t threads)
    : iterations_(iterations), scalar_(collective.reduction.shape.scalar) {
  if (which == "best" || which == "worst") {
    set_ = which == "best" ? Set::best : Set::worst;
    choose(collective);
  } else {
    set_ = Set::table;
    read_table(which, threads);
  }
}

void Values::choose(const Collective& collective) {
  const auto zero =
      base::with_scalar(scalar_, [](auto sample) { return base::Payload::of(decltype(sample){}); });
  proving_ = turning_ = turning_others_ = zero;
  const auto outcome = collective.provable_outcome();
  if (!outcome) return;
  const paths::ConditionSpec& spec = *collective.condition;
  const paths::Reduction& reduction = collective.reduction;
  std::optional<base::Payload> proving, turning;
  for (const base::Payload& value : candidates(spec)) {
    if (!is_allowed(reduction, value)) continue;
    if (!proving && paths::proves(spec, reduction.operation->name, reduction.sign, value.bytes()))
      proving = value;
    if (!turning && paths::holds(spec, value.bytes()) != *outcome) turning = value;
  }
  if (!proving || !turning)
    throw std::invalid_argument(fmt::format(
        "--values: the condition '{}' of {} has the same outcome whatever the threads contribute "
        "({}); give values in a file",
        paths::comparison_name(spec.comparison), collective.name,
        paths::sign_name(reduction.sign)));
  proving_ = *proving;
  turning_ = *turning;
  // If the operation is a sum, rank 0's contribution is the result, because all other ranks
  // contribute 0. With other operations, all ranks contribute the same value.
  turning_others_ = reduction.operation->name == "sum" ? zero : *turning;
}

base::Payload Values::turning(std::uint32_t rank) const {
  return rank == 0 ? turning_ : turning_others_;
}

base::Payload Values::of(std::uint32_t rank, std::uint64_t iteration) const {
  if (set_ == Set::table) return cell(rank, iteration);
  const bool proves = set_ == Set::best && iteration + 1 < iterations_;
  return proves ? proving_ : turning(rank);
}

base::Payload Values::warming_up(std::uint32_t rank) const {
  return set_ == Set::table ? cell(rank, 0) : turning(rank);
}

base::Payload Values::cell(std::uint32_t rank, std::uint64_t iteration) const {
  const std::size_t size = base::scalar_bytes(scalar_);
  const std::size_t place = (iteration % rows_) * columns_ + rank % columns_;
  return base::Payload::copy_of(std::span(table_).subspan(place * size, size));
}

void Values::read_table(const std::string& file, std::uint32_t threads) {
  if (!std::filesystem::exists(file))
    throw std::invalid_argument(
        fmt::format("--values: expected best, worst or a file, but cannot read '{}'", file));
  std::istringstream input(base::load_text(file, base::table_bytes_max));
  base::Mistakes mistakes;
  std::string line;
  for (int number = 1; std::getline(input, line); ++number) {
    std::size_t columns = 0;
    for_words(line, [&](std::string_view word, int column) {
      ++columns;
      if (append_number(scalar_, word, table_)) return;
      mistakes.add({file, number, column}, fmt::format("expected a number of type {}, found '{}'",
                                                       base::scalar_name(scalar_), word));
    });
    if (columns == 0) continue;
    if (rows_++ == 0) {
      columns_ = columns;
      if (columns != 1 && columns != threads)
        mistakes.add({file, number, 1},
                     fmt::format("expected 1 column, or {} for as many threads, found {}", threads,
                                 columns));
    }
    if (columns != columns_)
      mistakes.add(
          {file, number, 1},
          fmt::format("expected {} columns as in the first row, found {}", columns_, columns));
    if (mistakes.size() >= mistakes_shown_max) break;
  }
  if (rows_ == 0) mistakes.add({file, 0, 0}, "expected a row of values, found none");
  mistakes.throw_if_any();
}

}  // namespace bench
