// SPDX-License-Identifier: Apache-2.0
// base/link_model/link_trace.cpp — lines of a trace, and their checks
#include "base/link_model/link_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

namespace tuning {
namespace {

constexpr std::string_view blanks = " \t\r";
constexpr std::string_view line_expected = "seconds, latency in ms and perhaps a bandwidth in Mbit";
constexpr double seconds_max = std::chrono::duration<double>(base::time_max).count();

struct Word {
  std::string_view text;
  int column;
};

std::vector<Word> words_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<Word> words;
  std::size_t begin = line.find_first_not_of(blanks);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(blanks, begin), line.size());
    words.push_back({line.substr(begin, end - begin), static_cast<int>(begin) + 1});
    begin = line.find_first_not_of(blanks, end);
  }
  return words;
}

base::Nanos nanos(double seconds) { return base::Nanos(std::llround(seconds * 1e9)); }

class TraceReader {
 public:
  TraceReader(std::string name, double bits_per_second, base::Mistakes& mistakes)
      : name_(std::move(name)), bits_per_second_(bits_per_second), mistakes_(mistakes) {}

  void read(std::string_view line) {
    ++line_;
    const std::vector<Word> words = words_of(line);
    if (words.empty()) return;
    if (words.size() == 1 && words[0].text == "round_trip") return halve(words[0]);
    if (words.size() < 2 || words.size() > 3) {
      const std::string what = words.size() == 1 ? "one number" : fmt::format("{}", words.size());
      return wrong(words.front(), fmt::format("expected {}, found {}", line_expected, what));
    }
    const auto from = number(words[0], "seconds from the start", seconds_max);
    auto latency = number(words[1], "a latency in ms", seconds_max * 1e3);
    if (latency && is_round_trip_) *latency /= 2;
    std::optional<double> bandwidth = bits_per_second_;
    if (words.size() == 3) {
      bandwidth = number(words[2], "a bandwidth in Mbit", 1e12);
      if (bandwidth == 0.0) wrong(words[2], "the bandwidth is 0: nothing would ever arrive");
      if (bandwidth) *bandwidth *= 1e6;
    }
    if (!from || !latency || !bandwidth) return;
    add({nanos(*from), nanos(*latency / 1e3), *bandwidth}, words[0]);
  }

  std::optional<LinkModel> model(std::size_t mistakes_before) {
    if (samples_.empty() && mistakes_.size() == mistakes_before) {
      mistakes_.add({name_, line_, 0}, fmt::format("no line with {}", line_expected));
    }
    if (mistakes_.size() != mistakes_before) return std::nullopt;
    const std::size_t count = samples_.size();
    const base::Nanos last = samples_.back().from;
    const base::Nanos period = count > 1 ? last + (last - samples_[count - 2].from) : last;
    return LinkModel(std::move(samples_), period);
  }

 private:
  void wrong(const Word& word, std::string message) {
    mistakes_.add({name_, line_, word.column}, std::move(message));
  }

  void halve(const Word& word) {
    if (!samples_.empty()) wrong(word, "expected before the first latency, found 'round_trip'");
    is_round_trip_ = true;
  }

  std::optional<double> number(const Word& word, std::string_view what, double most) {
    double value = 0;
    const char* const end = word.text.data() + word.text.size();
    const auto [stopped, error] = std::from_chars(word.text.data(), end, value);
    if (error == std::errc() && stopped == end && value >= 0 && value <= most) return value;
    wrong(word, fmt::format("expected {}, found '{}'", what, word.text));
    return std::nullopt;
  }

  void add(const LinkSample& sample, const Word& from) {
    if (samples_.empty() && sample.from != base::Nanos(0)) {
      wrong(from, fmt::format("expected 0 on the first line, found '{}'", from.text));
    } else if (!samples_.empty() && sample.from <= samples_.back().from) {
      wrong(from, fmt::format("expected a later time than {} of the line before, found '{}'",
                              base::format_time(samples_.back().from), from.text));
    }
    samples_.push_back(sample);
  }

  const std::string name_;
  const double bits_per_second_;
  base::Mistakes& mistakes_;
  int line_ = 0;
  bool is_round_trip_ = false;
  std::vector<LinkSample> samples_;
};

}  // namespace

std::optional<LinkModel> parse_link_trace(std::string_view text, const std::string& name,
                                          double bits_per_second, base::Mistakes& mistakes) {
  const std::size_t mistakes_before = mistakes.size();
  TraceReader reader(name, bits_per_second, mistakes);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.read(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.model(mistakes_before);
}

}  // namespace tuning
