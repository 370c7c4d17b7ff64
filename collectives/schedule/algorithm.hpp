// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/algorithm.hpp — description of an algorithm as data: parameters, limits,
// program.
#pragma once
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "collectives/schedule/collective_spec.hpp"
#include "collectives/schedule/step.hpp"

namespace collectives {

/// Order in which a reduction combines its operands, from strictest to loosest. Floating-point sums
/// depend on it: only `canonical` gives the same bits as the algorithm `sequential`. If an
/// operation is not exact (such as a floating-point sum), schedules with the order `differs` are
/// refused.
enum class Order {
  canonical,  ///< sums each group first, then the groups, level by level, in config order
  in_order,   ///< same expression for all elements and vector sizes, operands in config order
  permuted,   ///< same expression for all elements, operands not in config order (commutative)
  by_block,   ///< the expression depends on the element's index and the vector's size
  differs,    ///< participants get sums that were computed by different expressions
};
std::string_view name_of(Order order);

/// A parameter of an algorithm: a number in a range, a word from a list, or a list of such values.
struct Parameter {
  std::string name = {};
  std::string help = {};
  std::string fallback = {};
  std::vector<std::string> words = {};  ///< permitted values; empty if the parameter is a number
  /// Whether the parameter takes one value per level, such as "flat/binomial". The last value
  /// applies to all further levels.
  bool is_list = false;
  Count least = 0;
  Count most = std::numeric_limits<Count>::max();
  /// The parameter has an effect only if another parameter has one of these words as its value.
  /// Empty = the parameter always has an effect.
  std::vector<std::string> only_with = {};
  /// Collectives on which the parameter has an effect; empty = all.
  std::vector<Collective> only_for = {};
  /// Whether the parameter limits the number of elements of a message or stretch (0 = no limit).
  bool is_piece = false;
};
/// Maximum number of pieces into which a vector may be cut. Each piece is a message.
inline constexpr Count pieces_max = Count{1} << 16;

/// Values of an algorithm's parameters, by name.
class Parameters {
 public:
  bool has(const std::string& name) const { return values_.contains(name); }
  Count number(const std::string& name) const;
  std::vector<Count> numbers(const std::string& name) const;
  const std::string& word(const std::string& name) const { return values_.at(name); }
  std::vector<std::string> words(const std::string& name) const;
  /// Sets a value. Does not check that the algorithm has this parameter.
  Parameters& set(const std::string& name, const std::string& value);
  std::string text() const;  ///< text form: "shapes=flat/binomial,segment=4"

 private:
  std::map<std::string, std::string> values_;
};

/// A function that generates the steps of one participant. It generates them in portions (stretches
/// or segments), so that the whole of a long program is never in memory. The steps depend only on
/// the collective, the parameters and the participant. The generation uses no clock, no random
/// numbers, no floating point and no state of other participants.
class Program {
 public:
  using Make = std::function<void(Count portion, Steps& steps)>;
  Program() = default;  ///< a program without steps
  Program(Count portions, Make make) : portions_(portions), make_(std::move(make)) {}

  Count portions() const { return portions_; }
  void append(Count portion, Steps& steps) const { make_(portion, steps); }
  void append_all(Steps& steps) const;
  Steps all() const;

 private:
  Count portions_ = 0;
  Make make_;
};

/// An algorithm described as data. Other code uses algorithms only through such descriptions.
struct Algorithm {
  std::string name = {};
  std::string help = {};
  std::vector<Collective> collectives;
  std::vector<Parameter> parameters;
  /// Returns the order of summation that the algorithm promises. The verifier checks this promise.
  /// The function is called for reductions only.
  std::function<Order(const CollectiveSpec&, const Parameters&)> order;
  /// Returns why the algorithm cannot do the collective, or "" if it can. The function is never
  /// called for a collective that is not in `collectives`. Empty function = no restrictions.
  std::function<std::string(const CollectiveSpec&, const Parameters&)> refusal;
  /// Returns the program of participant `me`. The program refers to the spec, which must outlive
  /// the program.
  std::function<Program(const CollectiveSpec&, const Parameters&, Rank me)> program;

  bool does(Collective collective) const;
  /// Whether the value of `parameter` has an effect on `collective`, if the other parameters have
  /// the values `others`.
  bool matters(const Parameter& parameter, Collective collective, const Parameters& others) const;
  /// Parses "segment=4,shape=chain". Parameters that are not mentioned get their default.
  /// Throws: std::invalid_argument that lists every mistake.
  Parameters read(const std::string& text) const;
  /// Returns why the algorithm cannot do `task`, or "" if it can. In addition to refusal(), it
  /// checks the collective, the root and the number of pieces.
  std::string why_not(const CollectiveSpec& task, const Parameters& parameters) const;
  /// Returns new values for one or two parameters, for example "allgather=ring". With these values,
  /// the algorithm accepts `task` and sums in the order `worst` or a stricter one. Returns "" if no
  /// change of one or two parameters suffices.
  std::string remedy(const CollectiveSpec& task, const Parameters& parameters,
                     Order worst = Order::differs) const;
};

/// All steps of all participants, indexed by rank. Tests, printing and the verifier use it.
using Schedule = std::vector<Steps>;
Schedule schedule_of(const Algorithm& algorithm, const CollectiveSpec& task,
                     const Parameters& parameters);
/// Replaces the content of `schedule` by all steps of all participants. Reuses the memory of
/// `schedule`.
void schedule_of(const Algorithm& algorithm, const CollectiveSpec& task,
                 const Parameters& parameters, Schedule& schedule);

}  // namespace collectives
