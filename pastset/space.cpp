// SPDX-License-Identifier: Apache-2.0
// pastset/space.cpp — creation, lookup and deletion of elements by name
#include "pastset/space.hpp"

#include <fmt/format.h>

#include <utility>

#include "pastset/local_element.hpp"

namespace pastset {

std::shared_ptr<Element> Space::enter(const std::string& name, const Template& tuple_template,
                                      const ElementOptions& options) {
  std::shared_ptr<Element> replaced;  // possibly the last handle, so destroyed after the unlock
  runtime::Lock lock(mutex_);
  if (const auto found = elements_.find(name);
      found != elements_.end() && !found->second->is_deleted()) {
    const Template& present = found->second->tuple_template();
    if (present == tuple_template) return found->second;
    throw TemplateMismatch(fmt::format("element '{}' has template \"{}\", not \"{}\"", name,
                                       present.text(), tuple_template.text()));
  }
  const auto element = std::make_shared<LocalElement>(name, tuple_template, options);
  replaced = std::exchange(elements_[name], element);
  return element;
}

void Space::adopt(std::shared_ptr<Element> element) {
  std::shared_ptr<Element> replaced;  // possibly the last handle, so destroyed after the unlock
  const runtime::Lock lock(mutex_);
  replaced = std::exchange(elements_[element->name()], element);
}

std::shared_ptr<Element> Space::find(std::string_view name) const {
  runtime::Lock lock(mutex_);
  const auto found = elements_.find(name);
  if (found == elements_.end() || found->second->is_deleted()) return nullptr;
  return found->second;
}

void Space::delete_element(std::string_view name) {
  std::shared_ptr<Element> element;
  {
    runtime::Lock lock(mutex_);
    const auto found = elements_.find(name);
    if (found == elements_.end()) return;
    element = std::move(found->second);
    elements_.erase(found);
  }
  element->delete_element();
}

std::vector<std::string> Space::names() const {
  runtime::Lock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, element] : elements_) {
    if (!element->is_deleted()) names.push_back(name);
  }
  return names;
}

}  // namespace pastset
