// SPDX-License-Identifier: Apache-2.0
// eventspace/recorder.hpp — a host's records on their way from those who make them to a file.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "eventspace/record.hpp"

namespace eventspace {

/// What add() does when the records of its OS thread were not taken in time.
enum class WhenFull : std::uint8_t {
  drop,   ///< drops the new record and counts it: recording never holds anybody up
  flush,  ///< calls what on_full() was given, as on the virtual clock, where that takes no time
};

/// Records that many contexts add without locks and one takes away.
///
/// Each OS thread that adds has a lane, a ring nobody else adds to; fibers of one OS thread share
/// it, because none is switched away inside add().
///
/// Why:     Bongo et al. 2004, §III-B: collectors keep records in memory, so that most of the cost
///          is off the critical path.
/// Sharing: add() from any context of any OS thread; take() too, one waits for the other.
/// Owns:    the lanes. A lane's memory is asked for when its thread first adds, and costs what was
///          touched of it, so recorders that are off or idle cost nothing.
/// Throws:  add() throws nothing of its own but std::bad_alloc, on the first record of a thread.
class Recorder {
 public:
  explicit Recorder(std::size_t lane_records = 0, WhenFull when_full = WhenFull::drop);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Turns it on; before the first add(). 0 leaves it off.
  void reserve(std::size_t lane_records, WhenFull when_full = WhenFull::drop);
  bool is_on() const { return lane_records_ > 0; }
  /// Has WhenFull::flush call `flush`, which is to take(); before the first add(). Without it, and
  /// when there is no room afterwards either, records are dropped.
  void on_full(std::function<void()> flush) { flush_ = std::move(flush); }

  void add(const EventRecord& record);

  /// What one OS thread added since the last time. Dropped records have no number.
  struct Taken {
    std::uint32_t lane = 0;
    std::uint64_t first = 0;    ///< number in the lane of the first record
    std::uint64_t dropped = 0;  ///< in this lane so far
    std::array<std::span<const EventRecord>, 2> records;  ///< the second where the ring wraps
    std::size_t count() const { return records[0].size() + records[1].size(); }
  };
  /// Hands over every lane there is, also those with nothing new. The records are only lent: when
  /// the consumer returns they are gone, when it throws they stay. It must not add() or take().
  void take(const std::function<void(const Taken&)>& consumer);

  std::vector<EventRecord> snapshot();  ///< takes everything, lane by lane
  std::uint64_t added() const;          ///< kept, taken or not
  std::uint64_t dropped() const;

 private:
  struct Lane;
  Lane& new_lane();

  std::size_t lane_records_ = 0;
  WhenFull when_full_ = WhenFull::drop;
  std::uint64_t number_ = 0;  ///< of this recorder in the process: where threads look for a lane
  std::atomic<Lane*> newest_{nullptr};
  std::atomic_flag taking_;
  std::function<void()> flush_;
};

}  // namespace eventspace
