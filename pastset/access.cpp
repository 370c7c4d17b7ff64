// SPDX-License-Identifier: Apache-2.0
// pastset/access.cpp — state of a started read or move
#include "pastset/access.hpp"

#include <utility>

#include "pastset/element.hpp"

namespace pastset {
namespace {

struct StartedAccess final : Access, runtime::Completion, runtime::Pending<Stored> {
  StartedAccess(Element& of, Kind which, std::uint64_t from, base::Payload moved)
      : Access(which, from, std::move(moved)), element(of), asked(from) {}

  void notify() noexcept override {
    const std::shared_ptr<StartedAccess> mine = std::move(self);
    complete();
  }
  runtime::Completion& completion() override { return *this; }
  std::string text() const override { return "the outcome of an access of an element"; }
  Stored take(runtime::Deadline deadline) override {
    if (!done()) {  // after the end of the operation the element may not exist any more
      const runtime::Reason reason{"a started access of element", element.name(), asked};
      if (!wait(deadline, reason)) {
        std::string late;
        if (withdraw(&late)) throw DeadlinePassed(late);
        wait(runtime::Deadline::never(), reason);  // cancel() failed: notify() follows soon
      }
    }
    if (error) std::rethrow_exception(error);
    return {number, std::move(tuple)};
  }
  bool cancel() override { return withdraw(nullptr); }
  bool withdraw(std::string* lateness) {
    if (done() || is_cancelled || !element.cancel(*this, lateness)) return false;
    is_cancelled = true;
    self = nullptr;
    return true;
  }
  void drop() noexcept override { cancel(); }

  Element& element;
  const std::uint64_t asked;  // copy, because the element may change `number` while it waits
  bool is_cancelled = false;
  std::shared_ptr<StartedAccess> self;  // keeps this object alive while the element owns it
};

}  // namespace

runtime::Handle<Stored> start_access(Element& element, Access::Kind kind, std::uint64_t number,
                                     base::Payload moved) {
  const auto started = std::make_shared<StartedAccess>(element, kind, number, std::move(moved));
  started->self = started;
  element.begin(*started);
  return runtime::Handle<Stored>(started);
}

runtime::Handle<Stored> start_move(Element& element, base::Payload payload) {
  return start_access(element, Access::Kind::move, 0, std::move(payload));
}

runtime::Handle<Stored> start_observe(Element& element) {
  return start_access(element, Access::Kind::observe);
}

runtime::Handle<Stored> start_observe(Element& element, std::uint64_t number) {
  return start_access(element, Access::Kind::observe_number, number);
}

runtime::Handle<Stored> start_newest(Element& element, std::uint64_t from) {
  return start_access(element, Access::Kind::newest, from);
}

}  // namespace pastset
