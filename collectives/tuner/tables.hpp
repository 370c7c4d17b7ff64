// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/tables.hpp — choices for all sizes of a collective, from searches at some of
// them.
#pragma once
#include <limits>

#include "collectives/tuner/search.hpp"

namespace tuner {

/// Returns the search space of a size in bytes. A family has the same name in the spaces of all
/// sizes.
using SpaceOf = std::function<Space(std::uint64_t bytes)>;
/// Runs a configuration of the space for `bytes` once. Returns its time, or nothing if the run is
/// void (experiment.hpp).
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
/// Requires: rows are in ascending order, and the last one is for any_size.
const Row& row_for(const std::vector<Row>& rows, std::uint64_t bytes);

/// The choice for one size, with its evidence.
struct SizeChoice {
  std::uint64_t bytes = 0;
  std::string family = {};
  std::uint64_t length = 0;
  base::Nanos predicted{0};                  ///< time predicted by the model, before corrections
  std::optional<base::Nanos> measured = {};  ///< nothing if the configuration was not run
  bool is_searched = false;                  ///< whether a search made the choice
  Outcome evidence = {};  ///< result of the search or check at this size, with all samples
  std::string next = {};  ///< family of the second choice; "" = none was run
  base::Nanos next_measured{0};
  /// Whether the choice was changed because a larger size took less time.
  bool is_from_larger = false;
};

struct Table {
  std::vector<SizeChoice> choices = {};  ///< choices, one for each size
  std::vector<Row> rows = {};  ///< rows by ascending size; empty if the search was cancelled
  std::size_t runs = 0;        ///< number of runs, including void ones
  base::Nanos time_spent{0};
  bool was_cancelled = false;
};

/// Logarithms of measured time / predicted time, by family and size. They correct predictions of
/// other sizes. The logarithm of a size that is d octaves away has the weight exp(-d / 4). A family
/// that was never run is corrected by the logarithms of all families.
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
  std::vector<Row> before = {};  ///< rows of an earlier table
  bool searches_all = false;     ///< whether to search at every size
};

/// Makes the table of a collective.
/// 1. Searches at the first size, and then at each size that is at least 8 times the size of the
///    previous search, or at all sizes (TableTask::searches_all).
/// 2. At all other sizes, corrects the predicted times by the times measured in the searches, and
///    chooses the fastest configuration. If the fastest configurations of several families are
///    within 15%, it first runs up to 4 of them, 3 times each. If no search has measured anything,
///    it runs nothing.
/// 3. Compares measured times of neighbouring sizes. If the larger size takes less time, runs its
///    configuration at the smaller size as well, and takes the faster one.
/// 4. Joins neighbouring sizes in one row if they have the same family and lengths within a factor
///    of 2. By the corrected model, the row's length must cost at most 3% more. The boundary of two
///    rows is the size at which their corrected times cross.
/// A row of `before`, an earlier table, is kept for a size unless the new choice is more than 3%
/// faster. Otherwise tables would change with each search.
/// Paper: the distance between sizes and the interpolation replace the grid of sizes in Vadhiyar,
///        Fagg and Dongarra 2004.
/// Throws: the exceptions of `search`.
Table tune_table(const TableTask& task, const Search& search, const Options& options);

}  // namespace tuner
