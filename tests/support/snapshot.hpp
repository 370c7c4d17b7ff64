// SPDX-License-Identifier: Apache-2.0
// tests/support/snapshot.hpp — all records of a recorder, for tests that check them.
#pragma once
#include <vector>

#include "eventspace/recorder.hpp"

namespace test_support {

/// Takes all records from the recorder, one record buffer (OS thread) after another.
inline std::vector<eventspace::EventRecord> snapshot(eventspace::Recorder& recorder) {
  std::vector<eventspace::EventRecord> all;
  recorder.take([&all](const eventspace::Recorder::Taken& taken) {
    for (const auto records : taken.records) all.insert(all.end(), records.begin(), records.end());
  });
  return all;
}

}  // namespace test_support
