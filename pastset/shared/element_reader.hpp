// SPDX-License-Identifier: Apache-2.0
// pastset/shared/element_reader.hpp — read-only view of a shared element
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "pastset/element.hpp"
#include "pastset/shared/doorbell.hpp"
#include "pastset/shared/glanced_tuples.hpp"
#include "pastset/shared/log/log.hpp"
#include "pastset/waiters.hpp"
#include "runtime/wait.hpp"

namespace pastset {

/// A read-only view of an element. A process that may only read a space cannot lock the elements of
/// the space. It therefore copies a tuple, and then checks that the tuple existed until the end of
/// the copy. Such a read never makes another process wait.
///
/// Waiting:  a thread of this process polls the element every few milliseconds.
/// Requires: the steady clock.
/// Throws:   SharedSpaceError from operations that would change the element, including observe()
///           without a number; otherwise like SharedElement. A read throws Expired if its tuple is
///           dropped during the copy. try_newest() and start_newest() throw Expired if tuples are
///           dropped faster than they are copied; newest() waits instead.
class SharedElementReader final : public Element, private Doorbell::Listener {
 public:
  /// Requires: the element with this `index` in the directory is live.
  SharedElementReader(std::shared_ptr<SharedMapping> mapping, std::shared_ptr<Doorbell> listener,
                      std::uint32_t index, std::string name, Template tuple_template);
  ~SharedElementReader() override;

  std::uint64_t move(const base::Payload& payload, runtime::Deadline deadline) override;
  ElementTraits traits() const override { return {.never_keeps_movers = true}; }
  void begin(Access& access) override;
  bool cancel(Access& access, std::string* lateness) override;
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
  bool on_ring(runtime::DeferredWakes& wakes) override;
  void set_watcher(AnyChange& watcher, bool is_watching) override;
  [[noreturn]] void refuse(const char* what) const;

  const std::shared_ptr<SharedMapping> mapping_;
  const std::shared_ptr<Doorbell> listener_;
  mutable runtime::Mutex mutex_;
  const SharedLog log_;
  const GlancedTuples tuples_{*this, log_};
  std::uint32_t seen_changes_ = 0;
  bool seen_orphan_ = false;
  Waiters waiters_{*this};
};

}  // namespace pastset
