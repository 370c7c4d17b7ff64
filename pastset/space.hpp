// SPDX-License-Identifier: Apache-2.0
// pastset/space.hpp — a PastSet: a set of elements that are found by name
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pastset/element.hpp"

namespace pastset {

/// A PastSet: a set of elements that the parts of a program find by name.
/// Thread-safe: yes.
/// Blocks: never.
/// Paper: Vinter 1999.
class Space {
 public:
  /// Returns the element `name`. Creates it with `options` if it does not exist; otherwise the
  /// options have no effect. After a deletion, enter() creates a new, empty element, and pointers
  /// to the deleted element still throw Deleted. Throws TemplateMismatch if the element exists with
  /// a different template.
  std::shared_ptr<Element> enter(const std::string& name, const Template& tuple_template,
                                 const ElementOptions& options = {});
  /// Adds an element that was created elsewhere to the space, under the element's own name.
  /// Requires: no element has that name.
  void adopt(std::shared_ptr<Element> element);
  std::shared_ptr<Element> find(std::string_view name) const;  ///< nullptr if there is none
  /// Removes and deletes the element. Does nothing if no element has that name.
  void delete_element(std::string_view name);
  std::vector<std::string> names() const;

 private:
  mutable runtime::Mutex mutex_;
  std::map<std::string, std::shared_ptr<Element>, std::less<>> elements_;
};

}  // namespace pastset
