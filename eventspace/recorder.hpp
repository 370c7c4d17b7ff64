// SPDX-License-Identifier: Apache-2.0
// eventspace/recorder.hpp — lock-free collection of a host's event records.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "eventspace/record.hpp"

namespace eventspace {

/// Action of Recorder::add() if the record buffer of the calling OS thread is full.
enum class WhenFull : std::uint8_t {
  drop,   ///< drops the new record and counts it, so recording never blocks a thread
  flush,  ///< calls the function set by on_full(); takes no time on the virtual clock
};

/// Collects records from many threads without locks, until one consumer takes them.
///
/// Each OS thread that adds records has its own record buffer (`Lane`), a ring buffer with one
/// writer. Fibers of one OS thread share its record buffer. They can do so because no switch
/// between fibers happens inside add().
///
/// Why:         Event collectors (wrappers that record operations) only store records in memory.
///              Most of the cost of recording is therefore off the critical path.
/// Owns:        The record buffers. The first add() of a thread reserves its record buffer. Only
///              touched pages of a buffer use memory, so recorders that are off or idle cost
///              nothing.
/// Thread-safe: Any fiber and any OS thread may call add(). Concurrent take() calls wait for each
///              other.
/// Throws:      add() itself throws only std::bad_alloc, and only on the first record of a thread.
/// Paper:       Bongo et al. 2004, §III-B.
class Recorder {
 public:
  explicit Recorder(std::size_t lane_records = 0, WhenFull when_full = WhenFull::drop);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Sets the size of record buffers, in records. 0 leaves the recorder off. Requires: add() was
  /// not called yet.
  void reserve(std::size_t lane_records, WhenFull when_full = WhenFull::drop);
  bool is_on() const { return lane_records_ > 0; }
  /// Sets the function that add() calls when a record buffer is full, with WhenFull::flush. The
  /// function must call take(). If there is no function, or if the buffer still has no room after
  /// the call, add() drops the record. Requires: no concurrent add().
  void on_full(std::function<void()> flush) { flush_ = std::move(flush); }

  void add(const EventRecord& record);

  /// Records that one OS thread added since the previous take(). Each record has a number in its
  /// record buffer, from 0. Dropped records have no number.
  struct Taken {
    std::uint32_t lane = 0;
    std::uint64_t first = 0;    ///< number of the first record in `records`
    std::uint64_t dropped = 0;  ///< number of records that this record buffer has dropped so far
    std::array<std::span<const EventRecord>, 2> records;  ///< second span: from the ring's begin
    std::size_t count() const { return records[0].size() + records[1].size(); }
  };
  /// Calls `consumer` for each record buffer, even if the buffer has no new records. The spans are
  /// valid only during the call. If `consumer` returns, its records are removed. If it throws, they
  /// remain in the buffer.
  /// Requires: `consumer` calls neither add() nor take().
  void take(const std::function<void(const Taken&)>& consumer);

  std::uint64_t dropped() const;

 private:
  struct Lane;
  Lane& new_lane();

  std::size_t lane_records_ = 0;
  WhenFull when_full_ = WhenFull::drop;
  std::uint64_t number_ = 0;  ///< index of this recorder in each thread's LaneTable; never reused
  std::atomic<Lane*> newest_{nullptr};
  std::atomic_flag taking_;
  std::function<void()> flush_;
};

}  // namespace eventspace
