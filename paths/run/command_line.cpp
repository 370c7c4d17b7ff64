// SPDX-License-Identifier: Apache-2.0
// paths/run/command_line.cpp — standard streams, exit codes, and suggestions for misspelt options.
#include "paths/run/command_line.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "base/errors.hpp"
#include "base/near_match.hpp"
#include "base/say.hpp"
#include "base/units.hpp"
#include "paths/run/processes/threads_state.hpp"
#include "runtime/processes/machine.hpp"
#include "runtime/wait.hpp"

namespace paths {
namespace {

/// Opens those standard streams that are closed, so that no socket gets their descriptor numbers. A
/// closed standard output is opened for reading only. A program that prints there then gets an
/// error, and the output is not lost silently.
void open_standard_streams() {
  const int modes[] = {O_RDONLY, O_RDONLY, O_WRONLY};
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0) [[maybe_unused]]
      const int lowest = open("/dev/null", modes[stream]);
}

/// Sets handlers for SIGPIPE and SIGXFSZ that do nothing, so that failed writes return errors. To
/// ignore the signals (SIG_IGN) would have the same effect. However, programs that this process
/// starts would inherit SIG_IGN.
void take_signals_of_writing() {
  struct sigaction nothing {};
  nothing.sa_handler = [](int) {};
  nothing.sa_flags = SA_RESTART;
  for (const int number : {SIGPIPE, SIGXFSZ}) {
    struct sigaction before {};
    sigaction(number, nullptr, &before);
    if (before.sa_handler == SIG_DFL) sigaction(number, &nothing, nullptr);
  }
}

/// Returns whether standard output is a pipe whose reader, such as `head`, has ended.
bool is_output_unread() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

/// Ends the process with the default action of SIGPIPE. Returns if SIGPIPE was ignored when the
/// process started.
void end_by_sigpipe() {
  struct sigaction now {};
  sigaction(SIGPIPE, nullptr, &now);
  if (now.sa_handler == SIG_IGN) return;
  signal(SIGPIPE, SIG_DFL);
  raise(SIGPIPE);
}

/// Flushes standard output, so that errors of the last writes are noticed. Returns whether all
/// writes succeeded.
bool flush_output() {
  std::cout.flush();
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
}

/// Returns the name of the parsed command, such as "paths show", for messages like "Try 'paths show
/// --help'".
std::string command_name(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app.get_name() : app.get_name() + " " + chosen.front()->get_name();
}

/// Returns the commands that the help shows. The help omits commands without a group, because only
/// processes that `paths` starts use them.
std::vector<std::string> shown_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({}))
    if (!command->get_group().empty()) names.push_back(command->get_name());
  return names;
}

/// Returns a suggestion for a misspelt command or option on the command line, such as "did you mean
/// --root?".
std::string hint(const CLI::App& app, int argc, const char* const* argv) {
  const auto chosen = app.get_subcommands();
  const CLI::App& current = chosen.empty() ? app : *chosen.front();
  std::vector<std::string> words;
  for (const CLI::Option* option : current.get_options())
    for (const std::string& name : option->get_lnames()) words.push_back(name);
  if (chosen.empty())
    for (std::string& name : shown_commands(app)) words.push_back(std::move(name));
  const std::vector<std::string_view> known(words.begin(), words.end());
  for (int place = 1; place < argc; ++place) {
    std::string_view word = argv[place];
    if (word == "--") break;
    const bool is_option = word.starts_with("--");
    if (!is_option && !chosen.empty()) continue;
    word = word.substr(is_option ? 2 : 0, word.find('=') - (is_option ? 2 : 0));
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    if (const auto near = base::near_match(word, known))
      return fmt::format("; did you mean '{}{}'?", is_option ? "--" : "", *near);
  }
  return "";
}

int report_usage(const CLI::App& app, const CLI::ParseError& error, int argc,
                 const char* const* argv) {
  if (error.get_exit_code() == 0) {
    notify_launcher(ThreadsState::not_needed);
    return app.exit(error);
  }
  std::string message = error.what();
  if (message == "A subcommand is required") {
    const auto chosen = app.get_subcommands();
    const std::vector<std::string> names = shown_commands(chosen.empty() ? app : *chosen.front());
    message = fmt::format("expected a command: {}", base::either_of({names.begin(), names.end()}));
  }
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.pop_back();
  base::say(fmt::format("{}: {}{}\nTry '{} --help' for more information.\n", app.get_name(),
                        message, hint(app, argc, argv), command_name(app)));
  return exit_wrong_usage;
}

/// Returns why a word must be refused before CLI11 parses it. CLI11 reads 010 as 8, -1 as a huge
/// number, nan as a number within any range, and "" as a missing value.
std::string why_refused(std::string_view type, const std::string& word) {
  if (word.empty()) return "expected something, found ''";
  const bool is_whole = type == "UINT" || type == "PORT" || type == "COUNT" || type == "RANK";
  if (is_whole && !base::parse_natural(word))
    return fmt::format("expected a whole number, found '{}'", word);
  if (type == "INT" && !base::parse_integer(word))
    return fmt::format("expected an integer, found '{}'", word);
  if (type == "FLOAT" && !base::parse_number(word))
    return fmt::format("expected a number, found '{}'", word);
  return "";
}

void refuse_wrong_words(CLI::App& app) {
  for (CLI::Option* option : app.get_options(nullptr)) {
    if (option->get_lnames().empty()) continue;
    const std::string type = option->get_type_name().substr(0, option->get_type_name().find(':'));
    option->check([type](const std::string& word) { return why_refused(type, word); });
  }
  for (CLI::App* command : app.get_subcommands(nullptr)) refuse_wrong_words(*command);
}

int run_body(CLI::App& app, int argc, const char* const* argv, const std::function<int()>& body) {
  try {
    refuse_wrong_words(app);
    app.parse(argc, argv);
    return body();
  } catch (const CLI::ParseError& error) {
    return report_usage(app, error, argc, argv);
  } catch (const base::ConfigError& error) {
    base::say(fmt::format("{}\n", error.what()));
    return exit_wrong_usage;
  } catch (const std::invalid_argument& error) {
    base::say(fmt::format("{}: {}\n", app.get_name(), error.what()));
    return exit_wrong_usage;
  } catch (const std::system_error& error) {
    const bool is_limit = error.code() == std::errc::too_many_files_open;
    const std::string remedy = is_limit ? fmt::format("; this process may have {} (ulimit -n)",
                                                      runtime::raise_descriptor_limit())
                                        : "";
    base::say(fmt::format("{}: {}{}\n", app.get_name(), error.what(), remedy));
    return exit_failed;
  } catch (const std::exception& error) {
    base::say(fmt::format("{}: {}\n", app.get_name(), error.what()));
    return exit_failed;
  } catch (const runtime::Stop& stop) {
    base::say(fmt::format("{}: {}\n", app.get_name(), stop.what()));
    return exit_failed;
  }
}

}  // namespace

int run_main(CLI::App& app, int argc, const char* const* argv, const std::function<int()>& body) {
  open_standard_streams();
  take_signals_of_writing();
  // The results of a program go to standard output, so its log must not go there.
  const std::string name = app.get_name().empty() ? "paths" : app.get_name();
  if (!spdlog::get(name)) spdlog::set_default_logger(spdlog::stderr_color_mt(name));
  const int code = run_body(app, argc, argv, body);
  if (flush_output() || code != 0) return code;
  if (is_output_unread()) end_by_sigpipe();
  base::say(fmt::format("{}: standard output could not be written\n", app.get_name()));
  return exit_failed;
}

void set_examples(CLI::App& app, const std::string& examples) {
  app.footer("\nExamples:\n" + examples);
}

}  // namespace paths
