// SPDX-License-Identifier: Apache-2.0
// examples/rod_feeder.cpp — program that heats the rod of rod_solver from outside the run.
//
//   rod_feeder left
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "pastset/shared/space.hpp"
#include "pastset/tuple.hpp"
#include "paths/run/command_line.hpp"
#include "runtime/runtime.hpp"

namespace {

void feed(const std::string& name, std::uint64_t times, std::chrono::milliseconds pause) {
  const auto space = pastset::SharedSpace::map(name);
  const auto heat = space->find("heat");
  if (heat == nullptr) throw std::runtime_error("it has no element 'heat'");
  runtime::Runtime runtime;
  runtime.run([&] {
    for (std::uint64_t i = 0; i < times; ++i) {
      pastset::TupleWriter tuple(heat->tuple_template());
      heat->move(tuple.put(std::uint64_t{7 * i}).put(100.0).payload());
      runtime.sleep_for(pause);
    }
  });
  fmt::print("heated {} times\n", times);
}

}  // namespace

int main(int argc, char** argv) {
  std::string name;
  std::uint64_t times = 20, pause_ms = 100;
  CLI::App app("Heats the rod of rod_solver");
  app.add_option("NAME", name, "name of the shared space of its left half")->required();
  app.add_option("--times", times, "Number of times")->capture_default_str();
  app.add_option("--pause", pause_ms, "Pause between them, in ms")->capture_default_str();
  return paths::run_main(app, argc, argv, [&] {
    feed(name, times, std::chrono::milliseconds(pause_ms));
    return 0;
  });
}
