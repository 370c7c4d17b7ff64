// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/merged.cpp — records of all hosts of a run as one stream.
#include "eventspace/trace/merged.hpp"

#include <algorithm>
#include <utility>

namespace eventspace {

MergedTrace::Stream::Stream(const TraceDirectory::File& file)
    : host(file.host), reader(file.path) {}

bool MergedTrace::Stream::advance() {
  do {
    if (!reader.next(records)) return false;
  } while (records.empty());
  if (read == 0) begin_nanos = records.front().up_nanos;
  read += records.size();
  // The difference of forged times may overflow. In that case any order is acceptable.
  if (__builtin_sub_overflow(+records.back().up_nanos, begin_nanos, &at_nanos)) at_nanos = 0;
  return true;
}

bool MergedTrace::IsFurther::operator()(const Stream* a, const Stream* b) const {
  return std::pair(a->at_nanos, a->host) > std::pair(b->at_nanos, b->host);
}

MergedTrace::MergedTrace(const TraceDirectory& directory) {
  streams_.reserve(directory.files.size());  // pointers in the queue must stay valid
  for (const TraceDirectory::File& file : directory.files) {
    bytes_ += std::filesystem::file_size(file.path);
    enqueue(streams_.emplace_back(file));
  }
}

void MergedTrace::enqueue(Stream& stream) {
  if (stream.advance()) waiting_.push(&stream);
}

bool MergedTrace::next(std::uint32_t& host, std::span<const EventRecord>& records) {
  if (given_ != nullptr) enqueue(*given_);
  given_ = nullptr;
  if (waiting_.empty()) return false;
  given_ = waiting_.top();
  waiting_.pop();
  host = given_->host;
  records = given_->records;
  return true;
}

double MergedTrace::share_read() const {
  std::uint64_t read = 0;
  for (const Stream& stream : streams_) read += stream.read * sizeof(EventRecord);
  if (bytes_ == 0) return 1;
  return std::min(1.0, static_cast<double>(read) / static_cast<double>(bytes_));
}

std::vector<MergedTrace::File> MergedTrace::files() const {
  std::vector<File> files;
  for (const Stream& stream : streams_)
    files.push_back({stream.host, stream.reader.header(), stream.read, stream.reader.ended(),
                     stream.reader.losses()});
  return files;
}

}  // namespace eventspace
