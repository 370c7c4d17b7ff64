// SPDX-License-Identifier: Apache-2.0
// eventspace/export/csv.cpp — CSV lines of records, with the names of hosts and wrappers.
#include "eventspace/export/csv.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <unordered_map>

#include "eventspace/export/export_file.hpp"
#include "eventspace/export/tracks.hpp"
#include "eventspace/transfer_record.hpp"

namespace eventspace {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) quoted.append(letter == '"' ? 2 : 1, letter);
  return quoted + '"';
}

/// Cache of quoted names, because the same few names repeat.
class Names {
 public:
  template <typename Make>
  const std::string& at(std::uint32_t number, const Make& make) {
    const auto [found, is_new] = names_.try_emplace(number);
    if (is_new) found->second = quoted(make());
    return found->second;
  }

 private:
  std::unordered_map<std::uint32_t, std::string> names_;
};

}  // namespace

Exported export_csv(const TraceDirectory& trace, const std::filesystem::path& file,
                    const HostClocks& clocks) {
  Tracks tracks(trace.structure);
  ExportFile out(file);
  Names hosts, places, wrappers, flags;
  out.text() =
      "host,place,wrapper,kind,operation,sequence,slot,down_nanos,up_nanos,bytes,flags\r\n";
  const Exported exported =
      for_each_record(trace, clocks, [&](std::uint32_t host, const EventRecord& record) {
        tracks.learn(record);
        const std::uint32_t track = tracks.place_of(host, record).track;
        const std::uint32_t label = tracks.label_of(record);
        const std::uint64_t sequence = record.sequence;
        const bool crosses = is_transfer(record);
        const std::uint32_t slot = crosses ? transfer_of(record).to_host : record.slot;
        const std::uint64_t bytes = crosses ? transfer_of(record).bytes : record.bytes;
        fmt::format_to(std::back_inserter(out.text()), "{},{},{},{},{},{},{},{},{},{},{}\r\n",
                       hosts.at(host, [&] { return trace.structure.hosts[host].name; }),
                       places.at(track, [&] { return tracks.all()[track].name; }),
                       label == Tracks::thread_label
                           ? std::string()
                           : wrappers.at(label, [&] { return tracks.labels()[label].name; }),
                       name_of_kind(record), name_of_operation(record), sequence, slot,
                       +record.down_nanos, +record.up_nanos, bytes,
                       flags.at(static_cast<std::uint32_t>(record.kind << 8 | record.flags),
                                [&] { return names_of_flags(record); }));
        out.write_when_much();
      });
  out.finish();
  return exported;
}

}  // namespace eventspace
