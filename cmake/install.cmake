# SPDX-License-Identifier: Apache-2.0
# Installs the programs to bin/, the libraries with their CMake package and paths.pc to lib/, the
# headers to include/PATHS/, the configs and the schema to share/PATHS/.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/PATHS)
install(TARGETS ${paths_module_targets} paths_all paths_embedding EXPORT PATHSTargets
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/PATHS)
install(EXPORT PATHSTargets NAMESPACE PATHS:: DESTINATION ${package_dir})
if(programs)
  install(TARGETS ${programs})
endif()
install(DIRECTORY configs DESTINATION ${CMAKE_INSTALL_DATADIR}/PATHS PATTERN schema EXCLUDE)
install(DIRECTORY configs/schema DESTINATION ${CMAKE_INSTALL_DATADIR}/PATHS)

configure_package_config_file(cmake/PATHSConfig.cmake.in PATHSConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(PATHSConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/PATHSConfig.cmake
              ${PROJECT_BINARY_DIR}/PATHSConfigVersion.cmake cmake/dependencies.cmake
        DESTINATION ${package_dir})

# Libraries that paths.pc names. Modules that have only headers (scope INTERFACE) have no library to
# link.
set(pkgconfig_libs)
foreach(target IN LISTS paths_module_targets)
  if(${target}_scope STREQUAL PUBLIC)
    string(APPEND pkgconfig_libs " -l${target}")
  endif()
endforeach()
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX OUTPUT_VARIABLE up
           BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
configure_file(cmake/paths.pc.in paths.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/paths.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
