// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/decision_table.hpp — table of the schedules to use, by collective, group and
// size.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.hpp"
#include "base/units.hpp"
#include "collectives/schedule/algorithm.hpp"

namespace tuner {

using Bytes = std::uint64_t;

/// Measurements that led to the choice of a schedule in a table. All members are optional.
struct Evidence {
  base::Nanos time{0};       ///< measured time of the schedule; 0 = not measured
  base::Nanos predicted{0};  ///< predicted time of the schedule; 0 = none
  std::string next;          ///< schedule that was the second choice; "" = none
  base::Nanos next_time{0};  ///< measured time of the second choice; 0 = not measured
  std::uint64_t runs = 0;    ///< number of runs of all candidates
  double spread = 0;         ///< relative spread of the samples, in percent
  /// Name of the schedules among which the search chose, such as "trees"; "" = all.
  std::string candidates = {};
  std::string under = {};  ///< program that ran on the hosts during the measurement; "" = none
};

/// A row of a table: the schedule for sizes up to `up_to` that are above the `up_to` of the
/// previous row.
struct Decision {
  static constexpr Bytes no_limit = std::numeric_limits<Bytes>::max();
  Bytes up_to = no_limit;  ///< largest size in bytes; no_limit = all larger sizes
  const collectives::Algorithm* algorithm = nullptr;
  collectives::Parameters parameters;  ///< all parameters except the maximum length of messages
  /// Maximum length of messages in bytes; 0 = unlimited. nullopt = the default of the algorithm.
  std::optional<Bytes> length;
  bool is_pinned = false;  ///< true = a person wrote the row, and tuning keeps it
  std::string note;
  Evidence why;
  base::Position position = {};

  /// Returns the parameters together with the length, which is converted to elements. A length of
  /// at least the whole vector becomes 0 (unlimited).
  collectives::Parameters parameters_for(std::size_t element_bytes, Bytes vector_bytes) const;
  /// Returns the algorithm with its parameters, without a length, such as "tree:shape=chain".
  std::string use() const;
};

/// Numbers of clusters, hosts or machines for which a section of a table is valid.
struct Range {
  std::uint32_t least = 0, most = std::numeric_limits<std::uint32_t>::max();
  bool contains(std::uint32_t number) const { return least <= number && number <= most; }
  bool is_single() const { return least == most; }
  std::string text() const;
  friend bool operator==(const Range&, const Range&) = default;
};

/// Size of the group of an operation, and the transport between the group's hosts.
struct Shape {
  std::uint32_t clusters = 1, hosts = 1, machines = 1;
  std::string_view transport;  ///< value of the config key `transport`, such as "tcp"
};

/// The rows of one collective for some groups and one order of summation.
struct DecisionSection {
  collectives::Collective collective = collectives::Collective::barrier;
  Range clusters, hosts, machines;
  std::string transport = "any";
  /// The loosest of the orders of summation that the rows have. Rows are used only for operations
  /// that permit this order.
  collectives::Order order = collectives::Order::by_block;
  std::vector<Decision> rows;  ///< rows in ascending order of up_to; the last row has no limit
  base::Position position = {};
};

/// Schedules for the operations of groups. `paths tune` writes the table. A person may also write
/// or change it.
///
///     decisions: 1
///     about: {made: 2026-11-22, by: race}     # never used
///     allreduce:
///       - shape: {clusters: 2, hosts: 5..16}  # also machines
///         transport: tcp                      # or any
///         order: in order                     # of sums: canonical, in order, any
///         rows:
///           - {up_to: 2KiB, use: recursive_doubling}
///           - {up_to: inf, use: "multilevel:shapes=flat/chain", segment: 32KiB, pinned: true}
///
/// Tuning keeps rows with `pinned: true`. Sizes are in bytes. The size of a broadcast or scatter is
/// the size of a participant's result. The size of an alltoall is the size of a block for one
/// participant. The size of any other collective is the size of a contribution. If the sizes of
/// participants or blocks differ, the mean of these sizes is used. A barrier has the size 0.
///
/// Thread-safe: immutable.
/// Paper: Vadhiyar, Fagg and Dongarra 2004, who look up the best algorithm and segment in tables.
class DecisionTable {
 public:
  /// Reads a table. Reports all mistakes: unknown keys, collectives, algorithms and parameters;
  /// sizes that do not ascend; a last row with a limit; two sections for the same groups.
  DecisionTable(const base::Settings& settings, base::Mistakes& mistakes);

  struct Found {
    const Decision* decision = nullptr;
    const DecisionSection* section = nullptr;
    /// Whether the section is for a different number of hosts. In that case, the number of hosts in
    /// the group is at least half and at most twice the number in the section.
    bool is_borrowed = false;
  };
  /// Returns the row for an operation. Rows of sections whose numbers fit the group come before
  /// rows of sections for a different number of hosts. Among the rows of each kind, pinned rows
  /// come first. After that, rows of sections for a single number of clusters and hosts come before
  /// rows of sections for ranges, and sections with fewer ranges before sections with more. A
  /// transport `any` counts as a range.
  /// Cost: no allocation.
  std::optional<Found> find(collectives::Collective collective, const Shape& shape,
                            collectives::Order worst, Bytes size) const;

  const std::vector<DecisionSection>& sections() const { return sections_; }
  const base::Settings& settings() const { return settings_; }

 private:
  base::Settings settings_;
  std::vector<DecisionSection> sections_;
};

/// Returns whether two sections are for the same collective, groups, transport and order.
bool are_for_same_groups(const DecisionSection& left, const DecisionSection& right);

/// Reads a table of decisions from `text`, which is the text of `file`.
/// Throws: ConfigError with all mistakes.
std::shared_ptr<const DecisionTable> parse_decision_table(const std::string& text,
                                                          const std::string& file);
/// Reads a table of decisions from a file.
/// Throws: ConfigError with all mistakes.
std::shared_ptr<const DecisionTable> load_decision_table(const std::string& file);

/// Returns the text of a table with these sections. `about` is copied to the key `about`, which
/// readers ignore.
std::string print_decisions(const std::vector<DecisionSection>& sections,
                            const base::Settings& about);

/// Returns the size of an operation in bytes. DecisionTable::find() finds the row by this size.
Bytes size_of(const collectives::CollectiveSpec& task, std::size_t element_bytes);

/// Returns the word that a table uses for an order of summation: "canonical", "in order" or "any".
std::string_view order_word(collectives::Order order);

}  // namespace tuner
