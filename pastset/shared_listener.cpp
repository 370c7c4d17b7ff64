// SPDX-License-Identifier: Apache-2.0
// pastset/shared_listener.cpp — hears of changes and of ends, and tells elements.
#include "pastset/shared_listener.hpp"

#include <utility>

#include "pastset/shared_element.hpp"

namespace pastset {

SharedListener::SharedListener(std::shared_ptr<SharedMapping> mapping)
    : mapping_(std::move(mapping)) {
  const runtime::Lock lock(mutex_);  // they may be called before they are here
  threads_ = std::make_unique<runtime::BellThreads>(
      mapping_->segment().processes[mapping_->me()].bell, [this] { rung(); },
      [this](runtime::ProcessIdentity gone) {
        try {
          return mapping_->clear(gone);
        } catch (const ElementError&) {
          return false;
        }
      });
}

SharedListener::~SharedListener() {
  if (!mapping_->is_ours()) threads_.release();  // there are none in the child of a fork
}

void SharedListener::add(SharedElement& element) {
  const runtime::Lock lock(mutex_);
  elements_.push_back(&element);
}

void SharedListener::remove(SharedElement& element) {
  const runtime::Lock lock(mutex_);
  std::erase(elements_, &element);
}

void SharedListener::rung() {
  runtime::Wakes wakes;
  const runtime::Lock lock(mutex_);
  if (const std::uint32_t now = mapping_->segment().process_changes; now != process_changes_) {
    process_changes_ = now;
    std::vector<runtime::ProcessIdentity> others = mapping_->processes();
    std::erase(others, runtime::ProcessIdentity(others[mapping_->me()]));
    std::erase(others, runtime::ProcessIdentity{});
    threads_->listen_for(std::move(others));
  }
  for (SharedElement* element : elements_) element->rung(wakes);
  mapping_->arena().give_back();
}

}  // namespace pastset
