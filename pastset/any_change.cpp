// SPDX-License-Identifier: Apache-2.0
// pastset/any_change.cpp — counter and times of the changes of several elements
#include "pastset/any_change.hpp"

#include <string_view>
#include <utility>

namespace pastset {

AnyChange::AnyChange(std::vector<Element*> elements, const runtime::Runtime* clock)
    : elements_(std::move(elements)), clock_(clock), changed_at_(elements_.size(), base::Nanos(0)) {
  for (Element* element : elements_) element->set_watcher(*this, true);
}

AnyChange::~AnyChange() {
  for (Element* element : elements_) element->set_watcher(*this, false);
}

std::uint64_t AnyChange::count() const {
  runtime::Lock lock(mutex_);
  return count_;
}

bool AnyChange::wait(std::uint64_t seen, runtime::Deadline deadline) {
  runtime::Lock lock(mutex_);
  const std::string_view subject = elements_.empty() ? "" : std::string_view(elements_[0]->name());
  while (count_ == seen) {
    const runtime::Woken woken =
        waiting_.wait(lock, deadline, {"change of any element from", subject, elements_.size()});
    if (woken == runtime::Woken::expired && count_ == seen) return false;
  }
  return true;
}

base::Nanos AnyChange::changed_at(std::size_t place) const {
  runtime::Lock lock(mutex_);
  return changed_at_.at(place);
}

void AnyChange::tell(const Element& changed, runtime::DeferredWakes& wakes) {
  runtime::Lock lock(mutex_);
  ++count_;
  for (std::size_t place = 0; clock_ != nullptr && place < elements_.size(); ++place)
    if (elements_[place] == &changed) changed_at_[place] = clock_->now();
  waiting_.wake_all(wakes);
}

}  // namespace pastset
