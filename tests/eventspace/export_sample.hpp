// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/export_sample.hpp — trace directories of small runs, for tests of exports.
#pragma once
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "eventspace/export/intervals.hpp"
#include "tests/eventspace/sample_run.hpp"
#include "tests/eventspace/trace_sample.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/thrown.hpp"

namespace export_sample {

namespace fs = std::filesystem;

/// Writes a trace directory, one record at a time.
class Writing {
 public:
  Writing(const fs::path& directory, const eventspace::Structure& structure) {
    eventspace::write_structure(directory, structure);
    for (std::uint32_t host = 0; host < structure.hosts.size(); ++host) {
      auto header = trace_sample::header(structure.hosts[host].name);
      header.host_number = host;
      hosts_.push_back(std::make_unique<Host>(directory, header));
    }
  }
  ~Writing() {
    for (const auto& host : hosts_) host->writer.finish();
  }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;

  void add(std::uint32_t host, const eventspace::EventRecord& record) {
    hosts_[host]->recorder.add(record);
  }
  void add(const std::vector<std::vector<eventspace::EventRecord>>& by_host) {
    for (std::uint32_t host = 0; host < by_host.size(); ++host)
      for (const eventspace::EventRecord& record : by_host[host]) add(host, record);
  }

 private:
  struct Host {
    Host(const fs::path& directory, const eventspace::TraceHeader& header)
        : recorder(1 << 12, eventspace::WhenFull::flush), writer(directory, header, recorder) {
      recorder.on_full([this] { writer.flush(); });
    }
    eventspace::Recorder recorder;
    eventspace::TraceWriter writer;
  };
  std::vector<std::unique_ptr<Host>> hosts_;
};

/// Writes the trace of a run with two clusters. Each cluster has two hosts with two threads each,
/// and a gateway.
inline void write_run(const fs::path& directory, int rounds,
                      eventspace::sample::Options options = {}) {
  options.hosts = 2;
  eventspace::sample::Run run(std::move(options));
  Writing writing(directory, run.structure);
  for (int round = 0; round < rounds; ++round) writing.add(run.next_round());
  writing.add(run.thread_records());
}

/// Returns the corrections that convert the times of all hosts of a sample::Run to the clock of the
/// first host.
inline eventspace::HostClocks one_clock(const eventspace::TraceDirectory& trace) {
  std::vector<eventspace::ClockLine> lines(trace.structure.hosts.size());
  for (std::uint32_t host = 0; host < lines.size(); ++host)
    lines[host].offset_nanos = -1'000'000'000LL * (host * 7919 % 101);
  return eventspace::HostClocks::measured(trace, std::move(lines));
}
inline eventspace::HostClocks own_clocks(const eventspace::TraceDirectory& trace) {
  return eventspace::HostClocks::own(trace);
}

/// Runs a program and returns its output; an empty text if the program is not installed.
inline std::string output_of(const std::string& program, const std::string& arguments) {
  if (test_support::run_shell(fmt::format("command -v {}", program)).exit_code != 0) return "";
  const test_support::Said said = test_support::run_shell(fmt::format("{} {}", program, arguments));
  return said.exit_code == 0 ? said.text : fmt::format("{} failed: {}", program, said.text);
}

/// Returns the message of the exception that the function throws, or "nothing" if it throws no
/// exception.
template <typename Function>
std::string refusal(const Function& function) {
  return test_support::thrown<std::runtime_error>(function);
}

}  // namespace export_sample
