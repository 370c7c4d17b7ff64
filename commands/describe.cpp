// SPDX-License-Identifier: Apache-2.0
// commands/describe.cpp — `paths describe`: formats of the files that the program writes.
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include "commands/commands.hpp"
#include "commands/explanation_report.hpp"
#include "eventspace/analysis/describe_report.hpp"

namespace commands {
namespace {

struct DescribeOptions {
  std::string format;
  bool schema = false;
  bool typescript = false;
  bool docs = false;
};

void print_description(const DescribeOptions& options) {
  if (options.schema + options.typescript + options.docs != 1)
    throw std::invalid_argument("expected one of --schema, --typescript and --docs");
  const eventspace::FileFormat format =
      options.format == "report" ? eventspace::report_format() : explanation_format();
  if (options.schema) std::cout << print_schema(format);
  if (options.typescript) std::cout << print_typescript(format.types);
  if (options.docs) std::cout << print_field_reference(format);
}

}  // namespace

void add_describe_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<DescribeOptions>();
  CLI::App* command =
      app.add_subcommand("describe", "Describe the format of files that the program writes");
  command
      ->add_option("FORMAT", options->format,
                   "`report`: output of `paths analyze --json`; `explanation`: output of\n"
                   "`paths explain --json`")
      ->required()
      ->check(CLI::IsMember({"report", "explanation"}));
  const std::string group = "Print one of";
  command->add_flag("--schema", options->schema, "JSON schema")->group(group);
  command->add_flag("--typescript", options->typescript, "TypeScript types")->group(group);
  command->add_flag("--docs", options->docs, "reference of fields in Markdown")->group(group);
  set_examples(*command, "  paths describe report --schema\n");
  command->callback([options, &exit_code] {
    print_description(*options);
    exit_code = succeeded;
  });
}

}  // namespace commands
