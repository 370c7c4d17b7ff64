// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/algorithm.cpp — parsing of parameters; checks common to all algorithms.
#include "collectives/schedule/algorithm.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <set>
#include <stdexcept>

#include "base/errors.hpp"
#include "base/near_match.hpp"

namespace collectives {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(at, from), text.size());
    if (to > from) parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

bool read_number(const std::string& text, Count& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

std::string not_known(const std::string& found, const std::vector<std::string>& known) {
  if (known.empty()) return fmt::format("expected no parameters, found '{}'", found);
  return base::not_one_of(found, {known.begin(), known.end()});
}

/// Returns why the parameter cannot have the value; "" if it can.
std::string wrong(const Parameter& parameter, const std::string& value) {
  if (parameter.words.empty()) {
    const auto is_right = [&](const std::string& one) {
      Count number = 0;
      return read_number(one, number) && number >= parameter.least && number <= parameter.most;
    };
    const auto list = parameter.is_list ? split(value, '/') : std::vector{value};
    if (!list.empty() && std::all_of(list.begin(), list.end(), is_right)) return "";
    const std::string most = parameter.most == std::numeric_limits<Count>::max()
                                 ? " on"
                                 : fmt::format(" to {}", parameter.most);
    return fmt::format("{}: expected a number from {}{}, found '{}'", parameter.name,
                       parameter.least, most, value);
  }
  const auto words = parameter.is_list ? split(value, '/') : std::vector{value};
  if (words.empty()) return fmt::format("{}: expected words, found none", parameter.name);
  for (const std::string& word : words)
    if (std::find(parameter.words.begin(), parameter.words.end(), word) == parameter.words.end())
      return fmt::format("{}: {}", parameter.name, not_known(word, parameter.words));
  return "";
}

std::string too_many_pieces(const Parameter& parameter, const CollectiveSpec& task,
                            const Parameters& values) {
  Count least = 0;
  for (const Count number : values.numbers(parameter.name))
    if (number > 0 && (least == 0 || number < least)) least = number;
  const Count total = task.counts.total();
  if (least == 0 || total <= least) return "";
  const Count pieces = (total - 1) / least + 1;
  if (pieces <= pieces_max) return "";
  return fmt::format(
      "{} {} cuts {} elements into {} messages; expected at most {}, so {} 0 or at least {}",
      parameter.name, least, total, pieces, pieces_max, parameter.name,
      (total - 1) / pieces_max + 1);
}

}  // namespace

std::string_view name_of(Order order) {
  switch (order) {
    case Order::canonical: return "canonical";
    case Order::in_order: return "one grouping, in order";
    case Order::permuted: return "one grouping, permuted";
    case Order::by_block: return "by block";
    case Order::differs: return "differs";
  }
  return "?";
}

Count Parameters::number(const std::string& name) const {
  Count number = 0;
  ENSURE(read_number(values_.at(name), number));
  return number;
}

std::vector<Count> Parameters::numbers(const std::string& name) const {
  std::vector<Count> numbers;
  for (const std::string& word : words(name)) {
    numbers.emplace_back();
    ENSURE(read_number(word, numbers.back()));
  }
  return numbers;
}

std::vector<std::string> Parameters::words(const std::string& name) const {
  return split(values_.at(name), '/');
}

Parameters& Parameters::set(const std::string& name, const std::string& value) {
  values_[name] = value;
  return *this;
}

std::string Parameters::text() const {
  std::vector<std::string> parts;
  for (const auto& [name, value] : values_) parts.push_back(name + "=" + value);
  return fmt::format("{}", fmt::join(parts, ","));
}

void Program::append_all(Steps& steps) const {
  for (Count portion = 0; portion < portions_; ++portion) make_(portion, steps);
}

Steps Program::all() const {
  Steps steps;
  append_all(steps);
  return steps;
}

bool Algorithm::does(Collective collective) const {
  return std::find(collectives.begin(), collectives.end(), collective) != collectives.end();
}

bool Algorithm::matters(const Parameter& parameter, Collective collective,
                        const Parameters& others) const {
  const auto has = [](const auto& list, const auto& one) {
    return std::find(list.begin(), list.end(), one) != list.end();
  };
  if (!parameter.only_for.empty() && !has(parameter.only_for, collective)) return false;
  if (parameter.only_with.empty()) return true;
  for (const Parameter& other : parameters)
    if (!other.words.empty() && others.has(other.name))
      for (const std::string& word : others.words(other.name))
        if (has(parameter.only_with, word)) return true;
  return false;
}

Parameters Algorithm::read(const std::string& text) const {
  Parameters values;
  std::vector<std::string> names;
  std::vector<std::string> mistakes;
  std::set<std::string> said;
  for (const Parameter& parameter : parameters) {
    values.set(parameter.name, parameter.fallback);
    names.push_back(parameter.name);
  }
  for (const std::string& word : split(text, ',')) {
    const std::string key = word.substr(0, word.find('='));
    const std::string value = word.size() > key.size() ? word.substr(key.size() + 1) : "";
    const auto known = std::find(names.begin(), names.end(), key);
    const std::string mistake = known == names.end()
                                    ? not_known(key, names)
                                    : wrong(parameters[std::size_t(known - names.begin())], value);
    if (!mistake.empty()) mistakes.push_back(mistake);
    if (!said.insert(key).second) mistakes.push_back(fmt::format("{} is given twice", key));
    values.set(key, value);
  }
  if (!mistakes.empty())
    throw std::invalid_argument(fmt::format("{}: {}", name, fmt::join(mistakes, "; ")));
  return values;
}

std::string Algorithm::why_not(const CollectiveSpec& task, const Parameters& values) const {
  if (!does(task.collective)) return fmt::format("{} is no {}", name, name_of(task.collective));
  if (has_root(task.collective) && task.root >= task.size())
    return fmt::format("there is no participant {}: they are 0 to {}", task.root, task.size() - 1);
  for (const Parameter& parameter : parameters)
    if (parameter.is_piece && matters(parameter, task.collective, values))
      if (const std::string why = too_many_pieces(parameter, task, values); !why.empty())
        return why;
  return refusal ? refusal(task, values) : "";
}

std::string Algorithm::remedy(const CollectiveSpec& task, const Parameters& values,
                              Order worst) const {
  if (!does(task.collective)) return "";
  const auto helps = [&](const Parameters& changed) {
    return why_not(task, changed).empty() &&
           (!is_reduction(task.collective) || order(task, changed) <= worst);
  };
  std::vector<const Parameter*> worded;
  for (const Parameter& parameter : parameters)
    if (!parameter.words.empty() && !parameter.is_list) worded.push_back(&parameter);
  for (const Parameter* first : worded)
    for (const std::string& word : first->words)
      if (helps(Parameters(values).set(first->name, word)))
        return fmt::format("{}={}", first->name, word);
  for (std::size_t first = 0; first < worded.size(); ++first)
    for (std::size_t second = first + 1; second < worded.size(); ++second)
      for (const std::string& one : worded[first]->words)
        for (const std::string& other : worded[second]->words) {
          Parameters changed = values;
          changed.set(worded[first]->name, one).set(worded[second]->name, other);
          if (helps(changed))
            return fmt::format("{}={},{}={}", worded[first]->name, one, worded[second]->name,
                               other);
        }
  return "";
}

Schedule schedule_of(const Algorithm& algorithm, const CollectiveSpec& task,
                     const Parameters& parameters) {
  Schedule schedule;
  schedule_of(algorithm, task, parameters, schedule);
  return schedule;
}

void schedule_of(const Algorithm& algorithm, const CollectiveSpec& task,
                 const Parameters& parameters, Schedule& schedule) {
  schedule.resize(task.size());
  for (Rank me = 0; me < task.size(); ++me) {
    schedule[me].clear();
    algorithm.program(task, parameters, me).append_all(schedule[me]);
  }
}

}  // namespace collectives
