// SPDX-License-Identifier: Apache-2.0
// base/say.cpp — writes to standard error, whatever has become of it.
#include "base/say.hpp"

#include <exception>
#include <iostream>

namespace base {

void say(std::string_view text) noexcept {
  try {
    std::cerr << text;
    std::cerr.clear();               // what is lost now must not silence what is said next
  } catch (const std::exception&) {  // somebody's std::cerr.exceptions()
  }
}

}  // namespace base
