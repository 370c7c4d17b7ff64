// SPDX-License-Identifier: Apache-2.0
// pastset/shared/doorbell.cpp — notification of elements when other processes change them or die
#include "pastset/shared/doorbell.hpp"

#include <utility>

#include "pastset/shared/cleanup.hpp"

namespace pastset {
namespace {

// Interval between two polls of the shared memory. People do not notice a delay of 5 ms, and 200
// polls a second cost little.
constexpr base::Nanos between_looks{5'000'000};

}  // namespace

Doorbell::Doorbell(std::shared_ptr<SharedMapping> mapping) : mapping_(std::move(mapping)) {
  const runtime::Lock lock(mutex_);  // no callback runs before all members are set
  if (!mapping_->may_write()) {
    looking_ =
        std::make_unique<runtime::LookingThread>(between_looks, [this] { return notify_all(); });
    return;
  }
  threads_ = std::make_unique<runtime::BellThreads>(
      mapping_->segment().processes[mapping_->me()].bell, [this] { on_ring(); },
      [this](runtime::ProcessIdentity gone) {
        try {
          return shared::clear(*mapping_, gone);
        } catch (const ElementError&) {
          return false;
        }
      });
}

Doorbell::~Doorbell() {
  if (mapping_->is_ours()) return;
  threads_.release();  // the child of a fork does not have these threads
  looking_.release();
}

void Doorbell::add(Listener& element) {
  const runtime::Lock lock(mutex_);
  elements_.push_back(&element);
}

void Doorbell::remove(Listener& element) {
  const runtime::Lock lock(mutex_);
  std::erase(elements_, &element);
}

void Doorbell::look() { looking_->begin(); }

bool Doorbell::notify_all() {
  runtime::DeferredWakes wakes;
  const runtime::Lock lock(mutex_);
  bool has_any = false;
  for (Listener* element : elements_) has_any |= element->on_ring(wakes);
  return has_any;
}

void Doorbell::on_ring() {
  {
    const runtime::Lock lock(mutex_);
    if (const std::uint32_t now = mapping_->segment().process_changes; now != process_changes_) {
      process_changes_ = now;
      std::vector<runtime::ProcessIdentity> others = mapping_->processes().all();
      std::erase(others, runtime::ProcessIdentity(others[mapping_->me()]));
      std::erase(others, runtime::ProcessIdentity{});
      threads_->listen_for(std::move(others));
    }
  }
  notify_all();
  mapping_->arena().give_back();
}

}  // namespace pastset
