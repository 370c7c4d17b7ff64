// SPDX-License-Identifier: Apache-2.0
// eventspace/recorder.cpp — ring buffers of records, with one writer and one reader each.
#include "eventspace/recorder.hpp"

#include <pthread.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/errors.hpp"

namespace eventspace {
namespace {

/// Record buffers of this OS thread, indexed by the recorder's number. The table has no
/// constructor. A lookup in the table is therefore fast: the compiler need not check whether a
/// thread-local object was constructed.
struct LaneTable {
  void** lanes = nullptr;
  std::size_t size = 0;
};
constinit thread_local LaneTable own_table;

/// Returns a key whose destructor frees the memory of a thread's table when the thread ends.
/// Why: thread-local objects may add records while they are destroyed, at the end of their thread.
///      The system calls the destructors of keys after it has destroyed all these objects.
pthread_key_t key_of_table() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    const auto free_table = [](void* lanes) {
      delete[] static_cast<void**>(lanes);
      own_table = {};
    };
    ENSURE_EQ(pthread_key_create(&made, free_table), 0);
    return made;
  }();
  return key;
}

void put_into_own_table(std::uint64_t number, void* lane) {
  if (number >= own_table.size) {
    const std::size_t size = std::max<std::size_t>(number + 1, 2 * own_table.size);
    auto lanes = std::make_unique<void*[]>(size);
    std::copy_n(own_table.lanes, own_table.size, lanes.get());
    ENSURE_EQ(pthread_setspecific(key_of_table(), lanes.get()), 0);
    delete[] std::exchange(own_table, {lanes.release(), size}).lanes;
  }
  own_table.lanes[number] = lane;
}

/// Returns a number that is never reused. A thread therefore cannot mistake a record buffer of a
/// destroyed recorder for a record buffer of a new recorder at the same address.
std::uint64_t next_recorder_number() {
  static std::atomic<std::uint64_t> next{0};
  return next.fetch_add(1, std::memory_order_relaxed);
}

/// Holds the lock of Recorder::take() while this object exists. Other take() calls sleep in the
/// kernel until the object is destroyed. They do not spin, because take() may write files and
/// therefore take long.
class Taking {
 public:
  explicit Taking(std::atomic_flag& taken) : taken_(taken) {
    while (taken_.test_and_set(std::memory_order_acquire))
      taken_.wait(true, std::memory_order_relaxed);
  }
  ~Taking() {
    taken_.clear(std::memory_order_release);
    taken_.notify_one();
  }
  Taking(const Taking&) = delete;
  Taking& operator=(const Taking&) = delete;

 private:
  std::atomic_flag& taken_;
};

}  // namespace

/// The record buffer (a ring buffer) of one thread. Fields that the recording thread writes have
/// their own cache line.
struct Recorder::Lane {
  explicit Lane(std::size_t lane_records)
      : capacity(lane_records), ring(std::allocator<EventRecord>().allocate(lane_records)) {}
  ~Lane() { std::allocator<EventRecord>().deallocate(ring, capacity); }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  bool add(const EventRecord& record) {
    const std::uint64_t count = added.load(std::memory_order_relaxed);
    if (count - taken_seen == capacity) {
      taken_seen = taken.load(std::memory_order_acquire);
      if (count - taken_seen == capacity) return false;
    }
    std::construct_at(ring + place, record);
    if (++place == capacity) place = 0;
    added.store(count + 1, std::memory_order_release);
    return true;
  }

  Taken untaken() const {
    const std::uint64_t first = taken.load(std::memory_order_relaxed);
    const std::size_t count = added.load(std::memory_order_acquire) - first;
    const std::size_t begin = first % capacity;
    const std::size_t before_wrap = std::min(count, capacity - begin);
    return {number,
            first,
            dropped.load(std::memory_order_relaxed),
            {std::span<const EventRecord>(ring + begin, before_wrap),
             std::span<const EventRecord>(ring, count - before_wrap)}};
  }

  const std::size_t capacity;
  EventRecord* const ring;
  Lane* older = nullptr;
  std::uint32_t number = 0;
  alignas(64) std::atomic<std::uint64_t> added{0};
  std::uint64_t taken_seen = 0;
  std::size_t place = 0;  ///< index in `ring` of the next record to add
  std::atomic<std::uint64_t> dropped{0};
  alignas(64) std::atomic<std::uint64_t> taken{0};
};

Recorder::Recorder(std::size_t lane_records, WhenFull when_full) {
  reserve(lane_records, when_full);
}

Recorder::~Recorder() {
  for (Lane* lane = newest_.load(); lane != nullptr;) {
    const std::unique_ptr<Lane> gone(lane);
    lane = lane->older;
  }
}

void Recorder::reserve(std::size_t lane_records, WhenFull when_full) {
  ENSURE(newest_.load() == nullptr);
  if (!is_on() && lane_records > 0) number_ = next_recorder_number();
  lane_records_ = lane_records;
  when_full_ = when_full;
}

Recorder::Lane& Recorder::new_lane() {
  auto lane = std::make_unique<Lane>(lane_records_);
  put_into_own_table(number_, lane.get());
  Lane* newest = newest_.load(std::memory_order_acquire);
  do {
    lane->older = newest;
    lane->number = newest == nullptr ? 0 : newest->number + 1;
  } while (!newest_.compare_exchange_weak(newest, lane.get(), std::memory_order_acq_rel));
  return *lane.release();
}

void Recorder::add(const EventRecord& record) {
  if (!is_on()) return;
  void* const known = number_ < own_table.size ? own_table.lanes[number_] : nullptr;
  Lane& lane = known != nullptr ? *static_cast<Lane*>(known) : new_lane();
  if (lane.add(record)) return;
  if (when_full_ == WhenFull::flush && flush_) {
    flush_();
    if (lane.add(record)) return;
  }
  lane.dropped.fetch_add(1, std::memory_order_relaxed);
}

void Recorder::take(const std::function<void(const Taken&)>& consumer) {
  const Taking taking(taking_);
  std::vector<Lane*> lanes;
  for (Lane* lane = newest_.load(std::memory_order_acquire); lane != nullptr; lane = lane->older)
    lanes.push_back(lane);
  std::reverse(lanes.begin(), lanes.end());
  for (Lane* lane : lanes) {
    const Taken taken = lane->untaken();
    consumer(taken);
    lane->taken.store(taken.first + taken.count(), std::memory_order_release);
  }
}

std::uint64_t Recorder::dropped() const {
  std::uint64_t sum = 0;
  for (Lane* lane = newest_.load(std::memory_order_acquire); lane != nullptr; lane = lane->older)
    sum += lane->dropped.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace eventspace
