// SPDX-License-Identifier: Apache-2.0
// pastset/local_element.hpp — an element in the memory of this process
#pragma once
#include <cstdint>
#include <exception>
#include <optional>
#include <string>

#include "base/payload.hpp"
#include "base/ring.hpp"
#include "pastset/element.hpp"
#include "pastset/waiters.hpp"
#include "runtime/wait.hpp"

namespace pastset {

/// An element whose tuples are payloads in this process, shared with their writers and readers.
class LocalElement final : public Element {
 public:
  LocalElement(std::string name, Template tuple_template, ElementOptions options = {});
  /// Fails every waiting access with Deleted.
  /// Requires: no OS thread or fiber is blocked in the element and no AnyChange watches it.
  ~LocalElement() override;

  using Element::move;
  using Element::newest;
  using Element::observe;
  std::uint64_t move(const base::Payload& payload, runtime::Deadline deadline) override;
  bool never_keeps_movers() const override { return keep_newest_ > 0 && !x_function_.in; }
  bool runs_x_functions() const override { return x_function_.in || x_function_.out; }
  Stored observe(runtime::Deadline deadline) override;
  Stored observe(std::uint64_t number, runtime::Deadline deadline) override;
  Stored newest(std::uint64_t from, runtime::Deadline deadline) override;
  void begin(Access& access) override;
  bool cancel(Access& access) override;
  std::string lateness(const Access& access) const override;
  std::optional<Stored> try_observe() override;
  std::optional<Stored> try_newest() const override;
  std::uint64_t first() const override;
  std::uint64_t last() const override;
  std::uint64_t delta() const override;
  void set_delta(std::uint64_t delta) override;
  void axe(std::uint64_t number) override;
  void delete_element() override;
  bool is_deleted() const override;
  void mark_error(const ErrorMark& mark) override;
  std::optional<ErrorMark> error_mark() const override;

 private:
  friend class StartedReads;
  std::uint64_t next_number() const { return oldest_ + kept_.size(); }
  bool has_room() const;
  bool has_unobserved() const { return first_ < next_number(); }
  bool has(std::uint64_t number) const { return number < next_number(); }
  bool has_newest(std::uint64_t from) const;
  Stored read(std::uint64_t number) const;
  Stored read_kept(std::uint64_t number) const;
  Stored read_newest() const { return read(next_number() - 1); }
  Stored take_oldest();
  std::uint64_t append(base::Payload stored, runtime::DeferredWakes& wakes);
  base::Payload drop_beyond_newest();
  std::uint64_t move_when_admitted(base::Payload stored, runtime::Lock& lock,
                                   runtime::Deadline deadline);
  bool admit_moves(runtime::DeferredWakes& wakes);
  void begin_move(Access& access, base::Payload stored, base::Payload& dropped,
                  runtime::DeferredWakes& wakes);
  void settle(runtime::DeferredWakes& wakes);
  void fail_all(const std::exception_ptr& error, runtime::DeferredWakes& wakes);
  void watch(AnyChange& watcher) override;
  void unwatch(AnyChange& watcher) override;
  template <class There>
  void wait_until(There there, runtime::Lock& lock, runtime::Deadline deadline,
                  std::uint64_t number);
  void ensure_alive() const;
  runtime::Lock lock_alive() const;

  const XFunction x_function_;
  mutable runtime::Mutex mutex_;
  base::Ring<base::Payload> kept_;  // tuples with the numbers oldest_ .. last() - 1
  std::uint64_t oldest_ = 0;
  std::uint64_t first_ = 0;
  std::uint64_t delta_;
  const std::uint64_t keep_newest_;
  bool deleted_ = false;
  std::optional<ErrorMark> error_mark_;
  Waiters waiters_{*this};  // waiting moves and reads of this element
};

}  // namespace pastset
