// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/algorithm.hpp — a way to do collectives: what it is called, can do, and
// does.
#pragma once
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "collectives/schedule/collective_spec.hpp"
#include "collectives/schedule/step.hpp"

namespace collectives {

/// How a reduction groups its operands, best first. Only the first gives the bits of `sequential`
/// for operations that are not exact; the last is refused for them.
enum class Order {
  canonical,  ///< hosts from the left, then the groups of each level, in the order of the config
  in_order,   ///< one expression for all cells and sizes, operands in the order of the config
  permuted,   ///< one expression, operands in another order: for commutative operations
  by_block,   ///< the expression depends on the cell, so on size and parameters
  differs,    ///< participants disagree
};
std::string_view name_of(Order order);

/// A knob of an algorithm: one or several numbers in a range, or of some words.
struct Parameter {
  std::string name = {};
  std::string help = {};
  std::string fallback = {};
  std::vector<std::string> words = {};  ///< none: a number
  bool is_list = false;                 ///< several, "flat/binomial"; the last goes on for ever
  Count least = 0;
  Count most = std::numeric_limits<Count>::max();
  std::vector<std::string> only_with = {};  ///< it matters only beside one of these words
  std::vector<Collective> only_for = {};    ///< and only for these collectives; none: for all
  bool is_piece = false;  ///< the elements of a message, or of a stretch, at most; 0: all
};
/// Most pieces that a vector may be cut into. Each of them is a message of its own.
inline constexpr Count pieces_max = Count{1} << 16;

/// The values of an algorithm's parameters.
class Parameters {
 public:
  bool has(const std::string& name) const { return values_.contains(name); }
  Count number(const std::string& name) const;
  std::vector<Count> numbers(const std::string& name) const;
  const std::string& word(const std::string& name) const { return values_.at(name); }
  std::vector<std::string> words(const std::string& name) const;
  /// As it is, without looking whether the algorithm has it: for the list and for composites.
  Parameters& set(const std::string& name, const std::string& value);
  std::string text() const;  ///< "shapes=flat/binomial,segment=4"

 private:
  std::map<std::string, std::string> values_;
};

/// What one participant does, in portions (stretches, segments) that can be made one by one, so
/// that a long program never exists as a whole. A pure function of task, parameters and
/// participant: no clock, no chance, integers only, and nothing of other participants.
class Program {
 public:
  using Make = std::function<void(Count portion, Steps& steps)>;
  Program() = default;  ///< of no steps
  Program(Count portions, Make make) : portions_(portions), make_(std::move(make)) {}

  Count portions() const { return portions_; }
  void append(Count portion, Steps& steps) const { make_(portion, steps); }
  void append_all(Steps& steps) const;
  Steps all() const;

 private:
  Count portions_ = 0;
  Make make_;
};

/// An algorithm, described as data. Everything that knows algorithms knows this.
struct Algorithm {
  std::string name = {};
  std::string help = {};
  std::vector<Collective> collectives;
  std::vector<Parameter> parameters;
  /// The order of summation that it promises; the verifier proves it. For reductions only.
  std::function<Order(const CollectiveSpec&, const Parameters&)> order;
  /// Why it cannot do that, in words; empty if it can. Never called for a collective that is not
  /// in the list. None: it can do everything.
  std::function<std::string(const CollectiveSpec&, const Parameters&)> refusal;
  /// Borrows the task, which must outlive the program.
  std::function<Program(const CollectiveSpec&, const Parameters&, Rank me)> program;

  bool does(Collective collective) const;
  /// Whether it makes a difference there what that parameter is.
  bool matters(const Parameter& parameter, Collective collective, const Parameters& others) const;
  /// Values for all parameters from "segment=4,shape=chain"; what is not said is by itself.
  /// Throws: std::invalid_argument naming everything that is wrong.
  Parameters read(const std::string& text) const;
  /// As refusal(), and whether it is for that collective, whether there is such a root, and whether
  /// pieces are not too many.
  std::string why_not(const CollectiveSpec& task, const Parameters& parameters) const;
  /// Values that make it able to do what it refuses, or sum up as `worst` or better:
  /// "allgather=ring"; the fewest that have to change. Empty if words of its parameters cannot.
  std::string remedy(const CollectiveSpec& task, const Parameters& parameters,
                     Order worst = Order::differs) const;
};

/// The programs of all participants: for tests, printing, and the verifier.
using Schedule = std::vector<Steps>;
Schedule schedule_of(const Algorithm& algorithm, const CollectiveSpec& task,
                     const Parameters& parameters);
/// Into the memory of another one.
void schedule_of(const Algorithm& algorithm, const CollectiveSpec& task,
                 const Parameters& parameters, Schedule& schedule);

}  // namespace collectives
