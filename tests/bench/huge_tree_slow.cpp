// SPDX-License-Identifier: Apache-2.0
// tests/bench/huge_tree_slow.cpp — a tree of very many threads on the virtual clock, as a program.
#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#if PATHS_HAS_BENCH
TEST_CASE("huge tree: 20,000 threads allreduce with less than 32 KiB of memory each") {
  const std::string command =
      PATHS_BUILD_BIN_DIR "/huge_tree --clusters 200 --hosts 10 --threads 10 --allreduces 3";
  std::string text;
  std::FILE* const pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> buffer{};
  while (const std::size_t read = std::fread(buffer.data(), 1, buffer.size(), pipe))
    text.append(buffer.data(), read);
  CHECK(pclose(pipe) == 0);
  const auto figures = nlohmann::json::parse(text);
  CHECK(figures.at("threads") == 20'000);
  CHECK(figures.at("peak_rss_bytes").at("run").get<double>() / 20'000 < 32 * 1024);
}
#endif
