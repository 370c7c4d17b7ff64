// SPDX-License-Identifier: Apache-2.0
// tests/commands/full_disk_real.cpp — output of programs on a full disk.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

#if PATHS_HAS_BENCH
namespace {

using Catch::Contains;

/// Runs a script with a small disk mounted at $DISK, which has 16 KiB free. The script runs as root
/// of a user namespace. Returns "" if the system allows no user namespaces.
std::string on_a_full_disk(const std::string& script) {
  const std::string all = fmt::format(
      R"(set -e
bin={}; cd {}
work=$(mktemp -d); DISK=$work/disk; mkdir $DISK
mount -t tmpfs -o size=512k none $DISK
trap "umount $DISK; rm -r $work" EXIT
$bin/noise_allreduce --config configs/two-clusters.yaml --clock virtual --iterations 300 \
  --trace $work/trace > /dev/null 2>&1
dd if=/dev/zero of=$DISK/filler bs=1k count=496 2> /dev/null
set +e
{}
)",
      PATHS_BUILD_BIN_DIR, PATHS_SOURCE_DIR, script);
  if (test_support::run_shell("unshare -rm mount -t tmpfs none /mnt").exit_code != 0) return "";
  return test_support::run_shell(fmt::format("unshare -rm sh -c '{}'", all)).text;
}

}  // namespace

TEST_CASE("full disk: each output of paths analyze names the disk and leaves no file") {
  for (const std::string option : {"json", "html", "csv", "perfetto", "otf2"}) {
    const std::string said = on_a_full_disk(
        fmt::format("$bin/paths analyze $work/trace --{} $DISK/output; echo code $?; "
                    "echo left: $(ls -A $DISK)",
                    option));
    if (said.empty()) return test_support::skip("a disk (user namespaces)");
    INFO(said);
    CHECK_THAT(said, Contains("/disk/output: "));
    CHECK_THAT(said, Contains("No space left on device"));
    CHECK_THAT(said, Contains(" are free on the disk at "));
    CHECK_THAT(said, Contains("code 1"));
    CHECK_THAT(said, Contains("left: filler\n"));
  }
}

TEST_CASE(
    "full disk: a trace that does not fit records the end of hosts and the number of missing "
    "records") {
  // The disk has room for the structure file, but not for the records of 3000 iterations, which
  // take 3 MiB.
  const std::string said = on_a_full_disk(
      "rm $DISK/filler; $bin/noise_allreduce --config configs/two-clusters.yaml --clock virtual "
      "--iterations 3000 --trace $DISK/trace; echo code $?; $bin/paths analyze $DISK/trace "
      "--rows 1");
  if (said.empty()) return test_support::skip("a disk (user namespaces)");
  INFO(said);
  CHECK_THAT(said, Contains("No space left on device") && Contains(" are free on the disk at "));
  CHECK_THAT(said, Contains("code 0") && Contains("the trace lacks "));
  CHECK_THAT(said, Contains("records missing: not written, or not readable"));
  CHECK_THAT(said, !Contains("did not end"));
}
#endif
