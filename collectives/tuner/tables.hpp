// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/tables.hpp — choice of a configuration for each size of a collective, from
// searches at some of the sizes.
#pragma once
#include <limits>

#include "collectives/tuner/search.hpp"

namespace tuner {

/// Returns the search space of a size in bytes. A family has the same name in the spaces of all
/// sizes.
using SpaceOf = std::function<Space(std::uint64_t bytes)>;
/// Runs a configuration of the space for `bytes` once. Returns the time of the run; nullopt if the
/// run is void (experiment.hpp).
using RunAt = std::function<std::optional<base::Nanos>(std::uint64_t bytes, Configuration)>;

inline constexpr std::uint64_t any_size = std::numeric_limits<std::uint64_t>::max();

/// A row of a table: the configuration for sizes above the `up_to` of the previous row, up to its
/// own `up_to`.
struct Row {
  std::uint64_t up_to = any_size;  ///< largest size in bytes, inclusive
  std::string family = {};
  std::uint64_t length = 0;  ///< maximum bytes of a message; 0 = no segmentation
  friend bool operator==(const Row&, const Row&) = default;
};

/// Returns the row for a size, by binary search.
/// Requires: rows are in ascending order, and the last row is for any_size.
const Row& row_for(const std::vector<Row>& rows, std::uint64_t bytes);

/// The choice for one size, with its evidence.
struct SizeChoice {
  std::uint64_t bytes = 0;
  std::string family = {};
  std::uint64_t length = 0;
  base::Nanos predicted{0};                  ///< predicted time, without corrections
  std::optional<base::Nanos> measured = {};  ///< nullopt if the configuration was not run
  bool is_searched = false;                  ///< whether a search made the choice
  Outcome evidence = {};  ///< result of the search or check at this size, with all samples
  std::string next = {};  ///< fastest of the other families that were run; "" = none was run
  base::Nanos next_measured{0};
  /// Whether the configuration was taken from the next larger size, which took less time.
  bool is_from_larger = false;
};

struct Table {
  std::vector<SizeChoice> choices = {};  ///< choices by ascending size
  std::vector<Row> rows = {};  ///< rows by ascending size; empty if the search was cancelled
  std::size_t runs = 0;        ///< number of runs, including void ones
  base::Nanos time_spent{0};
  bool was_cancelled = false;
};

/// Corrects predicted times by the measured times of other sizes. For each family and size that was
/// run, it keeps the logarithm of the ratio measured time / predicted time. The predicted time of a
/// family for one size is corrected by a weighted mean of the family's logarithms. A logarithm from
/// a size that differs by a factor of 2^d has the weight exp(-d / 4). If the family was never run,
/// the logarithms of all families are used.
class Corrections {
 public:
  void add(std::uint64_t bytes, const std::string& family, base::Nanos predicted,
           base::Nanos measured);
  base::Nanos corrected(std::uint64_t bytes, const std::string& family,
                        base::Nanos predicted) const;

 private:
  struct Figure {
    double octave = 0;
    double ratio = 0;  // logarithm of measured time / predicted time
  };
  static double mean_at(double octave, const std::vector<Figure>& figures);

  std::map<std::string, std::vector<Figure>> by_family_;
  std::vector<Figure> all_;
};

/// Input of tune_table().
struct TableTask {
  std::vector<std::uint64_t> sizes = {};  ///< sizes in bytes, ascending, above 0
  SpaceOf space_of = {};
  RunAt run_at = {};
  std::vector<Row> before = {};  ///< rows of an earlier table; empty = none
  bool searches_all = false;     ///< whether to search at every size
  /// Returns the partial runs of the space for `bytes`; empty = there are none.
  std::function<PartialRuns(std::uint64_t bytes)> partial_at = {};
};

/// Makes the table of a collective.
/// 1. Searches at the first size, and then at each size that is at least 8 times the size of the
///    previous search. If TableTask::searches_all, searches at all sizes.
/// 2. At all other sizes, corrects the predicted times by the times measured in the searches, and
///    chooses the fastest configuration. If the fastest configurations of several families are
///    within 15%, first runs up to 4 of these configurations, 3 times each. If the searches have
///    measured no time, runs nothing.
/// 3. Compares measured times of neighbouring sizes. If the larger size takes less time, also runs
///    the configuration of the larger size at the smaller size. Chooses the faster of the two
///    configurations for the smaller size.
/// 4. Joins neighbouring sizes in one row if they have the same family and lengths within a factor
///    of 2. In addition, the corrected time with the row's length must be at most 3% above the
///    corrected time with the chosen length. The boundary of two rows is the size at which the
///    corrected times of both rows are equal.
///
/// For each size, the row of the earlier table (TableTask::before) is kept, unless the new choice
/// is more than 3% faster. Without this rule, tables would change with each search.
/// Paper: the distance between sizes and the interpolation replace the grid of sizes in Vadhiyar,
///        Fagg and Dongarra 2004.
/// Throws: the exceptions of `search`.
Table tune_table(const TableTask& task, const Search& search, const Options& options);

}  // namespace tuner
