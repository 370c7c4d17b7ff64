// SPDX-License-Identifier: Apache-2.0
// tests/pastset/element_model_test.cpp — both kinds of elements against one that is obviously
// right.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "pastset/local_element.hpp"
#include "pastset/shared_space.hpp"
#include "runtime/random.hpp"
#include "runtime/runtime.hpp"

using base::Payload;
using pastset::Access;
using pastset::Element;
using pastset::ElementOptions;
using pastset::StartedAccess;
using pastset::Template;

namespace {

const Template any_bytes = *Template::parse("bytes");

/// What came of an operation, as text: "12 abc", "expired", "".
using Outcome = std::string;

std::string letters(std::uint64_t value, std::size_t size) {
  std::string text = std::to_string(value) + ":";
  text.resize(std::max(size, text.size()), static_cast<char>('a' + value % 26));
  return text;
}

/// A tuple of small or large size, which its value says.
Payload tuple_of(const std::string& text) {
  const auto length = static_cast<std::uint32_t>(text.size());
  std::vector<std::byte> bytes(sizeof length + text.size());
  std::memcpy(bytes.data(), &length, sizeof length);
  std::memcpy(bytes.data() + sizeof length, text.data(), text.size());
  return Payload::copy_of(bytes);
}

Outcome outcome_of(const pastset::Stored& stored) {
  const auto bytes = stored.payload.bytes().subspan(sizeof(std::uint32_t));
  return std::to_string(stored.number) + " " +
         std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

template <class Act>
Outcome outcome(Act act) {
  try {
    return act();
  } catch (const pastset::Deleted&) {
    return "deleted";
  } catch (const pastset::Expired&) {
    return "expired";
  } catch (const pastset::Marked& mark) {
    return std::string("marked ") + mark.what();
  }
}

/// PastSet in the fewest words: after each step all that can happen happens, movers first come
/// first served, readers in their order.
class Model {
 public:
  explicit Model(const ElementOptions& options)
      : delta_(options.delta), keep_newest_(options.keep_newest) {}

  struct Begun {
    Access::Kind kind;
    std::uint64_t number = 0;
    std::string moved = {};
    std::optional<Outcome> ended = {};
  };

  void begin(Begun& begun) {
    if (deleted_) {
      begun.ended = "deleted";
      return;
    }
    if (begun.kind == Access::Kind::move && movers_.empty() && has_room()) {
      append(begun);
    } else if (begun.kind == Access::Kind::move) {
      movers_.push_back(&begun);
    } else if (!serve(begun)) {
      if (mark_)
        begun.ended = "marked " + *mark_;
      else
        readers_.push_back(&begun);
    }
    settle();
  }
  bool cancel(Begun& begun) {
    if (begun.ended) return false;
    std::erase(readers_, &begun);
    std::erase(movers_, &begun);
    return true;
  }
  Outcome try_read(Access::Kind kind) {
    Begun once{kind};
    if (deleted_) return "deleted";
    const bool is_there = serve(once);
    settle();
    return is_there ? *once.ended : "";
  }
  void set_delta(std::uint64_t delta) {
    delta_ = delta;
    settle();
  }
  void axe(std::uint64_t number) {
    while (oldest_ < first_ && oldest_ <= number) drop();
  }
  void mark(const std::string& error) {
    if (!mark_) mark_ = error;
    for (Begun* reader : readers_) reader->ended = "marked " + *mark_;
    readers_.clear();
  }
  void end() {
    deleted_ = true;
    for (auto* all : {&readers_, &movers_}) {
      for (Begun* one : *all) one->ended = "deleted";
      all->clear();
    }
  }
  Outcome numbers() const {
    if (deleted_) return "deleted";
    return std::to_string(first_) + " " + std::to_string(last()) + " " + std::to_string(delta_);
  }

 private:
  std::uint64_t last() const { return oldest_ + kept_.size(); }
  bool has_room() const { return keep_newest_ > 0 || delta_ == 0 || last() - first_ < delta_; }
  void drop() {
    kept_.pop_front();
    first_ = std::max(first_, ++oldest_);
  }
  void append(Begun& begun) {
    kept_.push_back(begun.moved);
    begun.ended = std::to_string(last() - 1);
    if (keep_newest_ > 0 && kept_.size() > keep_newest_) drop();
  }
  Outcome tuple(std::uint64_t number) const {
    return std::to_string(number) + " " + kept_[number - oldest_];
  }
  bool serve(Begun& begun) {
    if (begun.kind == Access::Kind::observe) {
      if (first_ == last()) return false;
      begun.ended = tuple(first_++);
    } else if (begun.kind == Access::Kind::observe_number) {
      if (begun.number >= last()) return false;
      begun.ended = begun.number < oldest_ ? "expired" : tuple(begun.number);
    } else {
      if (kept_.empty() || begun.number >= last()) return false;
      begun.ended = tuple(last() - 1);
    }
    return true;
  }
  void settle() {
    for (bool again = true; std::exchange(again, false);) {
      for (; !movers_.empty() && has_room(); movers_.pop_front(), again = true)
        append(*movers_.front());
      for (std::size_t i = 0; i < readers_.size();)
        if (serve(*readers_[i])) {
          readers_.erase(readers_.begin() + static_cast<std::ptrdiff_t>(i));
          again = true;
          while (!movers_.empty() && has_room()) {
            append(*movers_.front());
            movers_.pop_front();
          }
        } else {
          ++i;
        }
    }
  }

  std::deque<std::string> kept_;
  std::uint64_t oldest_ = 0, first_ = 0, delta_;
  const std::uint64_t keep_newest_;
  std::deque<Begun*> movers_, readers_;
  std::optional<std::string> mark_;
  bool deleted_ = false;
};

/// An element and the model, which are told the same.
class Pair {
 public:
  Pair(Element& element, const ElementOptions& options, std::uint64_t seed)
      : element_(element), model_(options), random_(seed) {}

  void step() {
    const std::uint64_t dice = random_.below(1000);
    if (dice < 350) {
      begin(Access::Kind::move);
    } else if (dice < 550) {
      begin(Access::Kind::observe);
    } else if (dice < 620) {
      begin(Access::Kind::observe_number);
    } else if (dice < 680) {
      begin(Access::Kind::newest);
    } else if (dice < 760) {
      same([&] { return shown(element_.try_observe()); }, model_.try_read(Access::Kind::observe));
    } else if (dice < 800) {
      same([&] { return shown(element_.try_newest()); }, model_.try_read(Access::Kind::newest));
    } else if (dice < 900) {
      const std::uint64_t number = near();
      same([&] { return element_.axe(number), std::string(); }, is_deleted_ ? "deleted" : "");
      if (!is_deleted_) model_.axe(number);
    } else if (dice < 930) {
      const std::uint64_t delta = random_.below(5);
      same([&] { return element_.set_delta(delta), std::string(); }, is_deleted_ ? "deleted" : "");
      if (!is_deleted_) model_.set_delta(delta);
    } else if (dice < 998 || steps_ < 300) {
      cancel_one();
    } else if (dice < 999) {
      same([&] { return element_.mark_error("broken"), std::string(); },
           is_deleted_ ? "deleted" : "");
      if (!is_deleted_) model_.mark("broken");
    } else {
      element_.delete_element();
      model_.end();
      is_deleted_ = true;
    }
    ++steps_;
    compare();
  }

 private:
  struct Both {
    Model::Begun model;
    StartedAccess real;
  };

  static Outcome shown(const std::optional<pastset::Stored>& stored) {
    return stored ? outcome_of(*stored) : "";
  }
  template <class Act>
  void same(Act act, const Outcome& expected) {
    const Outcome found = outcome(act);
    if (found != expected) FAIL("step " << steps_ << ": " << found << ", not " << expected);
  }
  std::uint64_t near() {
    const std::uint64_t last = is_deleted_ ? 0 : element_.last();
    return last + random_.below(5) - std::min<std::uint64_t>(last, 3);
  }
  void begin(Access::Kind kind) {
    if (begun_.size() > 24) return;
    Both& both = begun_.emplace_back();
    both.model.kind = kind;
    if (kind == Access::Kind::move) {
      both.model.moved = letters(moved_++, random_.chance(0.5) ? 8 : random_.below(600));
      both.real = element_.start_move(tuple_of(both.model.moved));
    } else if (kind == Access::Kind::observe) {
      both.real = element_.start_observe();
    } else {
      both.model.number = near();
      both.real = kind == Access::Kind::newest ? element_.start_newest(both.model.number)
                                               : element_.start_observe(both.model.number);
    }
    model_.begin(both.model);
  }
  void cancel_one() {
    if (begun_.empty()) return;
    const auto chosen =
        std::next(begun_.begin(), static_cast<std::ptrdiff_t>(random_.below(begun_.size())));
    const bool could = model_.cancel(chosen->model);
    if (could != chosen->real.cancel()) FAIL("step " << steps_ << ": cancel");
    if (could) begun_.erase(chosen);
  }
  void compare() {
    same(
        [&] {
          return std::to_string(element_.first()) + " " + std::to_string(element_.last()) + " " +
                 std::to_string(element_.delta());
        },
        model_.numbers());
    for (auto at = begun_.begin(); at != begun_.end();) {
      Both& both = *at;
      if (both.model.ended.has_value() != both.real.completion()->done())
        FAIL("step " << steps_ << ": " << both.model.ended.value_or("waits in the model")
                     << (both.model.ended ? " in the model, the element waits" : ""));
      if (!both.model.ended) {
        ++at;
        continue;
      }
      const bool is_move = both.model.kind == Access::Kind::move;
      same(
          [&] {
            const pastset::Stored got = both.real.take();
            return is_move ? std::to_string(got.number) : outcome_of(got);
          },
          *both.model.ended);
      at = begun_.erase(at);
    }
  }

  Element& element_;
  Model model_;
  runtime::Random random_;
  std::list<Both> begun_;  // the model points at them
  std::uint64_t steps_ = 0, moved_ = 0;
  bool is_deleted_ = false;
};

using WithElement = std::function<void(Element&)>;

void with_local(const ElementOptions& options, const WithElement& act) {
  pastset::LocalElement element("e", any_bytes, options);
  act(element);
}

void with_shared(const ElementOptions& options, const WithElement& act) {
  const auto space = pastset::SharedSpace::make("model-" + std::to_string(getpid()));
  act(*space->enter("e", any_bytes, options, {.slots = 4096, .arena_bytes = 4 << 20}));
}

std::uint64_t seeds() {
  const char* const wanted = std::getenv("PATHS_SEEDS");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 60;
}

}  // namespace

TEST_CASE("element: whatever is done to one of either kind, it does what the model does") {
  const bool is_shared = GENERATE(false, true);
  const ElementOptions options =
      GENERATE(ElementOptions{}, ElementOptions{.delta = 1}, ElementOptions{.delta = 3},
               ElementOptions{.keep_newest = 1}, ElementOptions{.keep_newest = 5});
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    INFO((is_shared ? "shared" : "local")
         << ", delta " << options.delta << ", keeps " << options.keep_newest << ", seed " << seed);
    (is_shared ? with_shared : with_local)(options, [&](Element& element) {
      Pair pair(element, options, seed);
      for (int step = 0; step < 1000; ++step) pair.step();
      CHECK(element.name() == "e");
    });
  }
}
