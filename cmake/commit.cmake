# SPDX-License-Identifier: Apache-2.0
# cmake -D source=FOLDER -D output=FILE -P commit.cmake: writes C++ code with the commit of the
# sources to FILE, unless FILE is up to date.
set(commit unknown)
execute_process(COMMAND git -C ${source} rev-parse --show-toplevel
                OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(REAL_PATH ${source} real_source)
if(top STREQUAL real_source)
  execute_process(COMMAND git -C ${source} describe --always --abbrev=12 --exclude=*
                          "--dirty=, and changes"
                  OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(described)
    set(commit ${described})
  endif()
endif()
file(CONFIGURE OUTPUT ${output} CONTENT [[
#include "commands/version.hpp"

const std::string_view commands::commit_built = "@commit@";
]] @ONLY)
