# SPDX-License-Identifier: Apache-2.0
# Programs: commands/ makes `paths`; bench/ and examples/ make one program per file or folder.

# The sources of commands/ without main.cpp are a library, so that tests can link them.
file(GLOB_RECURSE command_sources CONFIGURE_DEPENDS commands/*.cpp)
list(REMOVE_ITEM command_sources ${PROJECT_SOURCE_DIR}/commands/main.cpp)
file(GLOB_RECURSE command_headers CONFIGURE_DEPENDS commands/*.hpp)
paths_check_headers(commands FILES ${command_headers} USE PATHS::PATHS CLI11::CLI11)
if(command_sources AND PATHS_COMMANDS)
  add_library(paths_commands STATIC ${command_sources})
  target_link_libraries(paths_commands PUBLIC PATHS::PATHS CLI11::CLI11)
  set_property(SOURCE commands/version.cpp APPEND PROPERTY
               COMPILE_DEFINITIONS PATHS_OTF2_VERSION="${OTF2_VERSION}")
  set_source_files_properties(commands/version.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endif()
file(GLOB command_main CONFIGURE_DEPENDS commands/main.cpp)
if(command_main AND PATHS_COMMANDS)
  # Each build checks whether the commit has changed. The commit is compiled only into `paths`. If
  # the commit were part of a library, each new commit would relink all programs.
  set(commit_source ${PROJECT_BINARY_DIR}/commit.cpp)
  add_custom_target(paths_commit BYPRODUCTS ${commit_source}
    COMMAND ${CMAKE_COMMAND} -D source=${PROJECT_SOURCE_DIR} -D output=${commit_source}
            -P ${PROJECT_SOURCE_DIR}/cmake/commit.cmake)
  add_executable(paths commands/main.cpp ${commit_source})
  add_dependencies(paths paths_commit)
  target_link_libraries(paths PRIVATE $<TARGET_NAME_IF_EXISTS:paths_commands> PATHS::PATHS
                                      CLI11::CLI11)
  set(programs paths)
endif()

# paths_programs(<folder> <result>): makes a program from each .cpp in the folder, and from each
# main.cpp in one of its subfolders. Benchmarks stay in the build tree; their main() is in support/.
# The other sources of a program's folder become a library for that program. The sources of support/
# become a library for all programs. The library <folder>_all combines all these libraries, for
# tests and for programs without a folder. Headers that most sources include are precompiled in
# <folder>_precompiled. The program `embedding` is linked like a program with its own main().
# Appends the programs to <result>.
function(paths_programs folder result)
  set(programs ${${result}})
  add_library(${folder}_all INTERFACE)
  target_link_libraries(${folder}_all INTERFACE PATHS::PATHS CLI11::CLI11)
  set(headers "")
  if(PATHS_BUILD_ONCE)
    set(headers ${folder}_precompiled)
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${headers}.cpp CONTENT "")
    add_library(${headers} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${headers}.cpp)
    target_link_libraries(${headers} PRIVATE PATHS::PATHS CLI11::CLI11)
    target_precompile_headers(${headers} PRIVATE
      <CLI/CLI.hpp> <nlohmann/json.hpp> ${PROJECT_SOURCE_DIR}/groups/group.hpp
      ${PROJECT_SOURCE_DIR}/wrappers/main.hpp)
  endif()
  file(GLOB homes CONFIGURE_DEPENDS LIST_DIRECTORIES true ${folder}/*)
  foreach(home IN LISTS homes)
    file(GLOB sources CONFIGURE_DEPENDS ${home}/*.cpp)
    list(FILTER sources EXCLUDE REGEX "/((benchmark_)?main|[a-z_]+_mpi)\\.cpp$")
    cmake_path(GET home FILENAME name)
    if(sources)
      add_library(${folder}_${name} STATIC ${sources})
      target_link_libraries(${folder}_${name} PUBLIC PATHS::PATHS CLI11::CLI11)
      if(headers)
        target_precompile_headers(${folder}_${name} REUSE_FROM ${headers})
      endif()
      if(NOT name STREQUAL "support")
        target_link_libraries(${folder}_${name}
                              PUBLIC $<TARGET_NAME_IF_EXISTS:${folder}_support>)
      endif()
      target_link_libraries(${folder}_all INTERFACE ${folder}_${name})
    endif()
  endforeach()
  file(GLOB mains CONFIGURE_DEPENDS ${folder}/*.cpp ${folder}/*/main.cpp)
  foreach(source IN LISTS mains)
    cmake_path(GET source STEM name)
    if(name MATCHES "_benchmark$" AND NOT benchmark_FOUND)
      continue()
    endif()
    set(libraries ${folder}_all)
    if(name STREQUAL "main")
      cmake_path(GET source PARENT_PATH home)
      cmake_path(GET home FILENAME name)
      if(TARGET ${folder}_${name})
        set(libraries ${folder}_${name})
      endif()
    endif()
    add_executable(${name} ${source})
    if(name STREQUAL "embedding")
      target_link_libraries(${name} PRIVATE PATHS::embedding)
    else()
      target_link_libraries(${name} PRIVATE ${libraries})
      if(headers)
        target_precompile_headers(${name} REUSE_FROM ${headers})
      endif()
    endif()
    if(name MATCHES "_benchmark$")
      target_link_libraries(${name} PRIVATE benchmark_main benchmark::benchmark)
    else()
      list(APPEND programs ${name})
    endif()
  endforeach()
  set(${result} ${programs} PARENT_SCOPE)
endfunction()

if(PATHS_BENCH)
  find_package(benchmark CONFIG)
  if(benchmark_FOUND)
    add_library(benchmark_main OBJECT bench/support/benchmark_main.cpp)
    target_link_libraries(benchmark_main PUBLIC PATHS::PATHS CLI11::CLI11 benchmark::benchmark)
  else()
    message(STATUS "No Google Benchmark: the benchmarks will not be built, other programs will")
  endif()
  paths_programs(bench programs)
  paths_programs(examples example_programs)
  file(GLOB_RECURSE bench_headers CONFIGURE_DEPENDS bench/*.hpp)
  paths_check_headers(bench FILES ${bench_headers} USE PATHS::PATHS CLI11::CLI11)
endif()
# The target `programs` builds the programs that `cmake --install` needs, and the examples. It
# builds no tests and no benchmarks.
add_custom_target(programs DEPENDS ${programs} ${example_programs})
