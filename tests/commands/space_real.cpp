// SPDX-License-Identifier: Apache-2.0
// tests/commands/space_real.cpp — `paths space` on the space of another process.
#include <sys/prctl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "pastset/shared/space.hpp"
#include "tests/commands/command_outcome.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/skip.hpp"

using command_test::run;

namespace {

bool says(const std::vector<std::string>& command, const std::string& text) {
  for (int tried = 0; tried < 5000; ++tried)
    if (run(command).out.find(text) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("command space: lists and watches and ends a space of other processes") {
  const std::string name = "commands-" + std::to_string(getpid());
  const auto pairs = *pastset::Template::parse("u64, u64");
  test_support::Forked owner([&](runtime::Runtime& runtime) {
    const auto space = pastset::SharedSpace::make(name);
    const auto element = space->enter("residual", pairs, {.keep_newest = 1000});
    try {
      for (std::uint64_t i = 0;; ++i) {
        const std::uint64_t both[] = {i, 2 * i};
        element->move(base::Payload::copy_of(std::as_bytes(std::span(both))));
        runtime.sleep_for(std::chrono::milliseconds(1));
      }
    } catch (const pastset::Deleted&) {
    }
  });
  std::string listed;
  for (int tried = 0; tried < 5000 && listed.find(name + ": 64MiB, 1 element") == listed.npos;
       ++tried)
    listed = run({"space", "list"}).out;
  CHECK_THAT(listed, Catch::Contains("owned by " + std::to_string(owner.pid()) + " ("));
  CHECK_THAT(run({"space", "show", name}).out,
             Catch::Contains("residual \"u64, u64\": first ") &&
                 Catch::Contains(", keeps the newest 1000, ") &&
                 Catch::Contains(" of 1023 slots, 0B of 1MiB for larger tuples"));
  const std::string watched = run({"space", "watch", name, "residual", "--tuples", "3"}).out;
  const std::uint64_t first = std::stoull(watched);
  for (std::uint64_t i = first; i < first + 3; ++i)
    CHECK_THAT(watched, Catch::Contains(std::to_string(i) + ": (" + std::to_string(i) + ", " +
                                        std::to_string(2 * i) + ")\n"));
  CHECK_THAT(run({"space", "watch", name, "other"}).err,
             Catch::Contains("has no element 'other': it has residual"));
  CHECK(run({"space", "remove", name}).exit_code == 0);
  CHECK(owner.wait() == 0);
  CHECK_THAT(run({"space", "show", name}).err,
             Catch::Contains("there is no shared space '" + name + "' of this user"));
}

TEST_CASE("command space: lists a space of another user that others may read") {
  if (geteuid() != 0) return test_support::skip("another user (root)");
  const std::string name = "commands-of-" + std::to_string(getpid());
  const auto number = *pastset::Template::parse("u64");
  test_support::Forked owner([&](runtime::Runtime& runtime) {
    // After setuid(), the kernel hides a process's own descriptors in /proc until PR_SET_DUMPABLE
    // is set again.
    if (setuid(65534) != 0 || prctl(PR_SET_DUMPABLE, 1) != 0)
      throw std::runtime_error("no other user");
    const auto space = pastset::SharedSpace::make(
        name, {.access = pastset::SharedAccess::others_may_read},
        std::vector<pastset::SharedSpace::Entered>{{"residual", number, {.keep_newest = 1000}}});
    for (std::uint64_t i = 0;; ++i) {
      space->find("residual")->move(base::Payload::of(i));
      runtime.sleep_for(std::chrono::milliseconds(1));
    }
  });
  const std::string full = "nobody/" + name;
  CHECK(says({"space", "list"}, full + ": 64MiB, may be read only, 1 element, owned by " +
                                    std::to_string(owner.pid()) + " ("));
  CHECK_THAT(run({"space", "show", full}).out, Catch::Contains("residual \"u64\": first ") &&
                                                   Catch::Contains("keeps the newest 1000"));
  const std::string watched = run({"space", "watch", full, "residual", "--tuples", "3"}).out;
  CHECK_THAT(watched, Catch::Contains(": (" + std::to_string(std::stoull(watched)) + ")\n"));
  CHECK_THAT(run({"space", "remove", full}).err, Catch::Contains("which may only be read here"));
}
