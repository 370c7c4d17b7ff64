// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/no_page.cpp — empty page template of a build without Node.
#include "eventspace/page/page.hpp"

namespace eventspace {

std::string_view page_template() { return {}; }

}  // namespace eventspace
