// SPDX-License-Identifier: Apache-2.0
// wrappers/store.cpp — hands operations to an element.
#include "wrappers/store.hpp"

#include <string>

#include "paths/element_operation.hpp"
#include "paths/host.hpp"

namespace wrappers {

paths::Result Store::operate(paths::Operation operation, paths::Next next) {
  return paths::operate_on(*element_, operation, next.host().deadline());
}

paths::WrapperKind store_kind() {
  paths::WrapperKind kind;
  kind.name = "store";
  kind.help = "Ends a path in an element and carries every operation of it.";
  kind.settings = {{"element", "element", "required", "The element of this host to end in."}};
  kind.ends = true;
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace& place) -> paths::MakeWrapper {
    const std::string element = paths::read_element(reader, "element", place);
    return [element](paths::Host& host) { return std::make_unique<Store>(host.element(element)); };
  };
  return kind;
}

}  // namespace wrappers
