// SPDX-License-Identifier: Apache-2.0
// commands/run_log.cpp — reading and writing the times of runs.
#include "commands/run_log.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace commands {

RunLog::RunLog(std::string file, const std::string& tune) : file_(std::move(file)) {
  read(tune);
  // A killed tune may have left an incomplete last line. This line break ends it.
  out_.open(file_, std::ios::app);
  write("");
  if (remaining_ == 0) write(nlohmann::json{{"tune", tune}}.dump());
}

void RunLog::read(const std::string& tune) {
  std::ifstream in(file_);
  bool is_meant = false;
  for (std::string line; std::getline(in, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object()) continue;
    if (json.contains("tune") || json.contains("finished")) {
      is_meant = json.contains("tune") && json["tune"] == tune;
      runs_.clear();
      remaining_ = 0;
    } else if (is_meant && json.contains("run") && json["run"].is_string() &&
               json.contains("nanos")) {
      const auto& nanos = json["nanos"];
      auto& times = runs_[json["run"].get<std::string>()];
      times.push_back(nanos.is_number_integer()
                          ? std::optional(base::Nanos(nanos.get<std::int64_t>()))
                          : std::nullopt);
      ++remaining_;
    }
  }
}

std::optional<std::optional<base::Nanos>> RunLog::take(const std::string& run) {
  const auto found = runs_.find(run);
  if (found == runs_.end() || found->second.empty()) return std::nullopt;
  const std::optional<base::Nanos> time = found->second.front();
  found->second.pop_front();
  --remaining_;
  return time;
}

void RunLog::add(const std::string& run, std::optional<base::Nanos> time) {
  nlohmann::json json{{"run", run}, {"nanos", nullptr}};
  if (time) json["nanos"] = time->count();
  write(json.dump());
}

void RunLog::finish() { write(R"({"finished": true})"); }

void RunLog::write(const std::string& line) {
  errno = 0;
  out_ << line << '\n' << std::flush;
  if (!out_)
    throw std::runtime_error(fmt::format("cannot write {}: {}", file_, std::strerror(errno)));
}

}  // namespace commands
