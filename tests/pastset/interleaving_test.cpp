// SPDX-License-Identifier: Apache-2.0
// tests/pastset/interleaving_test.cpp — random interleavings that must not lose, duplicate or
// reorder tuples.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>

#include "pastset/local_element.hpp"
#include "runtime/random.hpp"
#include "runtime/runtime.hpp"
#include "tests/support/clocks.hpp"

using base::Payload;
using pastset::LocalElement;
using pastset::Template;
using runtime::ClockKind;
using runtime::Deadline;
using runtime::Random;
using runtime::Runtime;
using runtime::Task;

namespace {

const Template two_numbers = *Template::parse("u64, u64");

struct Tuple {
  std::uint64_t mover;
  std::uint64_t count;
  friend bool operator==(const Tuple&, const Tuple&) = default;
};

struct Moved {
  std::uint64_t called;  // number of earlier calls of move(); 0 = an observed tuple
  std::uint64_t number;
  Tuple tuple;
};

/// Several movers and observers of one element, whose limit of unobserved tuples (delta) keeps
/// changing. Each context records the tuples that it saw in a vector of its own. The vectors are
/// compared after all contexts have ended.
class Interleaving {
 public:
  Interleaving(ClockKind clock, std::uint64_t seed)
      : seed_(seed), runtime_({.clock = clock}), random_(seed) {
    moved_.resize(static_cast<std::size_t>(random_.between(1, 6)));
    observed_.resize(static_cast<std::size_t>(random_.between(1, 6)));
    each_ = static_cast<std::uint64_t>(random_.between(1, 60));
    unclaimed_ = static_cast<std::int64_t>(moved_.size() * each_);
  }

  void run() {
    runtime_.run([this] {
      std::vector<Task> tasks;
      for (std::size_t i = 0; i < moved_.size(); ++i) start(tasks, [this, i] { move(i); });
      for (std::size_t i = 0; i < observed_.size(); ++i) start(tasks, [this, i] { observe(i); });
      start(tasks, [this] { change_delta(); });
      for (Task& task : tasks) task.join();
      first_ = element_.first();
      last_ = element_.last();
      for (std::uint64_t n = 0; n < last_; ++n) log_.push_back(read(element_.observe(n)));
    });
  }

  void check() const {
    const std::uint64_t total = moved_.size() * each_;
    CHECK(first_ == total);
    REQUIRE(last_ == total);
    check_moved();
    std::vector<std::uint64_t> numbers;
    for (const auto& observer : observed_) {
      CHECK(std::is_sorted(observer.begin(), observer.end(),
                           [](const Moved& a, const Moved& b) { return a.number < b.number; }));
      for (const Moved& each : observer) {
        numbers.push_back(each.number);
        if (log_[each.number] != each.tuple) FAIL("tuple " << each.number << " is another");
      }
    }
    std::sort(numbers.begin(), numbers.end());
    REQUIRE(numbers.size() == total);
    for (std::uint64_t i = 0; i < total; ++i) {
      if (numbers[i] != i) FAIL("tuple " << i << " was lost or observed twice");
    }
  }

 private:
  static Tuple read(const pastset::Stored& stored) { return stored.payload.read<Tuple>(); }

  void start(std::vector<Task>& tasks, std::function<void()> work) {
    tasks.push_back(runtime_.spawn(runtime::ContextRole::thread, {"thread", "t", tasks.size()},
                                   std::move(work)));
  }

  /// Sleeps for a random time. On the virtual clock this changes the order of contexts. On the
  /// steady clock the kernel changes their order.
  void pause(Random& random) {
    if (runtime_.is_virtual()) runtime_.sleep_for(runtime::Nanos(random.between(0, 20)));
  }

  /// Returns an early deadline at random, so that some calls time out and are repeated.
  Deadline patience(Random& random) const {
    if (!random.chance(0.3)) return Deadline::never();
    return Deadline::written_at(runtime_.now() + runtime::Nanos(random.between(0, 30)));
  }

  void move(std::size_t which) {
    Random random(seed_, 1 + which);
    for (std::uint64_t count = 0; count < each_;) {
      pause(random);
      const Tuple tuple{which, count};
      const Deadline deadline = patience(random);
      const std::uint64_t called = calls_++;
      try {
        const std::uint64_t number = element_.move(Payload::of(tuple), deadline);
        moved_[which].push_back({called, number, tuple});
        ++count;
      } catch (const pastset::DeadlinePassed&) {
      }
    }
  }

  void observe(std::size_t which) {
    Random random(seed_, 101 + which);
    while (unclaimed_-- > 0) {
      for (bool done = false; !done;) {
        pause(random);
        try {
          const pastset::Stored stored = element_.observe(patience(random));
          observed_[which].push_back({0, stored.number, read(stored)});
          done = true;
        } catch (const pastset::DeadlinePassed&) {
        }
      }
    }
  }

  void change_delta() {
    Random random(seed_, 1001);
    for (int i = 0; i < 100; ++i) {
      pause(random);
      element_.set_delta(random.below(5));
    }
  }

  void check_moved() const {
    std::vector<Moved> all;
    for (const auto& mover : moved_) all.insert(all.end(), mover.begin(), mover.end());
    for (const Moved& each : all) {
      if (log_[each.number] != each.tuple) FAIL("tuple " << each.number << " is another");
    }
    const auto by_number = [](const Moved& a, const Moved& b) { return a.number < b.number; };
    std::sort(all.begin(), all.end(), by_number);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].number != i) FAIL("number " << i << " was given to no move, or to two");
      const bool in_order = i == 0 || all[i - 1].called < all[i].called;
      if (runtime_.is_virtual() && !in_order) FAIL("tuple " << i << " overtook the one before");
    }
    for (const auto& mover : moved_) CHECK(std::is_sorted(mover.begin(), mover.end(), by_number));
  }

  const std::uint64_t seed_;
  Runtime runtime_;
  Random random_;
  LocalElement element_{"e", two_numbers, {.delta = 2}};
  std::uint64_t each_ = 0;
  std::atomic<std::uint64_t> calls_ = 0;
  std::atomic<std::int64_t> unclaimed_ = 0;
  std::vector<std::vector<Moved>> moved_;
  std::vector<std::vector<Moved>> observed_;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
  std::vector<Tuple> log_;
};

void check_seeds(ClockKind clock, std::uint64_t count) {
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    INFO("seed " << seed);
    Interleaving interleaving(clock, seed);
    interleaving.run();
    interleaving.check();
  }
}

}  // namespace

TEST_CASE("element: no interleaving loses or duplicates or reorders tuples on the virtual clock") {
  check_seeds(ClockKind::virtual_time, 300);
}

TEST_CASE("element: no interleaving loses or duplicates or reorders tuples between OS threads") {
  check_seeds(ClockKind::steady, 30);
}

TEST_CASE("element: deletion ends the work of all OS threads") {
  for (int repetition = 0; repetition < 20; ++repetition) {
    std::atomic<int> told = 0;
    test_support::on_steady_clock([&](Runtime& runtime) {
      LocalElement element("e", two_numbers, {.delta = 3});
      std::vector<Task> tasks;
      const auto start = [&](std::function<void()> again) {
        tasks.push_back(runtime.spawn(runtime::ContextRole::thread, {"thread", "t", tasks.size()},
                                      [&told, again] {
                                        try {
                                          while (true) again();
                                        } catch (const pastset::Deleted&) {
                                          ++told;
                                        }
                                      }));
      };
      for (int i = 0; i < 3; ++i) start([&] { element.move(Payload::of(Tuple{})); });
      for (int i = 0; i < 2; ++i) start([&] { element.observe(); });
      start([&] { element.newest(element.last()); });
      element.observe(50);
      element.delete_element();
      for (Task& task : tasks) task.join();
    });
    CHECK(told == 6);
  }
}
