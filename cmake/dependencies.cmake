# SPDX-License-Identifier: Apache-2.0
# What the libraries need. Read by the build and, installed, by PATHSConfig.cmake.
find_dependency(Threads)
find_dependency(PkgConfig)
find_dependency(Boost 1.74 CONFIG COMPONENTS context fiber)
find_dependency(cppzmq CONFIG)
find_dependency(fmt CONFIG)
find_dependency(nlohmann_json CONFIG)
find_dependency(spdlog CONFIG)
find_dependency(yaml-cpp CONFIG)
find_dependency(ZLIB)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
# Optional: what it adds is missing without it, and says so.
pkg_check_modules(OTF2 IMPORTED_TARGET otf2>=3)
