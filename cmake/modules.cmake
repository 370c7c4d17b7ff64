# SPDX-License-Identifier: Apache-2.0

# paths_module(<module> [MODULES <module>...] [PUBLIC <target>...] [PRIVATE <target>...]
#            [INTERNAL <regex>...] [APART <regex>...])
# Makes the static library PATHS::<module> from the folder <module>. It leaves out files whose
# names, without their endings, completely match APART. These files belong to a library that
# paths_library() makes. Headers that match INTERNAL are not installed.
function(paths_module module)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "MODULES;PUBLIC;PRIVATE;INTERNAL;APART")
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${module}/*.[ch]pp)
  if(arg_APART)
    list(JOIN arg_APART "|" apart)
    list(FILTER files EXCLUDE REGEX "/${module}/(${apart})\\.[ch]pp$")
  endif()
  list(TRANSFORM arg_INTERNAL PREPEND "${module}/")
  paths_library(${module} FILES ${files} MODULES ${arg_MODULES} PUBLIC ${arg_PUBLIC}
                PRIVATE ${arg_PRIVATE} INTERNAL ${arg_INTERNAL})
  set(paths_${module}_scope ${paths_${module}_scope} PARENT_SCOPE)
  set(paths_module_targets ${paths_module_targets} PARENT_SCOPE)
endfunction()

# paths_library(<name> FILES <file>... [MODULES <library>...] [PUBLIC <target>...]
#               [PRIVATE <target>...] [INTERNAL <regex>...])
# Makes the static library PATHS::<name> from the files. If the files include no .cpp, it makes an
# INTERFACE library, for which PRIVATE dependencies have no effect. Sets <target>_scope to the
# keyword for later target_*() calls: PUBLIC or INTERFACE. Adds the target at the front of
# paths_module_targets, because linkers require that a library precedes the libraries that it uses.
function(paths_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FILES;MODULES;PUBLIC;PRIVATE;INTERNAL")
  set(target paths_${name})
  set(sources ${arg_FILES})
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  set(headers ${arg_FILES})
  list(FILTER headers INCLUDE REGEX "\\.hpp$")

  if(sources)
    set(scope PUBLIC)
    add_library(${target} STATIC ${sources})
    target_link_libraries(${target} PRIVATE ${arg_PRIVATE})
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(PATHS::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  if(arg_INTERNAL)
    list(JOIN arg_INTERNAL "|" internal)
    set(internal_headers ${headers})
    list(FILTER internal_headers INCLUDE REGEX "/(${internal})\\.hpp$")
    list(REMOVE_ITEM headers ${internal_headers})
    paths_check_headers(${target}_internal FILES ${internal_headers} USE ${target})
  endif()

  # Header sets are installed, and all_verify_interface_header_sets compiles each header alone.
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}
                 FILES ${headers})
  list(TRANSFORM arg_MODULES PREPEND paths_)
  target_link_libraries(${target} ${scope} ${arg_MODULES} ${arg_PUBLIC})

  set(${target}_scope ${scope} PARENT_SCOPE)
  set(paths_module_targets ${target} ${paths_module_targets} PARENT_SCOPE)
endfunction()

# paths_check_headers(<name> FILES <header>... USE <target>...): compiles each of these headers
# alone with the properties of the targets. The headers are not installed.
function(paths_check_headers name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FILES;USE")
  add_library(${name}_headers INTERFACE)
  target_sources(${name}_headers INTERFACE FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}
                 FILES ${arg_FILES})
  target_link_libraries(${name}_headers INTERFACE ${arg_USE})
endfunction()
