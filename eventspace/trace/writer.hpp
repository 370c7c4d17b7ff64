// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/writer.hpp — writer of a host's records into its trace file.
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

/// Writes a host's trace file during the run, so that a killed process loses few records.
///
/// The constructor writes the head of `<host>.trace`. Each flush() appends one or more chunks for
/// each record buffer (recorder.hpp) that has new records.
///
/// Why:         Written data are not buffered in the process, so a killed process loses only the
///              records since its last flush. The file is open only during a write, so a process
///              can write the files of any number of simulated hosts.
/// Owns:        Only the file. Borrows the recorder, which must outlive the writer.
/// Thread-safe: Any thread may call flush(), even while other threads add records. A recorder with
///              WhenFull::flush flushes through this object. Call finish() once, after the last
///              call of flush() and after the last record was added.
/// Throws:      std::runtime_error that names file and reason. The constructor throws if the file
///              exists or cannot be created. If a write fails, a single call of flush() or finish()
///              throws. After a failed write, all further records count as lost. Only finish() then
///              writes again: it tries to write the end mark.
class TraceWriter {
 public:
  TraceWriter(const std::filesystem::path& directory, const TraceHeader& header,
              Recorder& recorder);
  ~TraceWriter();  ///< flushes, but writes no end mark
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  void flush();
  void finish();  ///< flushes and writes the end mark

  std::uint64_t written() const;  ///< records written so far. Requires: no concurrent flush
  /// Returns the number of records that were taken from the recorder but not written.
  /// Requires: no concurrent flush.
  std::uint64_t lost() const;

 private:
  struct Lane {
    std::uint64_t records = 0;  ///< records taken so far, written or lost
    std::uint64_t written = 0;
    std::uint64_t lost = 0;
    std::uint64_t dropped = 0;
    bool is_notified = true;  ///< whether the file contains the current value of `dropped`
  };
  /// Use of the error of a failed write by drain(). `thrown`: drain() throws the error. `kept`: it
  /// stores the error until the next flush() or finish() throws it. A flush of a full record buffer
  /// stores the error, because Recorder::add() must not throw it.
  enum class Failure : std::uint8_t { thrown, kept };
  void drain(Failure failure);
  void write(const Recorder::Taken& taken, Lane& lane);
  void write_end();
  void say_end_after_failure();

  std::filesystem::path path_;
  Recorder& recorder_;
  std::vector<Lane> lanes_;
  std::uint64_t whole_bytes_ = 0;  ///< size of the file without an incomplete chunk
  bool has_failed_ = false;
  std::string unsaid_;  ///< message of a failure that no call has thrown yet
};

/// The next two functions write the files structure.json and config.yaml of a trace directory. They
/// create the directory if it is missing. All hosts of a run may write the files, because all write
/// the same contents.
/// Throws: std::runtime_error if the file exists with different contents.
void write_structure(const std::filesystem::path& directory, const Structure& structure);
void write_config(const std::filesystem::path& directory, std::string_view expanded);

}  // namespace eventspace
