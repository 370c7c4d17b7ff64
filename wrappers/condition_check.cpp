// SPDX-License-Identifier: Apache-2.0
// wrappers/condition_check.cpp — the conditional-allreduce between the roots of clusters.
#include "wrappers/condition_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <span>
#include <utility>

#include "base/errors.hpp"
#include "eventspace/record.hpp"
#include "paths/element_operation.hpp"
#include "paths/plan.hpp"

namespace wrappers {

using paths::Condition;
using paths::Host;
using paths::Operation;
using paths::OperationKind;
using paths::Result;
using paths::StageId;

/// What a root knew when it moved this: design of the tuple in paths/condition.hpp.
struct ConditionCheck::Part {
  std::uint64_t sequence = 0;
  std::uint64_t contributions = 0;
  base::Payload value;
  std::optional<ExactPair> last_exact;
};

/// A cluster's newest tuple and error mark at one moment.
struct ConditionCheck::Seen {
  const pastset::Element* element = nullptr;
  std::optional<Part> part;
  std::optional<std::string> error;

  bool is_at(std::uint64_t sequence) const { return part && part->sequence == sequence; }
  bool is_past(std::uint64_t sequence) const { return part && part->sequence > sequence; }
};

/// A round's time between the entries of its path and its decision. Rounds entered by several
/// contexts at once take turns.
class ConditionCheck::Turn {
 public:
  /// Failed rounds may overtake others, because nobody waits for their contributors; they move
  /// no tuple.
  Turn(ConditionCheck& check, std::uint64_t sequence, bool has_failed)
      : check_(check), sequence_(sequence) {
    runtime::Lock lock(check_.mutex_);
    if (!has_failed) {
      ENSURE(sequence >= check_.next_sequence_);
      check_.next_sequence_ = sequence + 1;
    }
    check_.entered_.insert(sequence);
    try {
      // Whoever is before us has a deadline.
      while (*check_.entered_.begin() != sequence_) {
        check_.turn_.wait(lock, runtime::Deadline::never(),
                          {"decision of the round before", check_.name(), sequence_});
      }
    } catch (...) {
      check_.entered_.erase(sequence_);
      throw;
    }
  }
  ~Turn() {
    runtime::Wakes wakes;
    runtime::Lock lock(check_.mutex_);
    check_.entered_.erase(sequence_);
    check_.turn_.wake_all(wakes);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  ConditionCheck& check_;
  const std::uint64_t sequence_;
};

/// The round's reads of the other clusters' caches, as records: made when it is over.
class ConditionCheck::CacheReads {
 public:
  CacheReads(Host& host, StageId stage, std::uint64_t sequence, std::size_t clusters)
      : host_(host), is_on_(host.recorder().is_on()) {
    if (!is_on_) return;
    eventspace::EventRecord read;
    read.place = stage;
    read.sequence = sequence;
    read.kind = static_cast<std::uint8_t>(eventspace::EventKind::cache_read);
    read.flags = eventspace::event_undecided;
    read.down_nanos = host.runtime().now().count();
    reads_.assign(clusters, read);
  }
  ~CacheReads() {
    for (const eventspace::EventRecord& read : reads_) {
      if (!is_own(read)) host_.recorder().add(finished(read));
    }
  }
  CacheReads(const CacheReads&) = delete;
  CacheReads& operator=(const CacheReads&) = delete;

  /// A tuple of this round or a later one tells what its cluster knows of it.
  void note(const std::vector<Seen>& all, const pastset::Element* own) {
    if (!is_on_) return;
    for (std::uint32_t slot = 0; slot < reads_.size(); ++slot) {
      eventspace::EventRecord& read = reads_[slot];
      read.slot = slot;
      if (all[slot].element == own) own_ = slot;
      if (read.flags != eventspace::event_undecided) continue;
      if (!all[slot].part || all[slot].part->sequence < read.sequence) continue;
      read.flags = is_first_look_ ? eventspace::event_cached : 0;
      read.up_nanos = host_.runtime().now().count();
      read.bytes = eventspace::capped_bytes(all[slot].part->sequence - read.sequence);
    }
    is_first_look_ = false;
  }

 private:
  bool is_own(const eventspace::EventRecord& read) const { return read.slot == own_; }
  eventspace::EventRecord finished(eventspace::EventRecord read) const {
    if (read.flags == eventspace::event_undecided) read.up_nanos = host_.runtime().now().count();
    return read;
  }

  Host& host_;
  const bool is_on_;
  bool is_first_look_ = true;
  std::uint32_t own_ = 0;
  std::vector<eventspace::EventRecord> reads_;
};

namespace {

/// Threads of all clusters that take part in the collective that `wrapper` belongs to.
std::uint64_t count_contributors(const paths::Plan& plan, std::uint32_t wrapper) {
  const auto passes_here = [&](const paths::Plan::PlanPath& path) {
    for (paths::StageId stage = path.stage; stage != paths::no_stage;
         stage = plan.stages[stage].below) {
      if (plan.stages[stage].wrapper == wrapper) return true;
    }
    return false;
  };
  const auto one = std::find_if(plan.paths.begin(), plan.paths.end(), passes_here);
  if (one == plan.paths.end()) return 0;
  std::uint64_t threads = 0;
  for (const auto& path : plan.paths) threads += path.graph == one->graph ? path.threads : 0;
  return threads;
}

}  // namespace

ConditionCheck::ConditionCheck(paths::Host& host, std::uint32_t wrapper,
                               ConditionCheckSettings settings, ConditionCheckSwitches switches)
    : host_(host),
      wrapper_(wrapper),
      settings_(std::move(settings)),
      switches_(switches),
      contributors_(count_contributors(host.plan(), wrapper)),
      result_(host.element(settings_.result)) {
  std::vector<pastset::Element*> others;
  for (const std::string& name : settings_.combine) {
    elements_.push_back(host.element(name));
    if (elements_.back() != result_) others.push_back(elements_.back().get());
  }
  if (elements_.empty()) elements_.push_back(result_);
  changes_ = std::make_unique<pastset::AnyChange>(std::move(others));
}

ConditionCheck::~ConditionCheck() = default;

Result ConditionCheck::operate(Operation operation, paths::Next next) {
  if (operation.kind != OperationKind::move) return next(std::move(operation));
  next.taken();
  if (operation.failure && elements_.size() == 1) throw paths::TravelError(*operation.failure);
  const Turn turn(*this, operation.sequence, operation.failure != nullptr);
  if (const auto error = result_->error_mark()) fail(operation, *error);
  try {
    return decide(std::move(operation), next);
  } catch (const std::exception& error) {
    if (elements_.size() > 1) mark(error.what());  // in one tree nobody else decides from it
    throw;
  }
}

/// Marks last: those who wait for us must still find the tuple that came before.
void ConditionCheck::mark(const std::string& error) {
  try {
    result_->mark_error(error);
  } catch (const pastset::Deleted&) {
    // Everyone who reads it is told so by the element.
  }
}

void ConditionCheck::fail(const Operation& operation, const std::string& reason) const {
  throw paths::TravelError(*host_.failure(name(), operation.path, reason));
}

Result ConditionCheck::decide(Operation operation, const paths::Next& next) {
  if (operation.failure) throw paths::TravelError(*operation.failure);
  if (const std::string wrong = settings_.reduction.wrong(operation); !wrong.empty()) {
    fail(operation, fmt::format("round {}: {}: {}", operation.sequence,
                                host_.plan().contributor(wrapper_, operation.slot), wrong));
  }
  const Part own{operation.sequence, operation.contributions, operation.payload, last_exact_};
  Operation store = operation;
  store.payload = encode(own);
  next(std::move(store));
  if (auto result = prove(own.value, own.contributions, own.sequence)) return *std::move(result);
  return wait_for_decision(operation, own, next.stage().id);
}

Result ConditionCheck::wait_for_decision(const Operation& operation, const Part& own,
                                         paths::StageId stage) {
  const runtime::Deadline deadline = host_.deadline();
  CacheReads reads(host_, stage, own.sequence, elements_.size());
  while (true) {
    const std::uint64_t changes = changes_->count();
    const std::vector<Seen> all = look(own);
    reads.note(all, result_.get());
    if (auto result = decide_from(all, operation)) return *std::move(result);
    fail_if_hopeless(all, operation);
    if (changes_->wait(changes, deadline)) continue;
    std::string missing;
    for (const Seen& seen : all) {
      if (seen.is_at(own.sequence)) continue;
      missing += (missing.empty() ? "" : ", ") + seen.element->name();
    }
    fail(operation, fmt::format("round {}: undecided at the deadline, nothing of this round in {}",
                                own.sequence, missing));
  }
}

/// The mark is read before the tuple: a marked element gets no more, so the tuple is its last.
std::vector<ConditionCheck::Seen> ConditionCheck::look(const Part& own) const {
  std::vector<Seen> all;
  all.reserve(elements_.size());
  for (const auto& element : elements_) {
    if (element == result_) {
      all.push_back({element.get(), own, std::nullopt});
      continue;
    }
    Seen seen{element.get(), std::nullopt, element->error_mark()};
    if (const auto newest = element->try_newest()) seen.part = decode(newest->payload);
    all.push_back(std::move(seen));
  }
  return all;
}

std::optional<Result> ConditionCheck::decide_from(const std::vector<Seen>& all,
                                                  const Operation& operation) {
  const std::uint64_t sequence = operation.sequence;
  for (const Seen& seen : all) {
    if (!switches_.use_exact_pair || !seen.part || !seen.part->last_exact) continue;
    if (seen.part->last_exact->sequence != sequence) continue;
    const base::Payload value = seen.part->last_exact->value;
    if (switches_.record_adoption) last_exact_ = ExactPair{sequence, value};
    return complete(value, contributors_, sequence);
  }

  std::uint64_t contributions = 0;
  std::size_t known = 0;
  bool went_past = false;
  for (const Seen& seen : all) {
    went_past |= seen.is_past(sequence);
    if (!seen.is_at(sequence)) continue;
    ++known;
    contributions += seen.part->contributions;
  }
  const bool is_complete = known == all.size();
  if (!is_complete && !settings_.may_prove) return std::nullopt;
  base::Payload value = combine(all, operation);
  if (is_complete) {
    last_exact_ = ExactPair{sequence, value};
    return complete(std::move(value), contributions, sequence);
  }
  if (went_past) return proved(std::move(value), contributions, sequence);
  return prove(value, contributions, sequence);
}

/// Those at our round have told us all they know of it; those behind it may still bring a value,
/// a pair or the news that they went past. A marked one will not.
void ConditionCheck::fail_if_hopeless(const std::vector<Seen>& all,
                                      const Operation& operation) const {
  const Seen* lost = nullptr;
  bool is_hope = false;
  for (const Seen& seen : all) {
    if (seen.is_at(operation.sequence)) continue;
    if (!seen.error) is_hope = true;
    if (seen.error && lost == nullptr) lost = &seen;
  }
  if (lost != nullptr && !(is_hope && settings_.may_prove)) fail(operation, *lost->error);
}

std::optional<Result> ConditionCheck::prove(const base::Payload& part, std::uint64_t contributions,
                                            std::uint64_t sequence) const {
  if (elements_.size() == 1 || !settings_.may_prove) return std::nullopt;
  const paths::Reduction& reduction = settings_.reduction;
  if (!paths::proves(*settings_.condition, reduction.operation->name, reduction.sign,
                     part.bytes())) {
    return std::nullopt;
  }
  return proved(part, contributions, sequence);
}

Result ConditionCheck::proved(base::Payload part, std::uint64_t contributions,
                              std::uint64_t sequence) const {
  const paths::Reduction& reduction = settings_.reduction;
  const auto outcome = paths::provable_outcome(reduction.operation->name, reduction.sign,
                                               settings_.condition->comparison);
  ENSURE(outcome.has_value());
  Result result;
  result.condition = *outcome ? Condition::holds : Condition::fails;
  result.proved = true;
  result.sequence = sequence;
  result.contributions = contributions;
  result.payload = std::move(part);
  return result;
}

Result ConditionCheck::complete(base::Payload value, std::uint64_t contributions,
                                std::uint64_t sequence) const {
  Result result;
  if (settings_.condition) {
    const bool holds = paths::holds(*settings_.condition, value.bytes());
    result.condition = holds ? Condition::holds : Condition::fails;
  }
  result.sequence = sequence;
  result.contributions = contributions;
  result.payload = std::move(value);
  return result;
}

/// From scratch and in the order of the clusters, whoever came first: that is what makes the bits
/// of all clusters the same, and rounding monotone. One who is not at our round is left out.
base::Payload ConditionCheck::combine(const std::vector<Seen>& all,
                                      const Operation& operation) const {
  const std::size_t size = settings_.reduction.shape.bytes();
  return base::Payload::filled(size, [&](std::span<std::byte> sum) {
    bool is_first = true;
    for (const Seen& seen : all) {
      if (!seen.is_at(operation.sequence)) continue;
      const std::span<const std::byte> value = seen.part->value.bytes();
      try {
        if (std::exchange(is_first, false)) {
          std::copy(value.begin(), value.end(), sum.begin());
        } else {
          settings_.reduction.fold(sum, value);
        }
      } catch (const base::BadValue& bad) {
        fail(operation, fmt::format("round {}: combining what is in {}: {}", operation.sequence,
                                    seen.element->name(), bad.what()));
      }
    }
  });
}

namespace {

constexpr std::size_t value_offset = 2 * sizeof(std::uint64_t);

template <class T>
void put(std::span<std::byte>& rest, const T& value) {
  std::memcpy(rest.data(), &value, sizeof value);
  rest = rest.subspan(sizeof value);
}

void put(std::span<std::byte>& rest, const base::Payload& value, std::size_t size) {
  if (value.empty()) {
    std::memset(rest.data(), 0, size);
  } else {
    std::memcpy(rest.data(), value.bytes().data(), size);
  }
  rest = rest.subspan(size);
}

}  // namespace

base::Payload ConditionCheck::encode(const Part& part) const {
  const std::size_t size = settings_.reduction.shape.bytes();
  const std::size_t pair_bytes = 1 + sizeof(std::uint64_t) + size;
  const auto write = [&](std::span<std::byte> rest) {
    const bool has_exact = part.last_exact.has_value();
    put(rest, part.sequence);
    put(rest, part.contributions);
    put(rest, part.value, size);
    put(rest, static_cast<std::uint8_t>(has_exact));
    put(rest, has_exact ? part.last_exact->sequence : std::uint64_t{0});
    put(rest, has_exact ? part.last_exact->value : base::Payload(), size);
  };
  return base::Payload::filled(value_offset + size + pair_bytes, write);
}

ConditionCheck::Part ConditionCheck::decode(const base::Payload& tuple) const {
  const std::size_t size = settings_.reduction.shape.bytes();
  const std::size_t pair_offset = value_offset + size;
  const std::size_t exact_value_offset = pair_offset + 1 + sizeof(std::uint64_t);
  ENSURE_EQ(tuple.size(), exact_value_offset + size);
  const auto value_at = [&](std::size_t offset) {
    return base::Payload::copy_of(tuple.bytes().subspan(offset, size));
  };
  Part part{tuple.read<std::uint64_t>(), tuple.read<std::uint64_t>(sizeof(std::uint64_t)),
            value_at(value_offset), std::nullopt};
  if (tuple.read<std::uint8_t>(pair_offset) != 0) {
    part.last_exact =
        ExactPair{tuple.read<std::uint64_t>(pair_offset + 1), value_at(exact_value_offset)};
  }
  return part;
}

namespace {

/// `combine`: elements of this host, `result` among them; all take tuples made of `value`.
void read_elements(base::MapReader& reader, const paths::WrapperPlace& place,
                   const pastset::Template& value, ConditionCheckSettings& settings) {
  settings.result = paths::read_element(reader, "result", place);
  settings.combine = reader.words("combine");
  const paths::Plan& plan = place.plan;
  const pastset::Template expected = paths::partial_template(value);
  const auto check = [&](std::string_view key, const std::string& name) {
    const auto index = plan.element_named(name);
    if (!index || plan.elements[*index].host != place.host) {
      return reader.mistake(key, fmt::format("expected elements of host '{}', found '{}'",
                                             plan.hosts[place.host].name, name));
    }
    const pastset::Template& found = plan.elements[*index].tuple_template;
    if (found == expected) return;
    reader.mistake(key, fmt::format("element '{}' needs the template \"{}\", found \"{}\"", name,
                                    expected.text(), found.text()));
  };
  for (const std::string& name : settings.combine) {
    check("combine", name);
    if (std::count(settings.combine.begin(), settings.combine.end(), name) > 1)
      reader.mistake("combine", fmt::format("'{}' is listed more than once", name));
  }
  if (settings.combine.empty()) return;
  if (std::count(settings.combine.begin(), settings.combine.end(), settings.result) == 0) {
    reader.mistake("combine",
                   fmt::format("'{}', this cluster's own, is not listed", settings.result));
  }
}

void read_condition(base::MapReader& reader, ConditionCheckSettings& settings) {
  const paths::Reduction& reduction = settings.reduction;
  const bool is_declared = reader.has("condition");
  settings.condition = paths::read_condition(reader, "condition", reduction.shape.scalar);
  if (!settings.condition) {
    if (settings.may_prove && !is_declared)
      reader.mistake("relaxation", "conditional needs a condition");
    return;
  }
  if (reduction.shape.count != 1)
    reader.mistake("condition", "only a scalar can be compared, not an array");
  const std::string& name = reduction.operation->name;
  const paths::Comparison comparison = settings.condition->comparison;
  const std::string why = settings.may_prove
                              ? paths::why_not_provable(name, reduction.sign, comparison)
                              : paths::why_no_condition(name, comparison);
  if (!why.empty()) reader.mistake("condition", why);
}

std::vector<paths::SettingHelp> settings_help() {
  std::vector<paths::SettingHelp> help = paths::reduction_settings();
  help.insert(help.begin(),
              {"relaxation", "word", "exact",
               "exact: the value is complete; conditional: a part may decide the condition."});
  help.push_back({"condition", "condition", "none", "The test, such as {less: 0.01} or is_true."});
  help.push_back({"result", "element", "required", "This cluster's results, of this host."});
  help.push_back({"combine", "list of elements", "only result",
                  "The results of all clusters, in their order: `result` and the caches."});
  return help;
}

}  // namespace

paths::WrapperKind condition_check_kind() {
  paths::WrapperKind kind;
  kind.name = "condition_check";
  kind.help = "At the root of a cluster: combines the clusters' results and decides the condition.";
  kind.settings = settings_help();
  kind.template_below = [](const base::Settings&, const pastset::Template& above) {
    return paths::partial_template(above);
  };
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace& place) -> paths::MakeWrapper {
    ConditionCheckSettings settings;
    settings.may_prove = reader.choice("relaxation", {"exact", "conditional"}, "exact") ==
                         std::string_view("conditional");
    settings.reduction = paths::read_reduction(reader);
    read_condition(reader, settings);
    const auto value = pastset::Template::parse(reader.word("template", ""));
    read_elements(reader, place, value.value_or(pastset::Template()), settings);
    return [settings, wrapper = place.wrapper](paths::Host& host) {
      return std::make_unique<ConditionCheck>(host, wrapper, settings);
    };
  };
  return kind;
}

}  // namespace wrappers
