// SPDX-License-Identifier: Apache-2.0
// tests/pastset/element_model_test.cpp — both kinds of elements compared with the model in one
// process.
#include "tests/pastset/element_model.hpp"

#include <unistd.h>

#include <cstdlib>
#include <functional>

#include "pastset/local_element.hpp"
#include "pastset/shared/space.hpp"

using namespace element_model;

namespace {

using WithElement = std::function<void(Element&)>;

void with_local(const ElementOptions& options, const WithElement& act) {
  pastset::LocalElement element("e", any_bytes, options);
  act(element);
}

void with_shared(const ElementOptions& options, const WithElement& act) {
  const auto space = pastset::SharedSpace::make("model-" + std::to_string(getpid()));
  act(*space->enter("e", any_bytes, options, {.slots = 4096, .arena_bytes = arena_bytes}));
}

std::uint64_t seeds() {
  const char* const wanted = std::getenv("PATHS_SEEDS");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 20;
}

}  // namespace

TEST_CASE("element: whatever is done to either kind it behaves like the model") {
  const bool is_shared = GENERATE(false, true);
  const ElementOptions options =
      GENERATE(ElementOptions{}, ElementOptions{.delta = 1}, ElementOptions{.delta = 3},
               ElementOptions{.keep_newest = 1}, ElementOptions{.keep_newest = 5});
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    INFO((is_shared ? "shared" : "local")
         << ", delta " << options.delta << ", keeps " << options.keep_newest << ", seed " << seed);
    (is_shared ? with_shared : with_local)(options, [&](Element& element) {
      InThisProcess subject(element);
      Pair pair(subject, options, seed);
      for (int step = 0; step < 1000; ++step) pair.step();
      CHECK(element.name() == "e");
    });
  }
}
