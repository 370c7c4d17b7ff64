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
# its folders; benchmarks apart, which stay in the build tree. What else its folders hold is a
# library for all of them, and for tests. The program `embedding` is linked as one with a main() of
# its own would be. Appends the programs to <result>.
function(paths_programs folder result)
  set(programs ${${result}})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  file(GLOB mains CONFIGURE_DEPENDS ${folder}/*.cpp ${folder}/*/main.cpp)
  if(mains)
    list(REMOVE_ITEM sources ${mains})
  endif()
  if(sources)
    add_library(${folder}_support STATIC ${sources})
    target_link_libraries(${folder}_support PUBLIC PATHS::PATHS CLI11::CLI11)
  endif()
  foreach(source IN LISTS mains)
    cmake_path(GET source STEM name)
    if(name STREQUAL "main")
      cmake_path(GET source PARENT_PATH home)
      cmake_path(GET home FILENAME name)
    endif()
    add_executable(${name} ${source})
    if(name STREQUAL "embedding")
      target_link_libraries(${name} PRIVATE PATHS::embedding)
    else()
      target_link_libraries(${name} PRIVATE $<TARGET_NAME_IF_EXISTS:${folder}_support>
                                            PATHS::PATHS CLI11::CLI11)
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
