// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/writer.hpp — a host's records into its file of a trace directory.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "eventspace/recorder.hpp"
#include "eventspace/structure.hpp"
#include "eventspace/trace/chunk.hpp"

namespace eventspace {

/// Writes `<host>.trace`: its head at once, then a chunk of what each lane has at every flush().
///
/// Why:     nothing is held back in the process, so a killed one loses what was not flushed, no
///          more. The file is open only while it is written to, so that one process can write
///          those of as many simulated hosts as it likes.
/// Sharing: flush() from any thread, also while others add; finish() once, when nobody adds any
///          more and nobody flushes. A recorder that flushes when full does so through this.
/// Owns:    nothing but the file; borrows the recorder, which outlives it.
/// Throws:  std::runtime_error, naming file and reason: at construction when the file cannot be
///          made or is there already; once, at the next flush() or finish(), when writing failed.
///          From then on what is taken counts as lost, and only the end mark is tried again.
class TraceWriter {
 public:
  TraceWriter(const std::filesystem::path& directory, const TraceHeader& header,
              Recorder& recorder);
  ~TraceWriter();  ///< flushes; without finish() the file does not say that its process ended
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  void flush();
  void finish();  ///< flushes and writes the end mark

  std::uint64_t written() const;  ///< records; while nobody flushes
  std::uint64_t lost() const;     ///< records taken but not written; while nobody flushes

 private:
  struct Lane {
    std::uint64_t records = 0;  ///< taken, as the recorder numbers them
    std::uint64_t written = 0;
    std::uint64_t lost = 0;
    std::uint64_t dropped = 0;
    bool is_told = true;  ///< the file says how many were dropped
  };
  /// What an add() finds when its lane is full cannot be thrown there: it waits for a flush().
  enum class Failure : std::uint8_t { thrown, kept };
  void drain(Failure failure);
  void write(const Recorder::Taken& taken, Lane& lane);
  void write_end();
  void say_end_after_failure();

  std::filesystem::path path_;
  Recorder& recorder_;
  std::vector<Lane> lanes_;
  std::uint64_t whole_bytes_ = 0;  ///< size of the head and whole chunks
  bool has_failed_ = false;
  std::string unsaid_;  ///< a failure that nobody was told of
};

/// The other files of a trace directory, which is made when it is not there. Every host of a run
/// may write them, they are the same; throws std::runtime_error when they are of another run.
void write_structure(const std::filesystem::path& directory, const Structure& structure);
void write_config(const std::filesystem::path& directory, std::string_view expanded);

}  // namespace eventspace
