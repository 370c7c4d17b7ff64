// SPDX-License-Identifier: Apache-2.0
// tests/paths/shared_region_test.cpp — operations of the members of a shared region. The members
// are threads of this process.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <system_error>
#include <vector>

#include "base/file_size.hpp"
#include "paths/machine/member.hpp"
#include "runtime/runtime.hpp"
#include "tests/support/environment.hpp"

namespace {

using paths::Member;
using paths::SharedRegion;
using Values = std::vector<double>;
using namespace std::chrono_literals;

/// Exception that ends a member. After one member has ended, the alarms of all other members throw
/// this exception, too.
struct Ended {};

/// Wakes members. sleep() throws an error if no member wakes the caller for a minute.
class Bells {
 public:
  explicit Bells(std::uint32_t members) : rung_(members) {}
  void end() {
    runtime::DeferredWakes wakes;
    const runtime::Lock lock(mutex_);
    has_ended_ = true;
    changed_.wake_all(wakes);
  }
  void ring(std::uint32_t member) {
    runtime::DeferredWakes wakes;
    const runtime::Lock lock(mutex_);
    ++rings_, rung_[member] = true;
    changed_.wake_all(wakes);
  }
  void sleep(const runtime::Runtime& runtime, std::uint32_t member) {
    runtime::Lock lock(mutex_);
    const auto deadline = runtime::Deadline::written_at(runtime.now() + 60s);
    while (!has_ended_ && !rung_[member])
      if (changed_.wait(lock, deadline, {"a bell"}) == runtime::Woken::expired)
        throw std::runtime_error("no member woke this one");
    if (has_ended_) throw Ended();
    rung_[member] = false;
  }
  std::uint64_t rings() const { return rings_; }

 private:
  runtime::Mutex mutex_;
  runtime::WaitList changed_;
  std::vector<bool> rung_;
  std::uint64_t rings_ = 0;
  bool has_ended_ = false;
};

class Bell final : public paths::Alarm {
 public:
  Bell(const runtime::Runtime& runtime, Bells& bells, std::uint32_t me)
      : runtime_(runtime), bells_(bells), me_(me) {}
  void check() override {}
  void sleep(const std::function<std::vector<std::uint32_t>()>&, bool) override {
    bells_.sleep(runtime_, me_);
  }
  void wake(std::uint32_t member) override { bells_.ring(member); }

 private:
  const runtime::Runtime& runtime_;
  Bells& bells_;
  const std::uint32_t me_;
};

/// Runs `work(runtime, member, number)` in a thread for each member, each with a mapping of its
/// own. Returns how often members were woken.
template <class Work>
std::uint64_t in_threads(std::uint32_t members, runtime::Waiting waiting, const Work& work) {
  Bells bells(members);
  const SharedRegion first = SharedRegion::make(members);
  std::vector<std::string> failed(members);
  runtime::Runtime runtime({.waiting = waiting});
  const auto run = [&](std::uint32_t me) {
    try {
      Bell bell(runtime, bells, me);
      Member member(SharedRegion::map(base::Descriptor(dup(first.descriptor().get())), members), me,
                    bell);
      work(runtime, member, me);
      return;
    } catch (const Ended&) {
    } catch (const std::exception& error) {
      failed[me] = error.what();
    }
    bells.end();
  };
  runtime.run([&] {
    std::vector<runtime::Task> tasks;
    for (std::uint32_t me = 0; me < members; ++me)
      tasks.push_back(
          runtime.spawn(runtime::ContextRole::thread, {"member", "", me}, [&, me] { run(me); }));
    for (runtime::Task& task : tasks) task.join();
  });
  for (const std::string& text : failed) {
    INFO(text);
    CHECK(text.empty());
  }
  return bells.rings();
}

/// Throws if `condition` is false, which fails the member's thread. The assertions of Catch2 may be
/// used in one thread only.
void require(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(what);
}

std::span<std::byte> bytes_of(Values& values) { return std::as_writable_bytes(std::span(values)); }

double number_at(std::span<const std::byte> bytes, std::size_t at) {
  double number = 0;
  std::memcpy(&number, &bytes[at], sizeof number);
  return number;
}

void add(std::span<std::byte> into, std::span<const std::span<const std::byte>> values) {
  for (std::size_t at = 0; at < into.size(); at += sizeof(double)) {
    double sum = number_at(values[0], at);
    for (const auto& value : values.subspan(1)) sum += number_at(value, at);
    std::memcpy(&into[at], &sum, sizeof sum);
  }
}

void give(Member& member, std::span<const std::byte> value) {
  if (!value.empty())
    std::memcpy(member.next_value(value.size()).data(), value.data(), value.size());
}

/// Sums the values of all members. Each member sums one part of the vector. Then all members read
/// all parts.
void add_in_shares(Member& member, std::uint32_t me, const Member::Call& call, const Values& in,
                   Values& out) {
  const auto bytes = std::as_bytes(std::span(in));
  give(member, bytes);
  member.exchange(call);
  const auto begin = [&](std::uint32_t number) {
    return in.size() * number / member.members() * sizeof(double);
  };
  const std::size_t at = begin(me), size = begin(me + 1) - at;
  std::vector<std::span<const std::byte>> values;
  for (std::uint32_t other = 0; other < member.members(); ++other)
    values.push_back(member.given(other, bytes.size()).subspan(at, size));
  add(member.result(0, bytes.size()).subspan(at, size), values);
  member.exchange(call);
  if (!bytes.empty()) std::memcpy(out.data(), member.result(1, bytes.size()).data(), bytes.size());
}

/// Value that a member contributes to an operation at an index of the array. A sum of such values
/// depends on the order of summation.
double value_of(std::uint64_t operation, std::uint32_t member, std::size_t index) {
  return 1.0 / static_cast<double>(1 + (operation * 31 + member * 7 + index) % 1009);
}

Values values_of(std::uint64_t operation, std::uint32_t member, std::size_t count) {
  Values values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value_of(operation, member, i);
  return values;
}

/// Posts a value, and reads the values of all members at the root. Returns the number of wrong
/// values.
std::uint64_t wrong_posts(Member& member, const Member::Call& call, std::uint64_t operation,
                          Values& in, std::uint32_t me, std::uint32_t root) {
  std::uint64_t wrong = 0;
  member.post(call, bytes_of(in), root);
  if (me != root) return 0;
  for (std::uint32_t other = 0; other < member.members(); ++other) {
    const Values wanted = values_of(operation, other, in.size());
    const auto posted = member.posted(call, other, in.size() * sizeof(double));
    wrong += !std::ranges::equal(posted, std::as_bytes(std::span(wanted)));
  }
  member.collect();
  return wrong;
}

/// Does random operations with random pauses. All members do the same operations. Returns the
/// number of wrong results.
std::uint64_t do_random_operations(runtime::Runtime& runtime, Member& member, std::uint32_t me,
                                   std::uint64_t seed, std::uint64_t operations) {
  std::mt19937_64 same(seed), own(seed * 1000 + me);
  std::uint64_t wrong = 0;
  for (std::uint64_t operation = 0; operation < operations; ++operation) {
    constexpr std::size_t counts[] = {0, 1, 6, 7, 100, 2048}, a_whole_chunk = 16384;
    const auto root = static_cast<std::uint32_t>(same() % member.members());
    const std::uint64_t kind = same() % 6;
    // Operations of kinds 2 and 4 use slots and posted values, which must be smaller than a chunk.
    const bool is_large = kind != 2 && kind != 4 && same() % 50 == 0;
    const std::size_t count = is_large ? a_whole_chunk : counts[same() % std::size(counts)];
    const std::string text = fmt::format("kind {}", kind);
    const Member::Call call{operation, text};
    if (own() % 64 == 0) runtime.sleep_for(std::chrono::microseconds(own() % 2000));
    Values in = values_of(operation, me, count), out(count, -1);
    Values sum = values_of(operation, 0, count);
    for (std::uint32_t other = 1; other < member.members(); ++other)
      for (std::size_t i = 0; i < count; ++i) sum[i] += value_of(operation, other, i);
    switch (kind) {
      case 0: {
        const bool in_place = operation % 2 == 0;
        member.reduce(call, bytes_of(in), bytes_of(in_place ? in : out), add);
        wrong += (in_place ? in : out) != sum;
        break;
      }
      case 1:
        member.reduce(call, bytes_of(in), me == root ? bytes_of(out) : std::span<std::byte>(), add);
        if (me == root) wrong += out != sum;
        break;
      case 2:
        member.broadcast(call, bytes_of(in), root);
        wrong += in != values_of(operation, root, count);
        break;
      case 3:
        add_in_shares(member, me, call, in, out);
        wrong += out != sum;
        break;
      case 4: wrong += wrong_posts(member, call, operation, in, me, root); break;
      default:
        give(member, bytes_of(in));
        member.exchange(call);
        if (own() % 64 == 0) runtime.sleep_for(std::chrono::microseconds(own() % 200));
        for (std::uint32_t other = 0; other < member.members(); ++other) {
          const Values wanted = values_of(operation, other, count);
          const auto given = member.given(other, count * sizeof(double));
          wrong += !std::ranges::equal(given, std::as_bytes(std::span(wanted)));
        }
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE(
    "shared region: random operations of 2 to 8 members give the bits of a sum from the left") {
  const std::uint32_t members = GENERATE(2, 3, 4, 8);
  const auto waiting = GENERATE(runtime::Waiting::sleep, runtime::Waiting::adaptive);
  CAPTURE(members, waiting == runtime::Waiting::sleep);
  const std::uint64_t operations = test_support::from_environment("PATHS_OPERATIONS", 1000);
  std::atomic<std::uint64_t> wrong = 0;
  in_threads(members, waiting, [&](runtime::Runtime& runtime, Member& member, std::uint32_t me) {
    wrong += do_random_operations(runtime, member, me, members, operations);
  });
  CHECK(wrong == 0);
}

TEST_CASE("shared region: members that sleep are woken by the last one to arrive") {
  const std::uint64_t rings = in_threads(
      4, runtime::Waiting::sleep, [](runtime::Runtime& runtime, Member& member, std::uint32_t me) {
        for (std::uint64_t round = 0; round < 20; ++round) {
          if (me == round % 4) runtime.sleep_for(1ms);
          member.exchange({round, "a barrier"});
          require(member.last_to_arrive() < 4, "a member that does not exist");
        }
      });
  CHECK(rings > 0);
}

TEST_CASE("shared region: the root of broadcasts runs ahead by as many as there are slots") {
  std::atomic<std::uint64_t> given = 0, ahead = 0;
  in_threads(2, runtime::Waiting::sleep,
             [&](runtime::Runtime& runtime, Member& member, std::uint32_t me) {
               Values value(1);
               if (me == 1) {
                 while (given < SharedRegion::slots) runtime.sleep_for(1ms);
                 runtime.sleep_for(20ms);
                 ahead = given.load();
               }
               for (std::uint64_t number = 0; number < 1000; ++number) {
                 value[0] = me == 0 ? static_cast<double>(number) : -1;
                 member.broadcast({number, "broadcast"}, bytes_of(value), 0);
                 if (me == 0) ++given;
                 require(value[0] == static_cast<double>(number), "a wrong value");
               }
             });
  CHECK(ahead == SharedRegion::slots);
}

TEST_CASE("shared region: a member posts as many values ahead of the root as there are places") {
  std::atomic<std::uint64_t> posted = 0, ahead = 0;
  in_threads(2, runtime::Waiting::sleep,
             [&](runtime::Runtime& runtime, Member& member, std::uint32_t me) {
               if (me == 0) {
                 while (posted < SharedRegion::posts) runtime.sleep_for(1ms);
                 runtime.sleep_for(20ms);
                 ahead = posted.load();
               }
               for (std::uint64_t number = 0; number < 1000; ++number) {
                 Values value{static_cast<double>(number)};
                 const Member::Call call{number, "post"};
                 member.post(call, bytes_of(value), 0);
                 if (me == 1) {
                   ++posted;
                   continue;
                 }
                 const auto got = member.posted(call, 1, sizeof(double));
                 require(number_at(got, 0) == value[0], "a wrong value");
                 member.collect();
               }
             });
  CHECK(ahead == SharedRegion::posts);
}

TEST_CASE("shared region: a member that waits for a free place continues when the root has read") {
  std::atomic<std::uint64_t> posted = 0;
  in_threads(2, runtime::Waiting::sleep,
             [&](runtime::Runtime& runtime, Member& member, std::uint32_t me) {
               const auto await = [&](std::uint64_t values) {
                 const auto end = runtime.now() + 30s;
                 while (posted < values && runtime.now() < end) runtime.sleep_for(1ms);
                 require(posted >= values, "the member still waits for a free place");
               };
               for (std::uint64_t number = 0; number < 2 * SharedRegion::posts; ++number) {
                 Values value{static_cast<double>(number)};
                 const Member::Call call{number, "post"};
                 if (me == 0 && number == 0) await(SharedRegion::posts);
                 if (me == 0 && number == 0) runtime.sleep_for(20ms);  // the member sleeps
                 member.post(call, bytes_of(value), 0);
                 if (me == 1) {
                   ++posted;
                   continue;
                 }
                 member.posted(call, 1, sizeof(double));
                 // The post has woken the member, which must sleep again before collect().
                 if (number == SharedRegion::posts / 2) runtime.sleep_for(20ms);
                 member.collect();
                 // The member waits for half of the places. It must continue before the root posts
                 // again.
                 if (number == SharedRegion::posts / 2) await(SharedRegion::posts + 1);
               }
             });
}

TEST_CASE("shared region: a member that calls another operation is named with its call") {
  const bool is_broadcast = GENERATE(false, true);
  std::atomic<int> named = 0;
  in_threads(2, runtime::Waiting::sleep, [&](runtime::Runtime&, Member& member, std::uint32_t me) {
    Values value(1);
    const Member::Call call{me, me == 0 ? "the call of 0" : "the call of 1"};
    try {
      if (is_broadcast) return member.broadcast(call, bytes_of(value), 0);
      member.exchange(call);
      require(false, "the calls differ, but the member passed");
    } catch (const paths::CallsDiffer& differ) {
      require(differ.member() == 1 - me, "the wrong member is named");
      require(differ.what() == fmt::format("the call of {}", 1 - me), "a wrong call");
      ++named;
      throw Ended();
    }
  });
  CHECK(named == 1);
}

TEST_CASE("shared region: memory that is no region of the group is refused") {
  const auto map = [](int descriptor, std::uint32_t members) {
    return SharedRegion::map(base::Descriptor(descriptor), members);
  };
  const SharedRegion two = SharedRegion::make(2);
  CHECK_THROWS_AS(map(dup(two.descriptor().get()), 3), std::system_error);
  CHECK_THROWS_AS(map(-1, 2), std::system_error);
  CHECK_THROWS_AS(map(memfd_create("unsealed", MFD_CLOEXEC), 2), std::system_error);
  base::Descriptor zeros(memfd_create("zeros", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  off_t bytes = lseek(two.descriptor().get(), 0, SEEK_END);
  REQUIRE(base::set_file_size(zeros.get(), static_cast<std::uint64_t>(bytes)));
  REQUIRE(fcntl(zeros.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
  CHECK_THROWS_AS(map(dup(zeros.get()), 2), std::system_error);
  CHECK_NOTHROW(map(dup(two.descriptor().get()), 2));
}
