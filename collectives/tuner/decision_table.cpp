// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/decision_table.cpp — reading, searching and printing of tables of schedules.
#include "collectives/tuner/decision_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "base/address.hpp"
#include "base/near_match.hpp"
#include "collectives/algorithms/all.hpp"

namespace tuner {
namespace {

using base::MapReader;
using base::Mistakes;
using base::Settings;
using collectives::Algorithm;
using collectives::Collective;
using collectives::Order;
using collectives::Parameter;

constexpr std::int64_t newest_version = 1;
constexpr std::string_view any_word = "any", no_limit_word = "inf";

const Parameter* length_of(const Algorithm& algorithm) {
  for (const Parameter& parameter : algorithm.parameters)
    if (parameter.is_piece) return &parameter;
  return nullptr;
}

std::optional<Order> order_named(std::string_view word) {
  for (const Order order : {Order::canonical, Order::in_order, Order::by_block})
    if (order_word(order) == word) return order;
  return std::nullopt;
}

bool has_order(Collective collective) {
  return is_reduction(collective) && collective != Collective::barrier;
}

/// Reads a range of numbers, such as "4", "5..16" or "any".
Range read_range(MapReader& reader, std::string_view key) {
  const std::string word = reader.word(key, std::string(any_word));
  if (word == any_word) return {};
  const std::size_t dots = word.find("..");
  const auto least = base::parse_natural(word.substr(0, dots));
  const auto most = dots == std::string::npos ? least : base::parse_natural(word.substr(dots + 2));
  constexpr auto largest = std::numeric_limits<std::uint32_t>::max();
  if (!least || !most || *least == 0 || *least > *most || *most > largest) {
    reader.mistake(key, fmt::format("expected a number such as 8, a range such as 5..16, or any, "
                                    "found '{}'",
                                    word));
    return {};
  }
  return {static_cast<std::uint32_t>(*least), static_cast<std::uint32_t>(*most)};
}

Evidence read_evidence(const Settings& value, Mistakes& mistakes) {
  constexpr double spread_most = 1e6;
  Evidence why;
  MapReader reader(value, mistakes, "why");
  why.time = reader.time("time", base::Nanos(0));
  why.predicted = reader.time("predicted", base::Nanos(0));
  why.next = reader.word("next", "");
  why.next_time = reader.time("next_time", base::Nanos(0));
  why.runs = static_cast<std::uint64_t>(
      reader.integer("runs", 0, 0, std::numeric_limits<std::int64_t>::max()));
  why.spread = reader.number("spread_percent", 0, 0, spread_most);
  why.candidates = reader.word("candidates", "");
  why.under = reader.word("under", "");
  reader.finish();
  return why;
}

class RowReader {
 public:
  RowReader(const Settings& row, const DecisionSection& section, Mistakes& mistakes)
      : reader_(row, mistakes, "row"), section_(section) {
    decision_.position = row.position();
  }
  Decision read() {
    read_limit();
    read_use();
    read_length();
    decision_.is_pinned = reader_.flag("pinned", false);
    decision_.note = reader_.word("note", "");
    decision_.why = read_evidence(reader_.take("why"), reader_.mistakes());
    reader_.finish();
    return std::move(decision_);
  }

 private:
  void read_limit() {
    const std::string word = reader_.required_word("up_to", "a size such as 2KiB, or inf");
    if (word.empty() || word == no_limit_word) return;
    if (const auto bytes = base::parse_bytes(word))
      decision_.up_to = *bytes;
    else
      reader_.mistake("up_to",
                      fmt::format("expected a size such as 2KiB, or inf, found '{}'", word));
  }

  void read_use() {
    const std::string text = reader_.required_word("use", "an algorithm of `paths algorithms`");
    if (text.empty()) return;
    try {
      const auto [name, words] = collectives::split_at_colon(text);
      const Algorithm& algorithm = collectives::algorithm_named(name);
      if (!algorithm.does(section_.collective))
        return reader_.mistake(
            "use", fmt::format("{} does no {}", algorithm.name, name_of(section_.collective)));
      decision_.parameters = algorithm.read(words);
      decision_.algorithm = &algorithm;
      if (const Parameter* const length = length_of(algorithm);
          length != nullptr && words.find(length->name + "=") != std::string::npos)
        reader_.mistake("use",
                        fmt::format("expected the {} as a key of the row, in bytes: {}: 32KiB",
                                    length->name, length->name));
    } catch (const std::invalid_argument& error) {
      reader_.mistake("use", error.what());
    }
  }

  void read_length() {
    const Algorithm* const algorithm = decision_.algorithm;  // nullptr = `use` has a mistake
    const Parameter* const length = algorithm == nullptr ? nullptr : length_of(*algorithm);
    for (const char* const key : {"segment", "stretch"}) {
      if (!reader_.has(key)) continue;
      const std::uint64_t bytes = reader_.bytes(key, 0);
      if (algorithm == nullptr) continue;
      if (length == nullptr || length->name != key)
        reader_.mistake(key, fmt::format("{} has no {}", algorithm->name, key));
      else
        decision_.length = bytes;
    }
  }

  MapReader reader_;
  const DecisionSection& section_;
  Decision decision_;
};

class SectionReader {
 public:
  SectionReader(Collective collective, const Settings& value, Mistakes& mistakes)
      : reader_(value, mistakes, std::string(name_of(collective))) {
    section_.collective = collective;
    section_.position = value.position();
  }

  DecisionSection read() {
    MapReader shape(reader_.take("shape"), reader_.mistakes(), "shape");
    section_.clusters = read_range(shape, "clusters");
    section_.hosts = read_range(shape, "hosts");
    section_.machines = read_range(shape, "machines");
    shape.finish();
    std::vector<std::string_view> transports = base::transport_words();
    transports.insert(transports.begin(), any_word);
    section_.transport = reader_.choice("transport", transports, std::string(any_word));
    read_order();
    read_rows();
    reader_.finish();
    return std::move(section_);
  }

 private:
  void read_order() {
    if (!has_order(section_.collective)) {
      if (reader_.has("order"))
        reader_.mistake("order", fmt::format("{} has no sums", name_of(section_.collective)));
      return;
    }
    const std::string word = reader_.choice(
        "order", {order_word(Order::canonical), order_word(Order::in_order), any_word},
        std::string(order_word(Order::in_order)));
    section_.order = order_named(word).value_or(Order::in_order);
  }

  void read_rows() {
    const Settings rows = reader_.take_required("rows", "a list of rows");
    if (rows.is_null()) return;
    if (!rows.is_list() || rows.items().empty())
      return reader_.mistake("rows", "expected a list of rows, found " + rows.describe());
    for (const Settings& row : rows.items())
      section_.rows.push_back(RowReader(row, section_, reader_.mistakes()).read());
    for (std::size_t row = 1; row < section_.rows.size(); ++row)
      if (section_.rows[row].up_to <= section_.rows[row - 1].up_to)
        reader_.mistakes().add(section_.rows[row].position,
                               fmt::format("up_to: expected more than {}, the limit of the row "
                                           "before, found {}",
                                           limit_text(section_.rows[row - 1].up_to),
                                           limit_text(section_.rows[row].up_to)));
    if (section_.rows.back().up_to != Decision::no_limit)
      reader_.mistakes().add(section_.rows.back().position,
                             fmt::format("up_to: expected inf in the last row, found {}; larger "
                                         "sizes have no row",
                                         limit_text(section_.rows.back().up_to)));
  }

  static std::string limit_text(Bytes limit) {
    return limit == Decision::no_limit ? std::string(no_limit_word) : base::format_bytes(limit);
  }

  MapReader reader_;
  DecisionSection section_;
};

/// How well a section of a table fits the group of an operation, from best to worst.
enum class Fit { exact, in_range, borrowed, none };

Fit fit_of(const DecisionSection& section, const Shape& shape) {
  if (!section.clusters.contains(shape.clusters) || !section.machines.contains(shape.machines) ||
      (section.transport != any_word && section.transport != shape.transport))
    return Fit::none;
  if (section.hosts.contains(shape.hosts))
    return section.clusters.is_single() && section.hosts.is_single() ? Fit::exact : Fit::in_range;
  const std::uint64_t hosts = shape.hosts;
  const bool is_near = hosts < section.hosts.least ? hosts * 2 >= section.hosts.least
                                                   : hosts <= 2 * std::uint64_t{section.hosts.most};
  return is_near ? Fit::borrowed : Fit::none;
}

/// Returns the factor by which the number of hosts is outside the range of a section; 1 = inside
/// the range.
double distance(const DecisionSection& section, const Shape& shape) {
  const double hosts = shape.hosts;
  return std::max({1.0, section.hosts.least / hosts, hosts / section.hosts.most});
}

/// Returns how many of the properties of a group a section states as a range or as `any`, instead
/// of one value.
int ranges_in(const DecisionSection& section) {
  int ranges = section.transport == any_word ? 1 : 0;
  for (const Range& range : {section.clusters, section.hosts, section.machines})
    if (!range.is_single()) ++ranges;
  return ranges;
}

/// Returns the text as a YAML string in double quotes.
std::string quoted(const std::string& text) {
  constexpr unsigned char first_printed = 0x20;
  std::string result = "\"";
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (code < first_printed) {
      result += fmt::format("\\x{:02x}", code);
      continue;
    }
    if (letter == '"' || letter == '\\') result += '\\';
    result += letter;
  }
  return result + '"';
}

std::string why_text(const Evidence& why) {
  std::string text;
  const auto add = [&](std::string_view key, const std::string& value) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", key, value);
  };
  if (why.time.count() > 0) add("time", base::format_time(why.time));
  if (why.predicted.count() > 0) add("predicted", base::format_time(why.predicted));
  if (!why.next.empty()) add("next", '"' + why.next + '"');
  if (why.next_time.count() > 0) add("next_time", base::format_time(why.next_time));
  if (why.runs > 0) add("runs", std::to_string(why.runs));
  if (why.spread > 0) add("spread_percent", fmt::format("{:.1f}", why.spread));
  if (!why.candidates.empty()) add("candidates", why.candidates);
  if (!why.under.empty()) add("under", quoted(why.under));
  return text;
}

std::string row_text(const Decision& row) {
  std::string text = fmt::format(
      "{{up_to: {}, use: {}",
      row.up_to == Decision::no_limit ? std::string(no_limit_word) : base::format_bytes(row.up_to),
      quoted(row.use()));
  if (row.length)
    text +=
        fmt::format(", {}: {}", length_of(*row.algorithm)->name, base::format_bytes(*row.length));
  if (row.is_pinned) text += ", pinned: true";
  if (!row.note.empty()) text += ", note: " + quoted(row.note);
  if (const std::string why = why_text(row.why); !why.empty())
    text += fmt::format(",\n         why: {{{}}}", why);
  return text + '}';
}

}  // namespace

bool are_for_same_groups(const DecisionSection& left, const DecisionSection& right) {
  return left.collective == right.collective && left.clusters == right.clusters &&
         left.hosts == right.hosts && left.machines == right.machines &&
         left.transport == right.transport && left.order == right.order;
}

std::string_view order_word(Order order) {
  switch (order) {
    case Order::canonical: return "canonical";
    case Order::in_order: return "in order";
    default: return any_word;
  }
}

std::string Range::text() const {
  if (*this == Range()) return std::string(any_word);
  return is_single() ? std::to_string(least) : fmt::format("{}..{}", least, most);
}

collectives::Parameters Decision::parameters_for(std::size_t element_bytes,
                                                 Bytes vector_bytes) const {
  collectives::Parameters result = parameters;
  const Bytes element = std::max<Bytes>(1, element_bytes);
  if (result.has("element")) result.set("element", std::to_string(element));
  if (length) {
    const Bytes elements =
        *length == 0 || *length >= vector_bytes ? 0 : std::max<Bytes>(1, *length / element);
    result.set(length_of(*algorithm)->name, std::to_string(elements));
  }
  return result;
}

std::string Decision::use() const {
  std::string words;
  const collectives::Parameters usual = algorithm->read("");
  for (const Parameter& parameter : algorithm->parameters)
    if (!parameter.is_piece && parameter.name != "element" &&
        parameters.word(parameter.name) != usual.word(parameter.name))
      words += fmt::format("{}{}={}", words.empty() ? ":" : ",", parameter.name,
                           parameters.word(parameter.name));
  return algorithm->name + words;
}

DecisionTable::DecisionTable(const Settings& settings, Mistakes& mistakes) : settings_(settings) {
  MapReader reader(settings, mistakes, "decisions");
  const std::int64_t version = reader.integer("decisions", newest_version, 1, 1'000'000);
  if (!reader.has("decisions"))
    reader.mistakes().add(settings.position(), "decisions: expected the version, 1, found none");
  if (version > newest_version)
    reader.mistake("decisions", fmt::format("this version of PATHS reads tables up to version {}, "
                                            "found {}",
                                            newest_version, version));
  const Settings about = reader.take("about");
  if (!about.is_null() && !about.is_map())
    reader.mistake("about", "expected a map, found " + about.describe());
  for (const Collective collective : collectives::all_collectives) {
    const std::string key(name_of(collective));
    const Settings sections = reader.take(key);
    if (sections.is_null()) continue;
    if (!sections.is_list())
      reader.mistake(key, "expected a list of sections, found " + sections.describe());
    for (const Settings& section : sections.items()) {
      DecisionSection read = SectionReader(collective, section, mistakes).read();
      for (const DecisionSection& other : sections_)
        if (are_for_same_groups(other, read))
          mistakes.add(read.position,
                       fmt::format("{}: a second section for the same groups; the first is "
                                   "at {}",
                                   name_of(collective), other.position.text()));
      sections_.push_back(std::move(read));
    }
  }
  reader.finish();
}

std::optional<DecisionTable::Found> DecisionTable::find(Collective collective, const Shape& shape,
                                                        Order worst, Bytes size) const {
  std::optional<Found> best;
  // Rank by which the sections that fit the group are compared. The section with the least rank is
  // used.
  using Rank = std::tuple<bool, bool, Fit, double, int, int>;
  Rank best_rank;
  for (const DecisionSection& section : sections_) {
    if (section.collective != collective) continue;
    if (has_order(collective) && section.order > worst) continue;
    const Fit fit = fit_of(section, shape);
    if (fit == Fit::none) continue;
    const auto row = std::lower_bound(
        section.rows.begin(), section.rows.end(), size,
        [](const Decision& decision, Bytes bytes) { return decision.up_to < bytes; });
    const Rank rank{fit == Fit::borrowed,     !row->is_pinned,    fit,
                    distance(section, shape), ranges_in(section), -static_cast<int>(section.order)};
    if (best && !(rank < best_rank)) continue;
    best_rank = rank;
    best = Found{&*row, &section, fit == Fit::borrowed};
  }
  return best;
}

namespace {

std::shared_ptr<const DecisionTable> read_table(const Settings& settings) {
  Mistakes mistakes;
  auto table = std::make_shared<const DecisionTable>(settings, mistakes);
  mistakes.throw_if_any();
  return table;
}

}  // namespace

std::shared_ptr<const DecisionTable> parse_decision_table(const std::string& text,
                                                          const std::string& file) {
  return read_table(base::parse_settings(text, file));
}

std::shared_ptr<const DecisionTable> load_decision_table(const std::string& file) {
  return read_table(base::load_settings(file));
}

std::string print_decisions(const std::vector<DecisionSection>& sections, const Settings& about) {
  std::string text =
      "# Schedules by collective, group and size. `decisions: FILE` in a config uses them.\n"
      "# A size is what each participant ends with (broadcast, scatter), what goes to one other\n"
      "# participant (alltoall), or what each participant contributes. Write `pinned: true` into "
      "a\n"
      "# row that tuning shall keep.\n"
      "decisions: 1\n";
  if (!about.is_null())
    text += base::print_settings(Settings::map({{Settings::scalar("about"), about}}));
  for (const Collective collective : collectives::all_collectives) {
    bool has_title = false;
    for (const DecisionSection& section : sections) {
      if (section.collective != collective) continue;
      if (!std::exchange(has_title, true)) text += fmt::format("{}:\n", name_of(collective));
      text += fmt::format(
          "  - shape: {{clusters: {}, hosts: {}, machines: {}}}\n"
          "    transport: {}\n",
          section.clusters.text(), section.hosts.text(), section.machines.text(),
          section.transport);
      if (has_order(collective)) text += fmt::format("    order: {}\n", order_word(section.order));
      text += "    rows:\n";
      for (const Decision& row : section.rows) text += fmt::format("      - {}\n", row_text(row));
    }
  }
  return text;
}

Bytes size_of(const collectives::CollectiveSpec& task, std::size_t element_bytes) {
  if (task.collective == Collective::barrier) return 0;
  const Bytes total = task.counts.total() * element_bytes;
  return task.collective == Collective::reduce_scatter ? total : total / task.counts.blocks();
}

}  // namespace tuner
