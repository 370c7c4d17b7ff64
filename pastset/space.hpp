// SPDX-License-Identifier: Apache-2.0
// pastset/space.hpp — a PastSet: elements found by name.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pastset/element.hpp"

namespace pastset {

/// A PastSet: a set of named elements (Vinter 1999). Any context may call anything at any time;
/// nothing here blocks.
class Space {
 public:
  /// Binds to the element `name`, made if there is none; options count only then.
  /// Throws TemplateMismatch when it exists with another template. After a delete, enter makes a
  /// new, empty element; handles of the old one keep throwing Deleted.
  std::shared_ptr<Element> enter(const std::string& name, const Template& tuple_template,
                                 const ElementOptions& options = {});
  /// Has one that was made elsewhere found by its name. There is none of that name.
  void adopt(std::shared_ptr<Element> element);
  std::shared_ptr<Element> find(std::string_view name) const;  ///< null when there is none
  /// Removes the element and ends it; does nothing when there is none.
  void delete_element(std::string_view name);
  std::vector<std::string> names() const;

 private:
  mutable runtime::Mutex mutex_;
  std::map<std::string, std::shared_ptr<Element>, std::less<>> elements_;
};

}  // namespace pastset
