// SPDX-License-Identifier: Apache-2.0
// pastset/local_element.hpp — an element in the memory of this process
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/payload.hpp"
#include "pastset/element.hpp"
#include "pastset/local_tuples.hpp"
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

  std::uint64_t move(const base::Payload& payload,
                     runtime::Deadline deadline = runtime::Deadline::never()) override;
  ElementTraits traits() const override;
  void begin(Access& access) override;
  bool cancel(Access& access, std::string* lateness = nullptr) override;
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
  Stored read(Access::Kind kind, std::uint64_t number, runtime::Deadline deadline) override;
  void set_watcher(AnyChange& watcher, bool is_watching) override;
  runtime::Lock lock_alive() const;
  std::uint64_t append(base::Payload stored, base::Payload& dropped, runtime::DeferredWakes& wakes);
  void settle(runtime::DeferredWakes& wakes);

  const ElementOptions options_;
  mutable runtime::Mutex mutex_;
  LocalTuples tuples_{*this, options_};
  bool deleted_ = false;
  std::optional<ErrorMark> error_mark_;
  Waiters waiters_{*this};  // waiting moves and reads of this element
};

}  // namespace pastset
