// SPDX-License-Identifier: Apache-2.0
// tests/pastset/element_model.hpp — reference model of an element, and comparisons of elements with
// it.
#pragma once
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "pastset/element.hpp"
#include "runtime/random.hpp"

namespace element_model {

using base::Payload;
using pastset::Access;
using pastset::Element;
using pastset::ElementOptions;
using pastset::Template;

inline const Template any_bytes = *Template::parse("bytes");

/// Result of an operation as text, such as "12 abc" (tuple 12 has the text abc), "expired", or ""
/// if there is no result.
using Outcome = std::string;

inline std::string letters(std::uint64_t value, std::size_t size) {
  std::string text = std::to_string(value) + ":";
  text.resize(std::max(size, text.size()), static_cast<char>('a' + value % 26));
  return text;
}

/// Returns a tuple with this text. If its size is even, the tuple is written directly to the
/// element's memory.
inline Payload tuple_of(const std::string& text, Element& element) {
  const auto length = static_cast<std::uint32_t>(text.size());
  const std::size_t size = sizeof length + text.size();
  const bool is_there = size % 2 == 0 && !element.is_deleted();
  base::Buffer bytes = is_there ? element.buffer(size) : base::Buffer(size);
  std::memcpy(bytes.bytes().data(), &length, sizeof length);
  std::memcpy(bytes.bytes().data() + sizeof length, text.data(), text.size());
  return std::move(bytes).freeze();
}

/// Size in bytes of the arena of shared elements. The arena has room for all tuples of a test.
inline constexpr std::uint64_t arena_bytes = 1 << 20;
/// Returns a random size of a text. A shared element stores tuples of these sizes in three ways: in
/// their slot, in shared extents, or in extents of their own.
inline std::size_t some_size(runtime::Random& random) {
  const std::uint64_t dice = random.below(100);
  if (dice < 50) return 8;
  if (dice < 95) return random.below(600);
  return 14'000 + random.below(6'000);
}
inline constexpr std::size_t text_bytes_max = 20'020;

inline Outcome outcome_of(const pastset::Stored& stored) {
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

/// Simplest possible element, without concurrency. After each step, it completes all accesses that
/// can complete: first moves, then reads, each in order of arrival.
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

  std::uint64_t last() const { return deleted_ ? 0 : oldest_ + kept_.size(); }
  bool is_deleted() const { return deleted_; }

 private:
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

/// Element that is compared with the model. Its accesses come from one process or from several.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual void begin(std::uint64_t id, const Model::Begun& begun) = 0;
  virtual bool cancel(std::uint64_t id) = 0;
  /// Returns whether the access has ended. `is_due` is true if the same access has ended in the
  /// model.
  virtual bool is_done(std::uint64_t id, bool is_due) = 0;
  virtual Outcome take(std::uint64_t id) = 0;
  enum class AtOnce : std::uint8_t { observe, newest, axe, set_delta, mark, end, numbers };
  virtual Outcome do_at_once(AtOnce what, std::uint64_t number) = 0;
};

class InThisProcess final : public Subject {
 public:
  explicit InThisProcess(Element& element) : element_(element) {}
  void begin(std::uint64_t id, const Model::Begun& begun) override {
    is_move_[id] = begun.kind == Access::Kind::move;
    begun_[id] = pastset::start_access(
        element_, begun.kind, begun.number,
        begun.kind == Access::Kind::move ? tuple_of(begun.moved, element_) : Payload());
  }
  bool cancel(std::uint64_t id) override { return begun_.at(id).cancel(); }
  bool is_done(std::uint64_t id, bool) override { return begun_.at(id).done(); }
  Outcome take(std::uint64_t id) override {
    return outcome([&] {
      const pastset::Stored got = begun_.at(id).wait();
      return is_move_[id] ? std::to_string(got.number) : outcome_of(got);
    });
  }
  Outcome do_at_once(AtOnce what, std::uint64_t number) override {
    const auto shown = [](const std::optional<pastset::Stored>& stored) {
      return stored ? outcome_of(*stored) : Outcome();
    };
    return outcome([&] {
      switch (what) {
        case AtOnce::observe: return shown(element_.try_observe());
        case AtOnce::newest: return shown(element_.try_newest());
        case AtOnce::axe: element_.axe(number); return Outcome();
        case AtOnce::set_delta: element_.set_delta(number); return Outcome();
        case AtOnce::mark: element_.mark_error("broken"); return Outcome();
        case AtOnce::end: element_.delete_element(); return Outcome();
        case AtOnce::numbers: break;
      }
      return std::to_string(element_.first()) + " " + std::to_string(element_.last()) + " " +
             std::to_string(element_.delta());
    });
  }

 private:
  Element& element_;
  std::map<std::uint64_t, runtime::Handle<pastset::Stored>> begun_;
  std::map<std::uint64_t, bool> is_move_;
};

/// An element (the subject) and the model. Each operation is applied to both, and the outcomes are
/// compared.
class Pair {
 public:
  Pair(Subject& subject, const ElementOptions& options, std::uint64_t seed)
      : subject_(subject), model_(options), random_(seed) {}

  void step() {
    using AtOnce = Subject::AtOnce;
    const Outcome nothing = model_.is_deleted() ? "deleted" : "";
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
      same(AtOnce::observe, 0, model_.try_read(Access::Kind::observe));
    } else if (dice < 800) {
      same(AtOnce::newest, 0, model_.try_read(Access::Kind::newest));
    } else if (dice < 900) {
      const std::uint64_t number = near();
      same(AtOnce::axe, number, nothing);
      if (nothing.empty()) model_.axe(number);
    } else if (dice < 930) {
      const std::uint64_t delta = random_.below(5);
      same(AtOnce::set_delta, delta, nothing);
      if (nothing.empty()) model_.set_delta(delta);
    } else if (dice < 998 || steps_ < 300) {
      cancel_one();
    } else if (dice < 999) {
      same(AtOnce::mark, 0, nothing);
      if (nothing.empty()) model_.mark("broken");
    } else {
      same(AtOnce::end, 0, "");
      model_.end();
    }
    ++steps_;
    compare();
  }

 private:
  struct Both {
    Model::Begun model;
    std::uint64_t id;
  };

  void expect(const Outcome& found, const Outcome& expected) {
    if (found != expected) FAIL("step " << steps_ << ": " << found << ", not " << expected);
  }
  void same(Subject::AtOnce what, std::uint64_t number, const Outcome& expected) {
    expect(subject_.do_at_once(what, number), expected);
  }
  std::uint64_t near() {
    return model_.last() + random_.below(5) - std::min<std::uint64_t>(model_.last(), 3);
  }
  void begin(Access::Kind kind) {
    if (begun_.size() > 24) return;
    Both& both = begun_.emplace_back();
    both.id = ids_++;
    both.model.kind = kind;
    if (kind == Access::Kind::move)
      both.model.moved = letters(both.id, some_size(random_));
    else if (kind != Access::Kind::observe)
      both.model.number = near();
    subject_.begin(both.id, both.model);
    model_.begin(both.model);
  }
  void cancel_one() {
    if (begun_.empty()) return;
    const auto chosen =
        std::next(begun_.begin(), static_cast<std::ptrdiff_t>(random_.below(begun_.size())));
    const bool could = model_.cancel(chosen->model);
    if (could != subject_.cancel(chosen->id)) FAIL("step " << steps_ << ": cancel");
    if (could) begun_.erase(chosen);
  }
  void compare() {
    for (auto at = begun_.begin(); at != begun_.end();) {
      const std::optional<Outcome>& ended = at->model.ended;
      if (ended.has_value() != subject_.is_done(at->id, ended.has_value()))
        FAIL("step " << steps_ << ": " << ended.value_or("waits in the model")
                     << (ended ? " in the model, the element waits" : ""));
      if (!ended) {
        ++at;
        continue;
      }
      expect(subject_.take(at->id), *ended);
      at = begun_.erase(at);
    }
    same(Subject::AtOnce::numbers, 0, model_.numbers());
  }

  Subject& subject_;
  Model model_;
  runtime::Random random_;
  std::list<Both> begun_;  // a list, because the model keeps pointers to these objects
  std::uint64_t steps_ = 0, ids_ = 0;
};

/// Returns the options that change how elements behave, one per run of the test case.
inline auto all_options() {
  return GENERATE(ElementOptions{}, ElementOptions{.delta = 1}, ElementOptions{.delta = 3},
                  ElementOptions{.keep_newest = 1}, ElementOptions{.keep_newest = 5});
}

}  // namespace element_model
