// SPDX-License-Identifier: Apache-2.0
// collectives/cost/best.cpp — candidates (algorithms with parameters), first guesses of their
// times, and search around the best candidates.
#include "collectives/cost/best.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "collectives/algorithms/all.hpp"
#include "collectives/cost/outline.hpp"
#include "collectives/schedule/tree.hpp"

namespace pricing {
namespace {

using base::Nanos;
using collectives::Algorithm;
using collectives::Collective;
using collectives::CollectiveSpec;
using collectives::Count;
using collectives::Order;
using collectives::Parameter;
using collectives::Parameters;
using collectives::Rank;

constexpr Bytes shortest_message = 1024;
constexpr Count most_parts = 512;
constexpr Rank very_many = 2048;
constexpr std::size_t families_of_very_many = 24;
/// Candidates whose schedules have more than `messages_most` messages are not evaluated, except the
/// first candidate of each family. An evaluation of a million messages takes about a second.
constexpr std::size_t messages_most = std::size_t{1} << 20;
/// The search ends when the best time exceeds the lower bound by at most this fraction of the
/// bound.
constexpr double above_bound = 0.001;
constexpr std::size_t members_between_guesses = 3;
constexpr std::size_t members_around_guess = 2;
/// The search first evaluates a few candidates of each family (best.hpp). It continues with a
/// family if the fastest of these few candidates takes at most `near` times as long as the fastest
/// candidate of all families so far.
constexpr double near = 1.3;

/// Returns the maximum lengths of messages to try, in array elements: "0" (the whole vector), then
/// a half of the vector, a quarter and so on.
std::vector<std::string> lengths(const CollectiveSpec& task, Bytes element_bytes) {
  std::vector<std::string> values{"0"};
  const Count whole = task.vector().count;
  for (Count parts = 2; parts <= most_parts; parts *= 2) {
    const Count length = (whole + parts - 1) / parts;
    if (length == 0 || length * element_bytes < shortest_message) break;
    values.push_back(fmt::format("{}", length));
  }
  return values;
}

/// Returns the values to try for a parameter that is a number. The values are powers of two, or
/// powers of eight if there are very many participants. The parameter `element` (bytes of an array
/// element) has only one value to try.
std::vector<std::string> numbers(const Parameter& parameter, const CollectiveSpec& task,
                                 Bytes element_bytes) {
  if (parameter.name == "element") return {fmt::format("{}", std::max<Bytes>(element_bytes, 1))};
  std::vector<std::string> values{parameter.fallback};
  const Count apart = task.size() > very_many ? 8 : 2;
  for (Count number = 1; number < task.size(); number *= apart)
    if (const std::string value = fmt::format("{}", number);
        number >= parameter.least && number <= parameter.most && value != parameter.fallback)
      values.push_back(value);
  return values;
}

/// Returns the words to try for a parameter. If the parameter is a list with a word per level of
/// groups, two kinds of lists are tried. The first has the same word for all levels. The second has
/// one word for the outermost level and a different word for all other levels. The word `none`
/// (collectives::no_shape) is not tried, because trees that ignore levels serve only for
/// comparisons.
std::vector<std::string> words(const Parameter& parameter, const CollectiveSpec& task) {
  std::vector<std::string> known = parameter.words;
  std::erase(known, collectives::no_shape);
  std::vector<std::string> values = known;
  if (!parameter.is_list || task.group().depth() == 0) return values;
  for (const std::string& outer : known)
    for (const std::string& inner : known)
      if (outer != inner) values.push_back(outer + "/" + inner);
  return values;
}

class Families {
 public:
  Families(const CollectiveSpec& task, Bytes element_bytes, Order worst)
      : task_(task),
        element_bytes_(element_bytes),
        lengths_(lengths(task, element_bytes)),
        worst_(worst) {}

  std::vector<Family> all() {
    for (const Algorithm& algorithm : collectives::all_algorithms())
      if (algorithm.does(task_.collective)) choose(algorithm, 0, algorithm.read(""));
    return std::move(families_);
  }

 private:
  void choose(const Algorithm& algorithm, std::size_t next, const Parameters& chosen);
  void add(const Algorithm& algorithm, const Parameters& chosen);

  const CollectiveSpec& task_;
  Bytes element_bytes_;
  std::vector<std::string> lengths_;
  Order worst_;
  std::vector<Family> families_;
};

void Families::choose(const Algorithm& algorithm, std::size_t next, const Parameters& chosen) {
  if (next == algorithm.parameters.size()) return add(algorithm, chosen);
  const Parameter& parameter = algorithm.parameters[next];
  if (parameter.is_piece || !algorithm.matters(parameter, task_.collective, chosen))
    return choose(algorithm, next + 1, chosen);
  for (const std::string& value : parameter.words.empty()
                                      ? numbers(parameter, task_, element_bytes_)
                                      : words(parameter, task_)) {
    Parameters with = chosen;
    choose(algorithm, next + 1, with.set(parameter.name, value));
  }
}

void Families::add(const Algorithm& algorithm, const Parameters& chosen) {
  const auto length = std::find_if(algorithm.parameters.begin(), algorithm.parameters.end(),
                                   [](const Parameter& one) { return one.is_piece; });
  Family family;
  for (const std::string& value : lengths_) {
    Candidate candidate{&algorithm, chosen};
    if (length != algorithm.parameters.end()) candidate.parameters.set(length->name, value);
    const bool is_bad = collectives::is_reduction(task_.collective) && algorithm.order &&
                        algorithm.order(task_, candidate.parameters) > worst_;
    if (!is_bad && algorithm.why_not(task_, candidate.parameters).empty())
      family.push_back(std::move(candidate));
    if (length == algorithm.parameters.end()) break;
  }
  if (!family.empty()) families_.push_back(std::move(family));
}

/// Returns the size of an array element for the evaluation: 0 for a barrier, whose messages have no
/// bytes.
Bytes bytes_of(const CollectiveSpec& task, Bytes element_bytes) {
  return task.collective == Collective::barrier ? 0 : element_bytes;
}

class Search {
 public:
  Search(const CollectiveSpec& task, Bytes element_bytes, const Network& network)
      : task_(task), element_bytes_(bytes_of(task, element_bytes)), network_(network) {}

  /// Evaluates a candidate. Returns its time; Nanos::max() if the time reaches `limit`.
  Nanos try_out(const Candidate& candidate, Nanos limit) {
    ++best_.priced;
    const auto price = evaluate(programs_of(*candidate.algorithm, task_, candidate.parameters),
                                element_bytes_, network_, {}, limit);
    if (!price) return Nanos::max();
    ++best_.finished;
    if (best_.candidate.algorithm == nullptr || price->time < best_.price.time) {
      best_.price = *price;
      best_.candidate = candidate;
    }
    return price->time;
  }
  Nanos best_time() const {
    return best_.candidate.algorithm == nullptr ? Nanos::max() : best_.price.time;
  }
  /// Returns the predicted time at which guess() aborts the evaluation of a candidate. If all
  /// guesses of a family reach this limit, no further candidates of the family are evaluated.
  Nanos limit_of_guesses() const {
    if (best_.candidate.algorithm == nullptr) return Nanos::max();
    return Nanos(static_cast<Nanos::rep>(static_cast<double>(best_time().count()) * near) + 1);
  }

  Best answer(std::size_t candidates) {
    if (best_.candidate.algorithm == nullptr)
      throw std::invalid_argument(
          fmt::format("no algorithm can do that {}", name_of(task_.collective)));
    best_.candidates = candidates;
    return std::move(best_);
  }

 private:
  const CollectiveSpec& task_;
  Bytes element_bytes_;
  const Network& network_;
  Best best_;
};

std::size_t count_of(const std::vector<Family>& families) {
  std::size_t count = 0;
  for (const Family& family : families) count += family.size();
  return count;
}

/// A family of candidates that the search examines, and the results so far.
struct Prospect {
  const Family* family = nullptr;
  Nanos load{0};
  std::vector<std::size_t> members;  // indices in `family` of the candidates to search
  // Least time of the candidates that guess() has evaluated.
  Nanos guess = Nanos::max();
  std::size_t guessed = 0;  // index in `members` of the candidate that takes the time `guess`
};

class Prospects {
 public:
  /// Selects the families to search. Keeps the first candidate of each family, and all candidates
  /// that send at most `messages_most` messages.
  Prospects(const std::vector<Family>& families, const CollectiveSpec& task, Bytes element_bytes,
            const Network& network);
  /// Evaluates a few candidates of each family.
  void guess(Search& search, Nanos good_enough);
  /// Evaluates the candidates next to the best candidate that guess() has found in each family.
  void refine(Search& search, Nanos good_enough);

 private:
  std::vector<Prospect> prospects_;  // families to search, sorted by load, the least first
};

/// Returns the number of portions in which the candidate's steps are generated (stretches or
/// segments), at least 1.
Count portions(const Candidate& candidate, const CollectiveSpec& task) {
  return std::max<Count>(candidate.algorithm->program(task, candidate.parameters, 0).portions(), 1);
}

/// Properties of a schedule, estimated from the steps of some of its participants. The steps of all
/// participants would take too long.
struct Sketch {
  std::size_t messages = 0;  ///< estimated number of messages
  /// Time that the busiest link or sending host needs for its bytes. Only messages of the sampled
  /// participants count.
  Nanos load{0};
  base::Digest steps;  ///< digest of the sampled participants' steps
};

Sketch sketch_of(const Candidate& candidate, const CollectiveSpec& task, Bytes element_bytes,
                 const Network& network) {
  constexpr std::size_t asked = 64;
  Sketch sketch;
  // Number of messages of the busiest participant. This number is not extrapolated to all
  // participants, because the busiest participant may be the only one that sends to all others.
  std::size_t busiest = 0;
  collectives::Steps steps;
  base::RunningDigest digest;
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i <= asked; ++i) {
    const auto me = i == asked ? task.root : static_cast<Rank>(i * (task.size() / asked) + i % 7);
    steps.clear();
    candidate.algorithm->program(task, candidate.parameters, me).append_all(steps);
    std::size_t sent = 0;
    std::map<std::pair<Network::Part, std::size_t>, Bytes> passed;
    numbers.assign({me});
    for (std::size_t step = 0; step < steps.size(); ++step) {
      append(numbers, steps[step]);
      if (steps[step].action != collectives::Action::send) continue;
      ++sent;
      const Bytes bytes = steps[step].elements() * element_bytes;
      network.for_way(me, steps[step].peer, [&](Network::Part part, std::size_t index) {
        if (part != Network::Part::receiving) passed[{part, index}] += bytes;
      });
    }
    for (const auto& [place, bytes] : passed)
      sketch.load =
          std::max(sketch.load, least_time(bytes, place.first == Network::Part::link
                                                      ? rate_of(network.links[place.second])
                                                      : rate_of(network.outgoing[place.second])));
    digest.add(std::as_bytes(std::span(numbers)));
    sketch.messages += sent;
    busiest = std::max(busiest, sent);
  }
  sketch.messages = (sketch.messages - busiest) * task.size() / asked + busiest;
  sketch.steps = digest.value();
  return sketch;
}

/// Returns the predicted time of the collective with blocks of one array element each, executed by
/// the candidate. Returns 0 if the candidate does not support such blocks, and half of Nanos::max()
/// if the time reaches the limit.
Nanos time_of_little(const Candidate& candidate, const CollectiveSpec& task, Bytes element_bytes,
                     const Network& network, Nanos limit) {
  const CollectiveSpec little = make_spec(task.collective, task.topology, 1, task.root);
  if (!candidate.algorithm->why_not(little, candidate.parameters).empty()) return Nanos(0);
  const auto price = evaluate(programs_of(*candidate.algorithm, little, candidate.parameters),
                              element_bytes, network, {}, limit);
  return price ? price->time : Nanos::max() / 2;
}

/// Selects the families to search. A family is a set of candidates that differ only in the length
/// of messages (best.hpp). Up to `very_many` participants, all families are selected. For more
/// participants, families with equal steps are reduced to one, and families with too many messages
/// are dropped. Of the rest, those with the least sum of two times are selected: the time for one
/// array element, and the load of the busiest link or sending host. This sum estimates the time
/// that the family takes with its best length of messages.
std::vector<const Family*> those_to_look_at(const std::vector<Family>& families,
                                            const CollectiveSpec& task, Bytes element_bytes,
                                            const Network& network) {
  std::vector<const Family*> all;
  for (const Family& family : families) all.push_back(&family);
  if (task.size() <= very_many) return all;
  std::map<const Family*, Sketch> sketches;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  std::erase_if(all, [&](const Family* family) {
    const Sketch sketch = sketch_of(family->front(), task, element_bytes, network);
    sketches[family] = sketch;
    return !seen.emplace(sketch.steps.high, sketch.steps.low).second;
  });
  const auto is_too_long = [&](const Family* family) {
    return sketches[family].messages > messages_most;
  };
  if (!std::all_of(all.begin(), all.end(), is_too_long)) std::erase_if(all, is_too_long);
  std::map<const Family*, Nanos> guesses;
  Nanos least = Nanos::max() / 4;
  for (const Family* family : all) {
    const Nanos little = time_of_little(family->front(), task, element_bytes, network, 4 * least);
    if (little > Nanos(0)) least = std::min(least, little + sketches[family].load);
    guesses[family] = little + sketches[family].load;
  }
  std::stable_sort(all.begin(), all.end(), [&](const Family* left, const Family* right) {
    return guesses[left] < guesses[right];
  });
  all.resize(std::min(all.size(), families_of_very_many));
  return all;
}

/// Selects the families that may contain the best candidate. Different parameters can make the same
/// schedule on a given topology. If two families make the same schedule with messages of a quarter
/// of the vector, only the first of them is kept.
Prospects::Prospects(const std::vector<Family>& families, const CollectiveSpec& task,
                     Bytes element_bytes, const Network& network) {
  constexpr std::size_t in_four = 2;
  const auto outline = [&](const Candidate& candidate) {
    return outline_of(programs_of(*candidate.algorithm, task, candidate.parameters), element_bytes,
                      network);
  };
  std::set<std::tuple<std::uint64_t, std::uint64_t, std::size_t>> seen;
  for (const Family* one : those_to_look_at(families, task, element_bytes, network)) {
    const Family& family = *one;
    const Candidate& candidate = family[std::min(in_four, family.size() - 1)];
    const Outline seen_as = outline(candidate);
    if (!seen.emplace(seen_as.steps.high, seen_as.steps.low, family.size()).second) continue;
    const std::size_t for_each = seen_as.messages / portions(candidate, task);
    prospects_.push_back({&family, outline(family.front()).load, {}});
    for (std::size_t member = 0; member < family.size(); ++member)
      if (member == 0 || for_each <= messages_most / portions(family[member], task))
        prospects_.back().members.push_back(member);
  }
  std::stable_sort(
      prospects_.begin(), prospects_.end(),
      [](const Prospect& left, const Prospect& right) { return left.load < right.load; });
}

void Prospects::guess(Search& search, Nanos good_enough) {
  for (Prospect& prospect : prospects_)
    for (std::size_t at = 0; at < prospect.members.size(); at += members_between_guesses) {
      if (search.best_time() <= std::max(good_enough, prospect.load)) return;
      const Nanos time =
          search.try_out((*prospect.family)[prospect.members[at]], search.limit_of_guesses());
      if (time < prospect.guess) {
        prospect.guess = time;
        prospect.guessed = at;
      }
    }
}

void Prospects::refine(Search& search, Nanos good_enough) {
  const Nanos limit = search.limit_of_guesses();
  for (const Prospect& prospect : prospects_) {
    if (prospect.guess >= limit) continue;
    const std::size_t first = prospect.guessed - std::min(prospect.guessed, members_around_guess);
    const std::size_t last =
        std::min(prospect.guessed + members_around_guess, prospect.members.size() - 1);
    for (std::size_t at = first; at <= last; ++at) {
      if (search.best_time() <= std::max(good_enough, prospect.load)) break;
      if (at % members_between_guesses != 0)
        search.try_out((*prospect.family)[prospect.members[at]], search.best_time());
    }
  }
}

}  // namespace

std::vector<Family> families_of(const CollectiveSpec& task, Bytes element_bytes, Order worst) {
  return Families(task, element_bytes, worst).all();
}

Best best_of(const CollectiveSpec& task, Bytes element_bytes, const Network& network, Order worst) {
  return best_among(families_of(task, element_bytes, worst), task, element_bytes, network);
}

Best best_among(const std::vector<Family>& families, const CollectiveSpec& task,
                Bytes element_bytes, const Network& network) {
  const Nanos bound = bound_of(task, element_bytes, network).time;
  const Nanos good_enough(
      static_cast<std::int64_t>(static_cast<double>(bound.count()) * (1 + above_bound)));
  Search search(task, element_bytes, network);
  Prospects prospects(families, task, bytes_of(task, element_bytes), network);
  prospects.guess(search, good_enough);
  prospects.refine(search, good_enough);
  return search.answer(count_of(families));
}

}  // namespace pricing
