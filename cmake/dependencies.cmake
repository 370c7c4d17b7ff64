# SPDX-License-Identifier: Apache-2.0
# Dependencies of the libraries. The build and the installed PATHSConfig.cmake read this file.
find_dependency(Threads)
find_dependency(PkgConfig)
find_dependency(Boost 1.74 CONFIG COMPONENTS context fiber)
find_dependency(cppzmq CONFIG)
find_dependency(fmt CONFIG)
find_dependency(nlohmann_json CONFIG)
find_dependency(spdlog CONFIG)
find_dependency(yaml-cpp CONFIG)
find_dependency(ZLIB)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
# Optional: if OTF2 is missing, the export of OTF2 archives fails with an error.
pkg_check_modules(OTF2 IMPORTED_TARGET otf2>=3)
