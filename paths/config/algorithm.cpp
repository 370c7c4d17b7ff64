// SPDX-License-Identifier: Apache-2.0
// paths/config/algorithm.cpp — reader and printer of the setting `algorithm`, in short and long
// form.
#include "paths/config/algorithm.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/errors.hpp"
#include "base/near_match.hpp"
#include "collectives/algorithms/all.hpp"

namespace paths {
namespace {

using base::Settings;
using Numbers = std::vector<std::uint64_t>;

constexpr std::uint64_t parameter_max = 1'000'000;

std::optional<std::uint64_t> parse_count(std::string_view text) {
  const auto count = base::parse_natural(text);
  return count && *count > 0 && *count <= parameter_max ? count : std::nullopt;
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(separator); end != std::string_view::npos;
       end = text.find(separator)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

std::string in_capitals(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return text;
}

/// Returns the short form of a word: its name, then the names of its parameters, such as
/// "budget:HORIZON,EVERY".
template <class Word>
std::string form_of(const Word& word) {
  std::vector<std::string> numbers;
  for (const SettingHelp& setting : word.settings) numbers.push_back(in_capitals(setting.name));
  return word.name + (numbers.empty() ? "" : ":") + fmt::format("{}", fmt::join(numbers, ","));
}

/// Returns the long form of a word, a map of its parameters: "{budget: {horizon: ROUNDS, every:
/// ROUNDS}}" or "{subscribe: TUPLES}".
template <class Word>
std::string map_form_of(const Word& word) {
  if (word.settings.size() == 1)
    return fmt::format("{{{}: {}}}", word.name, in_capitals(word.settings.front().name));
  std::vector<std::string> entries;
  for (const SettingHelp& setting : word.settings)
    entries.push_back(fmt::format("{}: {}", setting.name, in_capitals(setting.name)));
  return fmt::format("{{{}: {{{}}}}}", word.name, fmt::join(entries, ", "));
}

std::string either_of(const std::vector<std::string>& words) {
  return base::either_of({words.begin(), words.end()});
}

const AlgorithmWord* word_named(std::string_view name) {
  const std::vector<AlgorithmWord>& words = algorithm_words();
  const auto found = std::find_if(words.begin(), words.end(),
                                  [&](const AlgorithmWord& word) { return word.name == name; });
  return found == words.end() ? nullptr : &*found;
}

bool does(const collectives::Algorithm& algorithm, std::string_view collective_kind) {
  return std::any_of(algorithm.collectives.begin(), algorithm.collectives.end(),
                     [&](auto collective) { return name_of(collective) == collective_kind; });
}

/// Returns the description of the value `name` of the setting `transfer`. Returns nullptr if the
/// algorithm does not allow this value.
const TransferWord* transfer_named(std::string_view name, const AlgorithmWord& word) {
  if (std::count(word.transfers.begin(), word.transfers.end(), name) == 0) return nullptr;
  for (const TransferWord& transfer : transfer_words())
    if (transfer.name == name) return &transfer;
  return nullptr;
}

const TransferWord* usual_transfer(const AlgorithmWord& word) {
  for (const TransferWord& transfer : transfer_words())
    if (transfer.name == word.transfer) return &transfer;
  return nullptr;
}

/// Returns the algorithm that `word` without parameters describes: each parameter has its default.
Algorithm plain(const AlgorithmWord& word, bool all_to_all) {
  Algorithm algorithm{&word, all_to_all, {}, all_to_all ? usual_transfer(word) : nullptr, 1};
  for (const SettingHelp& setting : word.settings)
    algorithm.numbers.push_back(base::parse_natural(setting.fallback).value_or(1));
  return algorithm;
}

/// Returns the rule for the numbers of a word, for an error message: " with HORIZON from 1 to
/// 1000000 and EVERY from 1 to HORIZON". Returns "" if the word has no numbers. A number is at most
/// the number before it: otherwise a message could carry more rounds (EVERY) than the number of
/// rounds by which a result may be late (HORIZON).
template <class Word>
std::string number_rule(const Word& word) {
  std::string rule, most = fmt::format("{}", parameter_max);
  for (const SettingHelp& setting : word.settings) {
    const std::string name = in_capitals(setting.name);
    rule += fmt::format("{} {} from 1 to {}", rule.empty() ? " with" : " and", name, most);
    most = name;
  }
  return rule;
}

std::optional<Numbers> parse_numbers(std::string_view text, std::size_t count) {
  Numbers numbers;
  for (const std::string_view part : parts_of(text, ',')) {
    const auto number = parse_count(part);
    if (!number || (!numbers.empty() && *number > numbers.back())) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers.size() == count ? std::optional(numbers) : std::nullopt;
}

void set_transfer(Algorithm& algorithm, const TransferWord& transfer, std::uint64_t tuples) {
  algorithm.transfer = &transfer;
  algorithm.tuples = tuples;
  if (tuples != 1 || transfer.with_one.empty()) return;
  if (const TransferWord* same = transfer_named(transfer.with_one, *algorithm.word))
    algorithm.transfer = same;
}

/// Reads the parameters after a word's name into `algorithm`. Returns "" if the parameters are
/// valid, otherwise a description of the expected parameters.
std::string parse_parameters(const std::vector<std::string_view>& given, Algorithm& algorithm) {
  const AlgorithmWord& word = *algorithm.word;
  if (given.empty()) return {};
  if (!word.settings.empty()) {
    const auto numbers =
        given.size() == 1 ? parse_numbers(given[0], word.settings.size()) : std::nullopt;
    if (!numbers) return form_of(word) + number_rule(word);
    algorithm.numbers = *numbers;
    return {};
  }
  std::vector<std::string> forms;
  for (const TransferWord& transfer : transfer_words()) {
    if (transfer_named(transfer.name, word) == nullptr) continue;
    forms.push_back(fmt::format("{}:{}{}", word.name, form_of(transfer), number_rule(transfer)));
    if (given[0] != transfer.name || given.size() != 1 + transfer.settings.size()) continue;
    const auto tuples = given.size() == 1 ? std::optional<std::uint64_t>(1) : parse_count(given[1]);
    if (!tuples) continue;
    if (algorithm.all_to_all) set_transfer(algorithm, transfer, *tuples);
    return {};
  }
  return forms.empty() ? word.name : either_of(forms);
}

/// Returns the word that describes `algorithm` in the shortest text. It is the first word that has
/// the relaxation and the graph of `algorithm`, and whose default transfer is the transfer of
/// `algorithm`. A text with this word need not name the transfer. Trees have no transfer.
const AlgorithmWord& shortest(const Algorithm& algorithm) {
  for (const AlgorithmWord& word : algorithm_words()) {
    const bool fits = algorithm.all_to_all
                          ? word.over_all_to_all && usual_transfer(word) == algorithm.transfer
                          : word.over_tree;
    if (word.relaxation == algorithm.word->relaxation && fits) return word;
  }
  return *algorithm.word;
}

/// Returns the first word that has the relaxation `name` and is allowed with the graph of the
/// collective. `all_to_all` tells whether that graph is `all_to_all` or one tree. With the graph
/// `all_to_all` the word itself must also be called `name`. If there is no such word, returns the
/// first word that has the relaxation but is not allowed with the graph; nullptr if no word has the
/// relaxation.
const AlgorithmWord* relaxation_named(std::string_view name, bool all_to_all) {
  const AlgorithmWord* found = nullptr;
  for (const AlgorithmWord& word : algorithm_words()) {
    if (word.relaxation != name) continue;
    if (!(all_to_all ? word.over_all_to_all : word.over_tree)) {
      if (found == nullptr) found = &word;
    } else if (word.name == name || !all_to_all) {
      return &word;
    }
  }
  return found;
}

std::vector<std::string_view> relaxation_names(std::string_view collective_kind) {
  std::vector<std::string_view> names;
  for (const AlgorithmWord& word : algorithm_words())
    if (word.relaxation == word.name && word.takes(collective_kind)) names.push_back(word.name);
  return names;
}

/// Reader of the settings `relaxation` and `transfer` of one collective.
class RelaxationReader {
 public:
  RelaxationReader(base::MapReader& reader, std::string_view kind, bool all_to_all)
      : reader_(reader), kind_(kind), all_to_all_(all_to_all) {}

  Algorithm read() {
    const Settings value = reader_.take("relaxation");
    const AlgorithmWord* exact = relaxation_named("exact", all_to_all_);
    ENSURE(exact != nullptr);
    algorithm_ = plain(*exact, all_to_all_);
    if (value.is_map()) {
      read_map(value);
    } else if (value.is_scalar()) {
      read_word(value.text());
    } else if (!value.is_null()) {
      mistake(fmt::format("expected a relaxation such as conditional or {{lagged: 2}}, found {}",
                          value.describe()));
    }
    const AlgorithmWord& word = *algorithm_.word;
    if (!all_to_all_ && !word.over_tree)
      mistake(fmt::format("{} needs graph: all_to_all, found graph: tree", word.name));
    read_transfer();
    return algorithm_;
  }

 private:
  void mistake(std::string message) { reader_.mistake("relaxation", std::move(message)); }

  bool set_word(std::string_view name) {
    const AlgorithmWord* word = relaxation_named(name, all_to_all_);
    if (word == nullptr || !word->takes(kind_)) return false;
    algorithm_ = plain(*word, all_to_all_);
    return true;
  }

  void read_word(const std::string& text) {
    const auto parts = parts_of(text, ':');
    if (!set_word(parts[0])) {
      const auto known = relaxation_names(kind_);
      return mistake(fmt::format("expected {}, found '{}'{}", base::either_of(known), text,
                                 base::did_you_mean(parts[0], known)));
    }
    const std::string expected = parse_parameters({parts.begin() + 1, parts.end()}, algorithm_);
    if (!expected.empty()) mistake(fmt::format("expected {}, found '{}'", expected, text));
  }

  /// Reads a relaxation that is written as a map, such as `relaxation: {lagged: 2}` or `relaxation:
  /// {budget: {horizon: 8, every: 4}}`.
  void read_map(const Settings& map) {
    if (map.entries().size() != 1) return mistake("expected one relaxation, such as {lagged: 2}");
    const auto& [name, value] = map.entries().front();
    base::MapReader inner(map, reader_.mistakes(), "relaxation");
    const bool is_known = set_word(name.text());
    const std::vector<SettingHelp>& settings = algorithm_.word->settings;
    if (is_known && settings.size() == 1) {
      algorithm_.numbers[0] =
          static_cast<std::uint64_t>(inner.integer(name.text(), 1, 1, parameter_max));
    } else if (is_known && settings.size() > 1 && value.is_map()) {
      inner.take(name.text());
      read_numbers(name.text(), value);
    } else {
      inner.take(name.text());
      std::vector<std::string> forms;
      for (const AlgorithmWord& word : algorithm_words())
        if (!word.settings.empty() && word.takes(kind_)) forms.push_back(map_form_of(word));
      mistake("expected " + either_of(forms));
    }
    inner.finish();
  }

  void read_numbers(const std::string& name, const Settings& map) {
    base::MapReader reader(map, reader_.mistakes(), name);
    const std::vector<SettingHelp>& settings = algorithm_.word->settings;
    for (const SettingHelp& setting : settings)
      if (!reader.has(setting.name))
        reader.mistake(setting.name, "missing, expected a number of rounds");
    std::int64_t least_before = parameter_max;
    for (std::size_t place = 0; place < settings.size(); ++place) {
      least_before = reader.integer(settings[place].name, 1, 1, least_before);
      algorithm_.numbers[place] = static_cast<std::uint64_t>(least_before);
    }
    reader.finish();
  }

  /// Reads the setting `transfer`, such as `transfer: push` or `transfer: {subscribe: 8}`.
  void read_transfer() {
    const Settings value = reader_.take("transfer");
    if (value.is_null()) return;
    const AlgorithmWord& word = *algorithm_.word;
    if (!all_to_all_)
      return reader_.mistake("transfer", "a tree has none: expected graph: all_to_all");
    if (word.transfers.empty())
      return reader_.mistake("transfer",
                             fmt::format("a {} result is always sent unrequested", word.name));
    std::vector<std::string> forms;
    for (const TransferWord& transfer : transfer_words()) {
      if (transfer_named(transfer.name, word) == nullptr) continue;
      forms.push_back(transfer.settings.empty() ? transfer.name : map_form_of(transfer));
      if (transfer.settings.empty() && value.is_scalar() && value.text() == transfer.name)
        return set_transfer(algorithm_, transfer, 1);
      if (transfer.settings.empty() || value.find(transfer.name) == nullptr) continue;
      base::MapReader inner(value, reader_.mistakes(), "transfer");
      const auto tuples = inner.integer(transfer.name, 1, 1, parameter_max);
      inner.finish();
      return set_transfer(algorithm_, transfer, static_cast<std::uint64_t>(tuples));
    }
    reader_.mistake("transfer", fmt::format("expected {} of {}, found {}", either_of(forms),
                                            word.name, value.describe()));
  }

  base::MapReader& reader_;
  const std::string_view kind_;
  const bool all_to_all_;
  Algorithm algorithm_;
};

/// Reads a schedule's name and its parameters into `algorithm`. Returns "" if both are valid,
/// otherwise a description of the expected text.
std::string parse_schedule(std::string_view text, std::string_view collective_kind,
                           Algorithm& algorithm) {
  algorithm.schedule = text;
  const auto [name, parameters] = collectives::split_at_colon(text);
  const collectives::Algorithm* const named = collectives::find_algorithm(name);
  if (named == nullptr) return name == text ? "" : algorithm.word->name;
  if (!does(*named, collective_kind))
    return fmt::format("an algorithm of {} (`paths algorithms`)", collective_kind);
  try {
    named->read(parameters);
  } catch (const std::invalid_argument& error) {
    return fmt::format("{}, whose parameters are right ({})", named->name, error.what());
  }
  return "";
}

}  // namespace

const AlgorithmWord* schedule_word() {
  const std::vector<AlgorithmWord>& words = algorithm_words();
  const auto found = std::find_if(words.begin(), words.end(),
                                  [](const AlgorithmWord& word) { return word.is_schedule; });
  return found == words.end() ? nullptr : &*found;
}

bool AlgorithmWord::takes(std::string_view collective_kind) const {
  return collectives.empty() ||
         std::count(collectives.begin(), collectives.end(), collective_kind) > 0;
}

std::uint64_t Algorithm::number(std::string_view setting) const {
  for (std::size_t place = 0; place < word->settings.size(); ++place)
    if (word->settings[place].name == setting) return numbers.at(place);
  return 0;
}

Algorithm sequential_algorithm() {
  const AlgorithmWord* word = word_named("sequential");
  ENSURE(word != nullptr);
  return plain(*word, false);
}

bool has_algorithms(std::string_view collective_kind) {
  const auto& words = algorithm_words();
  return std::count_if(words.begin(), words.end(),
                       [&](const AlgorithmWord& word) { return word.takes(collective_kind); }) > 1;
}

std::vector<std::string> algorithm_forms() {
  std::vector<std::string> forms;
  for (const AlgorithmWord& word : algorithm_words()) forms.push_back(form_of(word));
  return forms;
}

std::string algorithm_help() {
  std::vector<std::string_view> kinds;
  for (const AlgorithmWord& word : algorithm_words())
    for (const std::string_view kind : word.collectives)
      if (std::count(kinds.begin(), kinds.end(), kind) == 0) kinds.push_back(kind);
  return fmt::format("of every {}: {}", fmt::join(kinds, " and "), either_of(algorithm_forms()));
}

std::optional<Algorithm> parse_algorithm(std::string_view text, std::string_view collective_kind,
                                         std::string& wrong) {
  const auto parts = parts_of(text, ':');
  const AlgorithmWord* word = word_named(parts[0]);
  if (word == nullptr && collectives::find_algorithm(parts[0]) != nullptr) word = schedule_word();
  if (word == nullptr || !word->takes(collective_kind)) {
    std::vector<std::string> forms;
    std::vector<std::string_view> names;
    for (const AlgorithmWord& one : algorithm_words()) {
      if (!one.takes(collective_kind)) continue;
      forms.push_back(form_of(one));
      names.push_back(one.name);
    }
    for (const collectives::Algorithm& one : collectives::all_algorithms())
      if (does(one, collective_kind) && forms.size() > 1) names.push_back(one.name);
    wrong = fmt::format("expected {}, found '{}'{}", either_of(forms), text,
                        base::did_you_mean(parts[0], names));
    return std::nullopt;
  }
  Algorithm algorithm = plain(*word, word->over_all_to_all);
  const std::string expected = word->is_schedule
                                   ? parse_schedule(text, collective_kind, algorithm)
                                   : parse_parameters({parts.begin() + 1, parts.end()}, algorithm);
  if (expected.empty()) return algorithm;
  wrong = fmt::format("expected {}, found '{}'", expected, text);
  return std::nullopt;
}

std::string algorithm_text(const Algorithm& algorithm) {
  if (algorithm.word->is_schedule) return algorithm.schedule;
  const AlgorithmWord& word = shortest(algorithm);
  if (!word.settings.empty())
    return fmt::format("{}:{}", word.name, fmt::join(algorithm.numbers, ","));
  if (!algorithm.all_to_all || usual_transfer(word) == algorithm.transfer) return word.name;
  const std::string text = word.name + ":" + algorithm.transfer->name;
  return algorithm.transfer->settings.empty() ? text : fmt::format("{}:{}", text, algorithm.tuples);
}

Algorithm read_relaxation(base::MapReader& reader, std::string_view collective_kind,
                          bool all_to_all) {
  return RelaxationReader(reader, collective_kind, all_to_all).read();
}

}  // namespace paths
