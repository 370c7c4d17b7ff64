// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/bindings.hpp — the moment for which each moment of a run waited.
#pragma once
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "eventspace/analysis/attribution/moments.hpp"

namespace eventspace {

/// Reason for which a moment (an event of the run) could not happen earlier. The moment waited for
/// the moment `before`; `label` is the cause of the time between the two. The last three fields are
/// parts of the time between, in the order in which they pass.
struct Binding {
  Moment before;
  std::uint32_t label = 0;             ///< cause of the time since `before`: number in Labels
  std::int64_t queued_nanos = 0;       ///< wait of a message behind other messages
  std::int64_t transmitted_nanos = 0;  ///< transmission of a message's bytes
  std::int64_t noise_nanos = 0;        ///< noise in a computation
};

/// Finds for each moment (event) of a run its binding moment: the moment for which it waited.
///
/// Rules tell which moments must precede a moment. For example, a result passes a wrapper only
/// after it has passed the wrapper below, a join needs all its contributors, and a read needs the
/// tuple that it returns. The latest of the preceding moments is the binding moment. If several are
/// equally late, a moment of the same thread is preferred, then a moment of the same host.
///
/// Requires: `all` is complete (MomentReader::prepare()) and outlives the object.
/// Source: rules of the critical-path analysis of traces (Böhme et al. 2012).
class Bindings : private MomentTypes {
 public:
  /// Returns the noise in a computation, in nanoseconds. Arguments: the operations before and after
  /// the computation, and its length in nanoseconds.
  using NoiseBetween = std::function<std::int64_t(const ThreadOperation& before,
                                                  const ThreadOperation& after, std::int64_t)>;
  Bindings(const Moments& all, NoiseBetween noise_between)
      : all_(all), noise_between_(std::move(noise_between)) {}

  /// Returns the binding of `moment`: the moment for which it waited, and the cause of the time
  /// between the two moments. Binding::before is empty if the trace does not show for which moment
  /// `moment` waited. If `considered` is not nullptr, appends all moments that had to precede
  /// `moment` to `*considered`.
  Binding binding_of(Moment moment, std::vector<Moment>* considered = nullptr) const;
  /// Returns the noise in the computation before an operation of a thread. `order` is the index of
  /// the operation in Moments::operations_of(), and `nanos` is the length of the computation.
  std::int64_t noise_before(std::uint32_t thread, std::uint32_t order, std::int64_t nanos) const;
  const Moments& moments() const { return all_; }

 private:
  class Best;

  void bind_down(std::uint32_t pass, Best& best) const;
  void bind_up(std::uint32_t pass, Best& best) const;
  void bind_node(std::uint32_t node, Best& best) const;
  void add_start_of_driver(std::uint32_t pass, const Probe& probe, Best& best) const;
  void add_end_of_schedule(const KeptRound& round, const KeptPass& call, std::uint32_t host,
                           Best& best) const;
  void add_contributors(const KeptRound& round, const Join& join, std::uint32_t label,
                        Best& best) const;
  std::uint32_t bytes_up(const KeptRound& round, const KeptPass& pass) const;
  void add_below(std::uint32_t pass, Best& best) const;
  void add_values_of_check(const KeptRound& round, const HopLabels& labels, Best& best) const;
  void add_earlier_round(const KeptRound& round, const Probe& probe, Best& best) const;
  Moment before_in_thread(std::uint32_t thread, std::uint32_t order, bool is_end) const;
  template <typename Timed>
  static Moment latest(const std::vector<Timed>& moments, std::int64_t until_nanos);
  template <typename Timed>
  Moment latest_of_others(const std::vector<Timed>& moments, std::uint32_t pass,
                          std::int64_t until_nanos) const;
  Moment operation_of_driver_before(std::uint32_t leaf, std::uint32_t pass) const;
  Moment store_that_was_read(std::uint32_t element, std::uint32_t pass) const;
  Moment value_of_round(std::uint32_t cache, std::uint64_t round, std::int64_t until_nanos) const;
  std::uint32_t first_pass_of(std::uint32_t pass) const;
  Moment latest_store(std::uint32_t element, std::int64_t until_nanos) const;
  std::int64_t queued_at(std::uint32_t stage, std::int64_t from_nanos,
                         std::int64_t until_nanos) const;

  const Moments& all_;
  NoiseBetween noise_between_;
};

}  // namespace eventspace
