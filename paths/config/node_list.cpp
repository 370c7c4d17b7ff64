// SPDX-License-Identifier: Apache-2.0
// paths/config/node_list.cpp — parser of node lists with ranges of numbers.
#include "paths/config/node_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>

namespace paths {
namespace {

class Mistake : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Reader {
 public:
  Reader(std::string_view text, std::size_t names_max) : text_(text), names_max_(names_max) {}

  std::vector<std::string> read() {
    std::vector<std::string> names;
    do {
      for (std::string& name : read_names(names_max_ - names.size()))
        names.push_back(std::move(name));
    } while (take(','));
    if (at_ < text_.size()) refuse(at_, "expected ',' or the end, found " + found());
    return names;
  }

 private:
  [[noreturn]] void refuse(std::size_t at, const std::string& message) const {
    throw Mistake(fmt::format("character {}: {}", at + 1, message));
  }
  std::string found() const {
    return at_ < text_.size() ? fmt::format("'{}'", text_[at_]) : "the end";
  }
  bool take(char wanted) {
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  /// Reads the names up to the next comma outside brackets.
  std::vector<std::string> read_names(std::size_t most) {
    const std::size_t begin = at_;
    std::vector<std::string> names = {""};
    for (;;) {
      const std::size_t end = std::min(text_.find_first_of("[],", at_), text_.size());
      const std::string_view part = text_.substr(at_, end - at_);
      for (std::string& name : names) name += part;
      at_ = end;
      if (!take('[')) break;
      names = combined(names, read_ranges(most), most, begin);
    }
    if (at_ == begin) refuse(at_, "expected a name, found " + found());
    return names;
  }

  std::vector<std::string> combined(const std::vector<std::string>& names,
                                    const std::vector<std::string>& numbers, std::size_t most,
                                    std::size_t begin) const {
    if (names.size() * numbers.size() > most) refuse_many(begin);
    std::vector<std::string> all;
    for (const std::string& name : names)
      for (const std::string& number : numbers) all.push_back(name + number);
    return all;
  }
  [[noreturn]] void refuse_many(std::size_t at) const {
    refuse(at, fmt::format("expected at most {} names, found more", names_max_));
  }

  /// Reads the ranges of numbers after '[', up to the closing ']'.
  std::vector<std::string> read_ranges(std::size_t most) {
    std::vector<std::string> numbers;
    do {
      const std::size_t begin = at_;
      const std::string_view first = read_digits();
      const std::string_view last = take('-') ? read_digits() : first;
      const std::uint64_t from = number_of(first, begin), to = number_of(last, begin);
      if (to < from)
        refuse(begin, fmt::format("expected a range that counts up, found '{}-{}'", first, last));
      if (to - from >= most - numbers.size()) refuse_many(begin);
      for (std::uint64_t number = from; number <= to; ++number)
        numbers.push_back(fmt::format("{:0{}}", number, first.size()));
    } while (take(','));
    if (!take(']')) refuse(at_, "expected ',', '-' or ']', found " + found());
    return numbers;
  }

  std::string_view read_digits() {
    const std::size_t end = std::min(text_.find_first_not_of("0123456789", at_), text_.size());
    if (end == at_) refuse(at_, "expected a number, found " + found());
    const std::string_view digits = text_.substr(at_, end - at_);
    at_ = end;
    return digits;
  }
  std::uint64_t number_of(std::string_view digits, std::size_t at) const {
    constexpr std::size_t digits_max = 18;
    if (digits.size() > digits_max)
      refuse(at, fmt::format("expected at most {} digits", digits_max));
    std::uint64_t number = 0;
    for (const char digit : digits) number = 10 * number + static_cast<std::uint64_t>(digit - '0');
    return number;
  }

  const std::string_view text_;
  const std::size_t names_max_;
  std::size_t at_ = 0;
};

}  // namespace

bool is_node_list(std::string_view text) { return text.find_first_of("[,") != text.npos; }

NodeList read_node_list(std::string_view text, std::size_t names_max) {
  try {
    return {Reader(text, names_max).read()};
  } catch (const Mistake& mistake) {
    return {{}, mistake.what()};
  }
}

}  // namespace paths
