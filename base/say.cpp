// SPDX-License-Identifier: Apache-2.0
// base/say.cpp — output to standard error that ignores failures
#include "base/say.hpp"

#include <exception>
#include <iostream>

namespace base {

void say(std::string_view text) noexcept {
  try {
    std::cerr << text;
    std::cerr.clear();               // a failed write must not block later ones
  } catch (const std::exception&) {  // the program may have set std::cerr.exceptions()
  }
}

}  // namespace base
