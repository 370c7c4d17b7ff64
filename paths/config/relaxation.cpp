// SPDX-License-Identifier: Apache-2.0
// paths/config/relaxation.cpp — the words of relaxations, and what may be said together.
#include "paths/config/relaxation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/near_match.hpp"

namespace paths {
namespace {

using base::Settings;
using Kind = Relaxation::Kind;
using Transfer = Relaxation::Transfer;

constexpr std::uint64_t most = 1'000'000;
/// Of a word without parameters.
constexpr std::optional<std::uint64_t> usual_period = 50, usual_lag = 2;
constexpr std::string_view usual_budget = "32,16";

constexpr std::array<std::string_view, 5> kind_names = {"exact", "periodic", "lagged",
                                                        "conditional", "budget"};

/// With the transfer that it has where the config names none. A pulled value takes both ways when
/// an iteration is shorter than that, so exact ones, which are needed at once, are pushed.
void set_kind(Relaxation& relaxation, Kind kind) {
  relaxation.kind = kind;
  relaxation.transfer = kind == Kind::exact ? Transfer::push : Transfer::pull;
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
  const auto count = base::parse_natural(text);
  return count && *count > 0 && *count <= most ? count : std::nullopt;
}

/// Parts of a word between colons.
std::vector<std::string_view> parts_of(std::string_view word) {
  std::vector<std::string_view> parts;
  for (std::size_t colon = word.find(':'); colon != std::string_view::npos;
       colon = word.find(':')) {
    parts.push_back(word.substr(0, colon));
    word.remove_prefix(colon + 1);
  }
  parts.push_back(word);
  return parts;
}

/// "horizon,every".
bool parse_budget(std::string_view text, Relaxation& relaxation) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) return false;
  const auto horizon = parse_count(text.substr(0, comma));
  const auto every = parse_count(text.substr(comma + 1));
  if (!horizon || !every || *every > *horizon) return false;
  relaxation.rounds = *horizon;
  relaxation.every = *every;
  return true;
}

/// The parameters behind a kind's name: empty when they are right, else what was expected.
std::string parse_parameters(std::vector<std::string_view> parameters, Relaxation& relaxation) {
  const std::size_t given = parameters.size();
  parameters.resize(2);
  if (relaxation.kind == Kind::periodic || relaxation.kind == Kind::lagged) {
    const bool is_periodic = relaxation.kind == Kind::periodic;
    const auto rounds =
        given == 0 ? (is_periodic ? usual_period : usual_lag) : parse_count(parameters[0]);
    if (given > 1 || !rounds) return is_periodic ? "periodic:EVERY" : "lagged:ROUNDS";
    relaxation.rounds = *rounds;
    return {};
  }
  if (relaxation.kind == Kind::budget) {
    if (given <= 1 && parse_budget(given == 0 ? usual_budget : parameters[0], relaxation))
      return {};
    return "budget:HORIZON,EVERY with EVERY at most HORIZON";
  }
  if (given == 0) return {};
  relaxation.transfer = Transfer::pull;
  if (given == 1 && parameters[0] == "pull") return {};
  relaxation.transfer = parameters[0] == "push" ? Transfer::push : Transfer::demand;
  if (given == 1 && relaxation.transfer == Transfer::push) return {};
  if (relaxation.kind == Kind::exact) return "exact:pull or exact:push";
  if (given == 1 && parameters[0] == "demand") return {};
  const auto count = parse_count(parameters[1]);
  if (given != 2 || parameters[0] != "subscribe" || !count)
    return "conditional:pull, conditional:push, conditional:demand or conditional:subscribe:TUPLES";
  relaxation.count = *count;
  return {};
}

std::optional<Kind> kind_named(std::string_view name) {
  const auto found = std::find(kind_names.begin(), kind_names.end(), name);
  if (found == kind_names.end()) return std::nullopt;
  return static_cast<Kind>(found - kind_names.begin());
}

/// `relaxation: {lagged: 2}`.
void read_map(base::MapReader& reader, const Settings& map, Relaxation& relaxation) {
  if (map.entries().size() != 1)
    return reader.mistake("relaxation", "expected one relaxation, such as {lagged: 2}");
  const auto& [name, value] = map.entries().front();
  const auto kind = kind_named(name.text());
  base::MapReader inner(map, reader.mistakes(), "relaxation");
  if (kind == Kind::periodic || kind == Kind::lagged) {
    set_kind(relaxation, *kind);
    relaxation.rounds = static_cast<std::uint64_t>(inner.integer(name.text(), 1, 1, most));
  } else if (kind == Kind::budget && value.is_map()) {
    set_kind(relaxation, *kind);
    base::MapReader budget(value, reader.mistakes(), "budget");
    for (const char* key : {"horizon", "every"})
      if (!budget.has(key)) budget.mistake(key, "missing, expected how many rounds");
    const std::int64_t horizon = budget.integer("horizon", 1, 1, most);
    relaxation.rounds = static_cast<std::uint64_t>(horizon);
    relaxation.every = static_cast<std::uint64_t>(budget.integer("every", 1, 1, horizon));
    budget.finish();
    inner.take(name.text());
  } else {
    inner.take(name.text());
    reader.mistake("relaxation",
                   "expected {periodic: EVERY}, {lagged: ROUNDS} or "
                   "{budget: {horizon: ROUNDS, every: ROUNDS}}");
  }
  inner.finish();
}

void read_word(base::MapReader& reader, const std::string& word, Relaxation& relaxation) {
  std::vector<std::string_view> parts = parts_of(word);
  const auto kind = kind_named(parts[0]);
  if (!kind) {
    const std::vector<std::string_view> known(kind_names.begin(), kind_names.end());
    const auto near = base::near_match(std::string(parts[0]), known);
    return reader.mistake("relaxation",
                          fmt::format("expected {}, found '{}'{}", base::either_of(known), word,
                                      near ? fmt::format("; did you mean '{}'?", *near) : ""));
  }
  set_kind(relaxation, *kind);
  const std::string expected = parse_parameters({parts.begin() + 1, parts.end()}, relaxation);
  if (!expected.empty())
    reader.mistake("relaxation", fmt::format("expected {}, found '{}'", expected, word));
}

/// `transfer: push`, `transfer: {subscribe: 8}`.
void read_transfer(base::MapReader& reader, Relaxation& relaxation) {
  const Settings value = reader.take("transfer");
  if (value.is_null()) return;
  const bool is_conditional = relaxation.kind == Kind::conditional;
  const bool is_word = value.is_scalar();
  if (is_word && value.text() == "pull") {
    relaxation.transfer = Transfer::pull;
  } else if (is_word && value.text() == "push") {
    relaxation.transfer = Transfer::push;
  } else if (is_word && value.text() == "demand" && is_conditional) {
    relaxation.transfer = Transfer::demand;
  } else if (value.is_map() && value.find("subscribe") != nullptr && is_conditional) {
    base::MapReader inner(value, reader.mistakes(), "transfer");
    relaxation.transfer = Transfer::demand;
    relaxation.count = static_cast<std::uint64_t>(inner.integer("subscribe", 1, 1, most));
    inner.finish();
  } else {
    reader.mistake(
        "transfer",
        fmt::format("expected {}, found {}",
                    is_conditional ? "pull, push, demand or {subscribe: TUPLES}"
                                   : "pull or push, as the relaxation is not conditional",
                    value.describe()));
  }
}

}  // namespace

std::optional<Algorithm> parse_algorithm(std::string_view word, std::string& wrong) {
  const std::vector<std::string_view> parts = parts_of(word);
  Algorithm algorithm;
  if (word == "sequential") {
    algorithm.all_to_all = false;
    return algorithm;
  }
  const bool is_magpie = parts[0] == "magpie";
  const auto kind = is_magpie ? Kind::exact : kind_named(parts[0]);
  if (!kind) {
    const std::vector<std::string_view> known = {
        "sequential",          "magpie", "exact", "conditional", "periodic:EVERY", "lagged:ROUNDS",
        "budget:HORIZON,EVERY"};
    const auto near = base::near_match(
        std::string(parts[0]),
        {"sequential", "magpie", "exact", "conditional", "periodic", "lagged", "budget"});
    wrong = fmt::format("expected {}, found '{}'{}", base::either_of(known), word,
                        near ? fmt::format("; did you mean '{}'?", *near) : "");
    return std::nullopt;
  }
  set_kind(algorithm.relaxation, *kind);
  if (is_magpie) algorithm.relaxation.transfer = Transfer::pull;
  const std::string expected =
      parse_parameters({parts.begin() + 1, parts.end()}, algorithm.relaxation);
  if (expected.empty()) return algorithm;
  wrong = fmt::format("expected {}, found '{}'", expected, word);
  return std::nullopt;
}

Relaxation read_relaxation(base::MapReader& reader, bool all_to_all) {
  Relaxation relaxation;
  set_kind(relaxation, Kind::exact);
  const Settings value = reader.take("relaxation");
  if (value.is_map()) {
    read_map(reader, value, relaxation);
  } else if (value.is_scalar()) {
    read_word(reader, value.text(), relaxation);
  } else if (!value.is_null()) {
    reader.mistake("relaxation", fmt::format("expected a relaxation such as conditional or "
                                             "{{lagged: 2}}, found {}",
                                             value.describe()));
  }
  if (relaxation.needs_all_to_all() && !all_to_all)
    reader.mistake("relaxation",
                   fmt::format("{} needs graph: all_to_all, found graph: tree",
                               kind_names.at(static_cast<std::size_t>(relaxation.kind))));
  const bool has_transfer = reader.has("transfer");
  read_transfer(reader, relaxation);
  const bool has_choice = relaxation.kind == Kind::exact || relaxation.kind == Kind::periodic ||
                          relaxation.kind == Kind::conditional;
  if (has_transfer && (!all_to_all || !has_choice))
    reader.mistake("transfer", all_to_all ? "a lagged result is always told unasked"
                                          : "a tree has none: expected graph: all_to_all");
  return relaxation;
}

std::string algorithm_text(const Algorithm& algorithm) {
  const Relaxation& relaxation = algorithm.relaxation;
  switch (relaxation.kind) {
    case Kind::periodic: return fmt::format("periodic:{}", relaxation.rounds);
    case Kind::lagged: return fmt::format("lagged:{}", relaxation.rounds);
    case Kind::budget: return fmt::format("budget:{},{}", relaxation.rounds, relaxation.every);
    case Kind::exact:
    case Kind::conditional: break;
  }
  if (!algorithm.all_to_all) return "sequential";
  const bool is_pushed = relaxation.transfer == Transfer::push;
  if (relaxation.kind == Kind::exact) return is_pushed ? "exact" : "magpie";
  if (relaxation.transfer == Transfer::pull) return "conditional";
  if (is_pushed) return "conditional:push";
  return relaxation.count == 1 ? "conditional:demand"
                               : fmt::format("conditional:subscribe:{}", relaxation.count);
}

}  // namespace paths
