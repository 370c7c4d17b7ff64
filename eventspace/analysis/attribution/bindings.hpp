// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/bindings.hpp — what each moment of a run waited for.
#pragma once
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "eventspace/analysis/attribution/moments.hpp"

namespace eventspace {

/// The moment for which another moment waited, and what happened between them.
struct Binding {
  Moment before;
  std::uint32_t label = 0;             ///< number of a TimeLabel in Labels
  std::int64_t queued_nanos = 0;       ///< wait behind other messages, at the begin of this time
  std::int64_t transmitted_nanos = 0;  ///< time to send the message's bytes, after the queue
  std::int64_t noise_nanos = 0;        ///< noise, at the end of a computation
};

/// Finds for each moment of a run the moment that it waited for.
///
/// A result passes up above a wrapper after it passed up below it. A join needs all its
/// contributors. A read needs the tuple that it returns. The latest of
/// the moments that must precede a moment is binding. If several are the latest, it is one of the
/// same thread, otherwise one of the same host.
///
/// Requires: `moments` is complete and outlives the object.
/// Source: the rules are those of critical-path analysis of traces (Böhme et al. 2012).
class Bindings : private MomentTypes {
 public:
  /// Returns the part of a computation that is noise, from the operation before it, the operation
  /// after it, and its length.
  using NoiseBetween = std::function<std::int64_t(const ThreadOperation& before,
                                                  const ThreadOperation& after, std::int64_t)>;
  Bindings(const Moments& all, NoiseBetween noise_between)
      : all_(all), noise_between_(std::move(noise_between)) {}

  /// Returns the binding moment, or none for the first moment of a chain. Appends to `considered`
  /// every moment that could have been binding, if it is not nullptr.
  Binding binding_of(Moment moment, std::vector<Moment>* considered = nullptr) const;
  /// Returns the noise in the computation of that length before an operation of a thread.
  std::int64_t noise_before(std::uint32_t thread, std::uint32_t order, std::int64_t nanos) const;
  const Moments& moments() const { return all_; }

 private:
  class Best;

  void bind_down(std::uint32_t pass, Best& best) const;
  void bind_up(std::uint32_t pass, Best& best) const;
  void bind_node(std::uint32_t node, Best& best) const;
  void add_start_of_driver(std::uint32_t pass, const Lane& lane, Best& best) const;
  void add_end_of_schedule(const KeptRound& round, const KeptPass& call, std::uint32_t host,
                           Best& best) const;
  void add_contributors(const KeptRound& round, const Join& join, std::uint32_t label,
                        Best& best) const;
  std::uint32_t bytes_up(const KeptRound& round, const KeptPass& pass) const;
  void add_below(std::uint32_t pass, Best& best) const;
  void add_values_of_check(const KeptRound& round, const HopLabels& labels, Best& best) const;
  void add_earlier_round(const KeptRound& round, const Lane& lane, Best& best) const;
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
