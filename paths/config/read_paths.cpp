// SPDX-License-Identifier: Apache-2.0
// paths/config/read_paths.cpp — reader of paths, and construction of stages from their wrappers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "paths/config/low_level.hpp"

namespace paths {
namespace {

/// Maximum number of wrappers on a path. This maximum limits the stack that an operation needs,
/// because the calls of the wrappers nest.
constexpr std::size_t path_length_max = 256;

bool same(const base::Settings& a, const base::Settings& b) {
  if (a.kind() != b.kind() || a.text() != b.text() || a.items().size() != b.items().size() ||
      a.entries().size() != b.entries().size())
    return false;
  for (std::size_t item = 0; item < a.items().size(); ++item)
    if (!same(a.items()[item], b.items()[item])) return false;
  for (std::size_t entry = 0; entry < a.entries().size(); ++entry)
    if (!same(a.entries()[entry].first, b.entries()[entry].first) ||
        !same(a.entries()[entry].second, b.entries()[entry].second))
      return false;
  return true;
}

/// Parsed item of a path.
struct Item {
  base::Settings item, written;  ///< whole item, and the part whose position error messages give
  const WrapperKind* kind = nullptr;
  std::optional<std::uint32_t> wrapper;  ///< index of the wrapper; nullopt if written in place
  base::Settings settings;               ///< settings of a wrapper written in place
  std::uint32_t host = 0;                ///< host of a wrapper written in place
  std::uint32_t role = 0;
};

/// Turns paths into stages. Paths that meet in a join share the stage of the join and all stages
/// below it. The first path through the join creates these stages. Later paths must have the same
/// wrappers below the join.
class PathReader {
 public:
  using Numbers = std::unordered_map<std::string_view, std::uint32_t>;
  PathReader(const Numbers& wrappers, const WrapperKinds& kinds, Plan& plan, PlanText& text,
             base::Mistakes& mistakes)
      : wrappers_(wrappers),
        kinds_(kinds),
        plan_(plan),
        text_(text),
        mistakes_(mistakes),
        joins_(plan.wrappers.size(), no_stage) {}

  void read(const base::Settings& written);
  void read(const Expansion::Path& made, const Expansion& config);
  void check_threads_once();

 private:
  using Items = std::vector<base::Settings>;
  /// Items of a path. If `goes_on_alike` is true, the list ends at a join. The path then has the
  /// same wrappers below the join as an earlier path through this join.
  struct Way {
    std::vector<Item> items;
    bool goes_on_alike = false;
  };
  bool read_threads(base::MapReader& reader, Plan::PlanPath& path);
  void add_threads(const Plan::PlanPath& path, const base::Settings& written);
  void add(Plan::PlanPath path, const std::optional<Way>& way, bool whole);
  std::optional<Way> read_way(const Items& through, const base::Position& position,
                              std::uint32_t host);
  bool goes_on_alike(const Item& item, const Items& through, std::size_t place) const;
  std::optional<Item> read_item(const base::Settings& written, std::uint32_t host);
  std::optional<Item> read_named(const base::Settings& written, const std::string& name,
                                 const base::Settings& role);
  std::optional<std::uint32_t> number_of(const base::Settings& written, const std::string& name);
  const WrapperKind* kind_named(const std::string& name);
  std::optional<Item> read_in_place(const base::Settings& written, const base::Settings& name,
                                    const base::Settings& settings, std::uint32_t host);
  std::optional<std::uint32_t> host_after(const Item& item) const;
  std::uint32_t wrapper_of(const Item& item);
  std::optional<StageId> make_stages(const Way& way);
  bool agrees(const std::vector<Item>& way, std::size_t from, StageId stage);
  bool is(const Item& item, StageId stage) const;
  void mistake(const base::Settings& where, std::string message) {
    mistakes_.add(where.position(), std::move(message));
  }

  /// Threads of a path, and their position in the config.
  struct Range {
    std::uint32_t graph = 0, host = 0, first = 0, last = 0;
    base::Settings written;
    auto place() const { return std::tuple(graph, host, first); }
  };
  const Numbers& wrappers_;
  const WrapperKinds& kinds_;
  Plan& plan_;
  PlanText& text_;
  base::Mistakes& mistakes_;
  std::uint32_t next_number_ = 0;  ///< one more than the highest wrapper index found so far
  /// Indexes of wrappers that were found earlier, keyed by the hash of the item that named the
  /// wrapper.
  std::array<std::uint32_t, 4096> numbers_found_{};
  std::array<const WrapperKind*, 2> last_kinds_{};
  std::vector<StageId> joins_;  ///< stage of each join, indexed by its wrapper
  /// Item from which each stage was made, indexed by stage. The item belongs to the first path
  /// through the stage.
  std::vector<base::Settings> made_by_;
  std::vector<std::string> graphs_;  ///< names of the graphs that have threads
  std::unordered_map<std::string, std::uint32_t> graph_numbers_;
  std::vector<Range> threads_;
};

/// Reads the setting `threads` of a path, such as "0-3" or "2".
bool PathReader::read_threads(base::MapReader& reader, Plan::PlanPath& path) {
  const base::Settings written = reader.take("threads");
  if (!reader.has("threads")) return true;
  const std::string_view text = written.text();
  const auto dash = text.find('-');
  const auto first = base::parse_natural(text.substr(0, dash));
  const auto last =
      dash == std::string_view::npos ? first : base::parse_natural(text.substr(dash + 1));
  if (!first || !last || *first > *last) {
    reader.mistake("threads", fmt::format("expected threads of the host such as 0-3 or 2, found {}",
                                          written.describe()));
    return false;
  }
  const Plan::PlanHost& host = plan_.hosts[path.host];
  if (*last >= host.threads) {
    const std::string has = host.threads == 0   ? "no threads"
                            : host.threads == 1 ? "only thread 0"
                                                : fmt::format("threads 0-{}", host.threads - 1);
    reader.mistake("threads",
                   fmt::format("host {} has {}, found {}", host.name, has, written.describe()));
    return false;
  }
  path.first_thread = static_cast<std::uint32_t>(*first);
  path.threads = static_cast<std::uint32_t>(*last - *first + 1);
  add_threads(path, written);
  return true;
}

void PathReader::add_threads(const Plan::PlanPath& path, const base::Settings& written) {
  if (graphs_.empty() || graphs_.back() != path.graph) {
    const auto number = static_cast<std::uint32_t>(graphs_.size());
    if (graph_numbers_.try_emplace(path.graph, number).second) graphs_.push_back(path.graph);
  }
  const std::uint32_t graph = graphs_.back() == path.graph
                                  ? static_cast<std::uint32_t>(graphs_.size() - 1)
                                  : graph_numbers_.at(path.graph);
  threads_.push_back(
      {graph, path.host, path.first_thread, path.first_thread + path.threads - 1, written});
}

void PathReader::read(const base::Settings& written) {
  base::MapReader reader(written, mistakes_, "path");
  Plan::PlanPath path;
  path.position = written.position();
  path.graph = reader.required_word("graph", "the name of a collective or element");
  const base::Settings host = reader.take_required("host", "the name of a host");
  const auto host_index = plan_.host_named(host.text());
  if (reader.has("host") && !host_index)
    reader.mistake("host", not_named("the name of a host", host, names_of(plan_.hosts)));
  path.host = host_index.value_or(0);
  bool whole = host_index.has_value();
  if (host_index) whole = read_threads(reader, path);
  reader.has("threads");
  const base::Settings through = reader.take_required("through", "a list of wrappers");
  if (reader.has("through") && (!through.is_list() || through.items().empty())) {
    reader.mistake("through",
                   fmt::format("expected a list of wrappers, found {}",
                               through.is_list() ? "an empty list" : through.describe()));
    whole = false;
  }
  reader.finish();
  std::optional<Way> way;
  if (host_index) way = read_way(through.items(), through.position(), path.host);
  add(std::move(path), way, whole);
}

void PathReader::read(const Expansion::Path& made, const Expansion& config) {
  Plan::PlanPath path;
  path.position = made.graph.position();
  path.graph = made.graph.text();
  const auto host = find_host(config, made.host, plan_, path.position, mistakes_);
  if (!host) return add(std::move(path), std::nullopt, false);
  path.host = *host;
  path.first_thread = made.first_thread;
  path.threads = made.threads;
  if (path.threads > 0) add_threads(path, made.graph);
  const auto way = read_way(made.through, path.position, path.host);
  add(std::move(path), way, true);
}

/// Adds a path to the plan. `way` has the wrappers of the path; nullopt if they could not be read.
/// `whole` is false if any other setting of the path could not be read.
void PathReader::add(Plan::PlanPath path, const std::optional<Way>& way, bool whole) {
  std::optional<StageId> stage;
  if (whole && way && !way->items.empty()) stage = make_stages(*way);
  if (!stage) {
    text_.whole = false;
    return;
  }
  path.stage = *stage;
  plan_.paths.push_back(std::move(path));
}

std::optional<PathReader::Way> PathReader::read_way(const Items& through,
                                                    const base::Position& position,
                                                    std::uint32_t host) {
  Way way;
  bool whole = true;
  if (through.size() > path_length_max) {
    mistakes_.add(position, fmt::format("through: a path has at most {} wrappers, found {}",
                                        path_length_max, through.size()));
    return std::nullopt;
  }
  for (std::size_t place = 0; place < through.size(); ++place) {
    std::optional<Item> item = read_item(through[place], host);
    if (!item) {
      whole = false;
      continue;
    }
    item->item = through[place];
    const auto next_host = host_after(*item);
    way.goes_on_alike = whole && goes_on_alike(*item, through, place);
    way.items.push_back(std::move(*item));
    if (way.goes_on_alike) return way;
    // If the setting that names the next host is wrong, the wrapper's kind reports this mistake
    // later.
    if (!next_host) {
      whole = false;
      break;
    }
    host = *next_host;
  }
  if (whole) return way;
  // The path is not added to the plan. Its wrappers written in place are created nevertheless, so
  // that their settings are checked.
  for (const Item& item : way.items) wrapper_of(item);
  return std::nullopt;
}

/// Returns whether `item` is a join that an earlier path has created, and whether this path has the
/// same items from the join on as the earlier path. The items of this path are `through`, from the
/// index `place` on. Two equal items count as the same only if they are the same object.
bool PathReader::goes_on_alike(const Item& item, const Items& through, std::size_t place) const {
  if (!item.wrapper) return false;
  for (StageId stage = joins_[*item.wrapper]; stage != no_stage;
       stage = plan_.stages[stage].below, ++place) {
    if (place == through.size() || made_by_[stage].identity() != through[place].identity())
      return false;
    if (plan_.stages[stage].below == no_stage) return place + 1 == through.size();
  }
  return false;
}

std::optional<Item> PathReader::read_item(const base::Settings& written, std::uint32_t host) {
  if (written.is_scalar()) return read_named(written, written.text(), base::Settings());
  if (!written.is_map() || written.entries().size() != 1) {
    mistake(written, fmt::format("expected the name of a wrapper, name: role, or kind: "
                                 "{{settings}}, found {}",
                                 written.is_map()
                                     ? fmt::format("a map of {} entries", written.entries().size())
                                     : written.describe()));
    return std::nullopt;
  }
  const auto& [name, value] = written.entries().front();
  if (value.is_scalar()) return read_named(name, name.text(), value);
  return read_in_place(written, name, value, host);
}

/// Returns the index of the wrapper named `name`; nullopt if no wrapper has this name. Most configs
/// declare wrappers in the order in which paths name them. The search therefore first tries the
/// wrapper after the highest index found so far, and then the wrapper that an identical item named
/// earlier.
std::optional<std::uint32_t> PathReader::number_of(const base::Settings& written,
                                                   const std::string& name) {
  const auto is_named = [&](std::uint32_t number) {
    return number < joins_.size() && text_.wrappers[number].identity() == written.identity();
  };
  if (is_named(next_number_)) return next_number_++;
  std::uint32_t& guess =
      numbers_found_[std::hash<const void*>()(written.identity()) / 16 % numbers_found_.size()];
  if (is_named(guess)) return guess;
  const auto found = wrappers_.find(name);
  if (found == wrappers_.end()) return std::nullopt;
  next_number_ = std::max(next_number_, found->second + 1);
  return guess = found->second;
}

const WrapperKind* PathReader::kind_named(const std::string& name) {
  for (const WrapperKind* const kind : last_kinds_)
    if (kind != nullptr && kind->name == name) return kind;
  last_kinds_[0] = std::exchange(last_kinds_[1], kinds_.find(name));
  return last_kinds_[1];
}

std::optional<Item> PathReader::read_named(const base::Settings& written, const std::string& name,
                                           const base::Settings& role) {
  const std::optional<std::uint32_t> found = number_of(written, name);
  if (!found) {
    if (text_.broken.contains(name)) return std::nullopt;
    if (kinds_.find(name) != nullptr)
      mistake(written, fmt::format("'{}' is a kind of wrapper; written in place it takes its "
                                   "settings: '{}: {{}}'",
                                   name, name));
    else
      mistake(written, not_named("the name of a wrapper", written, names_of(plan_.wrappers)));
    return std::nullopt;
  }
  Item item;
  item.written = written;
  item.wrapper = found;
  item.kind = kind_named(plan_.wrappers[*found].kind);
  const std::vector<std::string>& roles = item.kind->roles;
  if (role.is_null()) return item;
  const auto known = std::find(roles.begin(), roles.end(), role.text());
  if (known == roles.end()) {
    if (roles.empty())
      mistake(role, fmt::format("{}: a wrapper of kind {} takes no role, found {}", name,
                                item.kind->name, role.describe()));
    else
      mistake(role, fmt::format("{}: {}", name,
                                not_named("a role of " + item.kind->name, role,
                                          {roles.begin(), roles.end()})));
    return std::nullopt;
  }
  item.role = static_cast<std::uint32_t>(known - roles.begin());
  return item;
}

std::optional<Item> PathReader::read_in_place(const base::Settings& written,
                                              const base::Settings& name,
                                              const base::Settings& settings, std::uint32_t host) {
  Item item;
  item.kind = kind_named(name.text());
  if (item.kind == nullptr) {
    mistake(name, not_named("a kind of wrapper", name, kinds_.names()));
    return std::nullopt;
  }
  if (!settings.is_map() && !settings.is_null()) {
    mistake(settings,
            fmt::format("{}: expected {{settings}}, found {}", name.text(), settings.describe()));
    return std::nullopt;
  }
  item.written = name.position().line > 0 ? name : written;
  item.settings = settings.is_map() ? settings : base::Settings::map({}, name.position());
  item.host = host;
  return item;
}

std::optional<std::uint32_t> PathReader::host_after(const Item& item) const {
  const base::Settings& settings =
      item.wrapper ? plan_.wrappers[*item.wrapper].settings : item.settings;
  if (!item.kind->crosses()) return item.wrapper ? plan_.wrappers[*item.wrapper].host : item.host;
  const base::Settings* to = settings.find("to");
  return to != nullptr ? plan_.host_named(to->text()) : std::nullopt;
}

/// Returns the wrapper's index. If the wrapper is written in place, creates the wrapper.
std::uint32_t PathReader::wrapper_of(const Item& item) {
  if (item.wrapper) return *item.wrapper;
  Plan::PlanWrapper wrapper;
  wrapper.kind = item.kind->name;
  wrapper.host = item.host;
  wrapper.settings = item.settings;
  plan_.wrappers.push_back(std::move(wrapper));
  text_.wrappers.push_back(item.written);
  return static_cast<std::uint32_t>(plan_.wrappers.size() - 1);
}

/// Returns the first stage of a path through the wrappers `way`. Creates stages down to the first
/// join that an earlier path has created.
std::optional<StageId> PathReader::make_stages(const Way& way) {
  std::optional<StageId> first;
  const auto made_before = static_cast<StageId>(plan_.stages.size());
  StageId above = no_stage;
  for (std::size_t place = 0; place < way.items.size(); ++place) {
    const Item& item = way.items[place];
    const bool is_shared = item.wrapper && item.kind->joins();
    const StageId join = is_shared ? joins_[*item.wrapper] : no_stage;
    const StageId stage = join != no_stage ? join : static_cast<StageId>(plan_.stages.size());
    if (join != no_stage) {
      if (stage >= made_before) {
        mistake(item.written,
                fmt::format("a cycle: the path was in {} before{}",
                            plan_.wrappers[*item.wrapper].name, also_at(text_.of_stage(stage))));
        return std::nullopt;
      }
      if (!way.goes_on_alike && !agrees(way.items, place, stage)) return std::nullopt;
    } else {
      plan_.stages.push_back({wrapper_of(item), no_stage, 0, item.role});
      text_.stages.push_back(item.written);
      made_by_.push_back(item.item);
      if (is_shared) joins_[*item.wrapper] = stage;
    }
    if (above != no_stage) plan_.stages[above].below = stage;
    if (!first) first = stage;
    above = stage;
    if (join != no_stage) break;
  }
  return first;
}

bool PathReader::is(const Item& item, StageId id) const {
  const Plan::PlanStage& stage = plan_.stages[id];
  if (stage.role != item.role) return false;
  if (item.wrapper) return stage.wrapper == *item.wrapper;
  const Plan::PlanWrapper& wrapper = plan_.wrappers[stage.wrapper];
  return wrapper.name.empty() && wrapper.kind == item.kind->name && wrapper.host == item.host &&
         same(wrapper.settings, item.settings);
}

bool PathReader::agrees(const std::vector<Item>& way, std::size_t from, StageId stage) {
  const std::string& join = plan_.wrappers[plan_.stages[stage].wrapper].name;
  const auto disagree = [&](const base::Settings& here, StageId there, std::string_view how) {
    const base::Position other = text_.of_stage(there);
    mistake(here, fmt::format("two paths that meet in {} but disagree below: {} {}", join, how,
                              other.text()));
    return false;
  };
  for (std::size_t place = from; place < way.size(); ++place) {
    if (!is(way[place], stage))
      return disagree(way[place].written, stage, "this is not what the other has at");
    const StageId below = plan_.stages[stage].below;
    const bool last = place + 1 == way.size();
    if (last && below != no_stage)
      return disagree(way[place].written, below, "this one ends here, the other goes on at");
    if (!last && below == no_stage)
      return disagree(way[place + 1].written, stage, "this one goes on, the other ends at");
    stage = below;
  }
  return true;
}

void PathReader::check_threads_once() {
  const auto is_before = [](const Range& a, const Range& b) { return a.place() < b.place(); };
  if (!std::is_sorted(threads_.begin(), threads_.end(), is_before))
    std::stable_sort(threads_.begin(), threads_.end(), is_before);
  for (std::size_t index = 1; index < threads_.size(); ++index) {
    const Range& before = threads_[index - 1];
    const Range& range = threads_[index];
    if (range.graph != before.graph || range.host != before.host || range.first > before.last)
      continue;
    mistakes_.add(range.written.position(),
                  fmt::format("threads: thread {} of host {} is in graph {} already{}", range.first,
                              plan_.hosts[range.host].name, graphs_[range.graph],
                              also_at(before.written.position())));
  }
}

}  // namespace

void read_paths(Expansion config, const base::Settings& section, const WrapperKinds& kinds,
                Plan& plan, PlanText& text, base::Mistakes& mistakes) {
  PathReader reader(config.wrapper_numbers, kinds, plan, text, mistakes);
  for (Expansion::Path& made : config.paths) {
    reader.read(made, config);
    made = {};
  }
  for (const base::Settings& written : section.items()) reader.read(written);
  reader.check_threads_once();
}

}  // namespace paths
