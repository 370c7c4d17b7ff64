# SPDX-License-Identifier: Apache-2.0
# The programs: commands/ makes `paths`; bench/ and examples/ make one each per file or folder.

# commands/ without its main.cpp is a library, so that tests can link it.
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
  # Looked at in each build; a library that has it would have all programs linked again.
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

# paths_programs(<folder> <result>): a program for each .cpp of the folder and for each main.cpp of
# its folders; benchmarks apart, which stay in the build tree. The other sources of a program's
# folder become a library for that program. Those of support/ become a library for all programs.
# <folder>_all is all these libraries, for tests and for programs without a folder.
# <folder>_precompiled has the headers that most of them include. The program `embedding` is linked
# as one with a main() of its own would be. Appends the programs to <result>.
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
    list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
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
      target_link_libraries(${name} PRIVATE benchmark::benchmark)
    else()
      list(APPEND programs ${name})
    endif()
  endforeach()
  set(${result} ${programs} PARENT_SCOPE)
endfunction()

if(PATHS_BENCH)
  find_package(benchmark CONFIG REQUIRED)
  paths_programs(bench programs)
  paths_programs(examples example_programs)
  file(GLOB_RECURSE bench_headers CONFIGURE_DEPENDS bench/*.hpp)
  paths_check_headers(bench FILES ${bench_headers} USE PATHS::PATHS CLI11::CLI11
                                                       benchmark::benchmark)
endif()
# What `cmake --install` needs, and the examples: neither tests nor benchmarks.
add_custom_target(programs DEPENDS ${programs} ${example_programs})
