// SPDX-License-Identifier: Apache-2.0
// commands/keygen.cpp — `paths keygen`: key of a run.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "commands/commands.hpp"
#include "paths/keys/key_file.hpp"

namespace commands {
namespace {

struct KeygenOptions {
  std::string output;
  bool is_for_run = false;
};

int run(const KeygenOptions& options) {
  paths::write_key_file(options.output, paths::KeyKind::run, paths::Secret::random());
  fmt::print("wrote {}; remove it after the run\n", options.output);
  return succeeded;
}

}  // namespace

void add_keygen_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<KeygenOptions>();
  CLI::App* command = app.add_subcommand(
      "keygen", "Make a key. Its file has mode 0600, and an existing file is never overwritten.");
  command->add_flag("--run", options->is_for_run, "make one key for all processes of a run")
      ->required();
  command->add_option("-o,--output", options->output, "file of the run key")
      ->type_name("FILE")
      ->required();
  set_examples(*command, "  paths keygen --run -o job.key\n");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace commands
