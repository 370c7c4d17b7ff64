// SPDX-License-Identifier: Apache-2.0
// bench/allreduce_rate.cpp — time of consecutive allreduces, measured by thread 0
//
//   paths run CONFIG -- allreduce_rate [--by tree|group|loop] [--bytes 32MiB]
//
// The option --by chooses the allreduce: the tree that the config declares, the group of all
// threads, or a loop over shared memory.
//
// The tree is that of the config's collective `sum`, which must reduce doubles. The loop is a lower
// bound for any framework: each thread adds its part of the elements of all vectors, and writes the
// sums to every vector. It works only among threads of one process.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <barrier>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "base/units.hpp"
#include "groups/group.hpp"
#include "paths/host/host.hpp"
#include "wrappers/main.hpp"

namespace {

struct Options {
  std::uint64_t allreduces = 5000;
  std::uint64_t repetitions = 7;
  std::string by = "tree";
  std::string schedule = "best";
  std::string bytes = "8B";
};

using Vector = std::vector<double>;

/// The vectors of all threads, which run in one process.
struct Shared {
  explicit Shared(std::size_t threads)
      : vectors(threads), all(static_cast<std::ptrdiff_t>(threads)) {}
  std::vector<Vector> vectors;
  std::barrier<> all;

  void sum(std::size_t me) {
    all.arrive_and_wait();
    const std::size_t size = vectors[me].size(), threads = vectors.size();
    const std::size_t end = size * (me + 1) / threads;
    for (std::size_t i = size * me / threads; i < end; ++i) {
      double sum = 0;
      for (const Vector& one : vectors) sum += one[i];
      for (Vector& one : vectors) one[i] = sum;
    }
    all.arrive_and_wait();
  }
};

class AllreduceRate {
 public:
  explicit AllreduceRate(const Options& options) : options_(options) {}
  void prepare(const paths::Plan& plan, const paths::RunOptions& run) {
    const auto bytes = base::parse_bytes(options_.bytes);
    if (!bytes || *bytes == 0 || *bytes % sizeof(double) != 0)
      throw std::invalid_argument("--bytes: expected those of whole doubles, such as 8B or 32MiB");
    size_ = *bytes / sizeof(double);
    const bool is_steady = run.clock == runtime::ClockKind::steady;
    if (options_.by == "loop" && (plan.hosts.size() != 1 || !is_steady))
      throw std::invalid_argument("--by loop: expected a config of one host, on the steady clock");
    if (options_.by == "tree" && size_ != 1)
      throw std::invalid_argument("--by tree: expected 8 bytes");
    shared_ = std::make_unique<Shared>(plan.thread_count());
  }
  void run(paths::Thread& thread) const {
    Vector& mine = shared_->vectors[thread.rank()];
    mine.resize(size_);
    if (options_.by == "tree") {
      paths::Path& sum = thread.path("sum");
      repeat(thread, [&] { sum.move_value(mine.front()); });
    } else if (options_.by == "group") {
      groups::Group world(thread);
      repeat(thread, [&] {
        world.run(groups::by(options_.schedule, groups::allreduce(mine, mine, "sum")));
      });
    } else {
      repeat(thread, [&] { shared_->sum(thread.rank()); });
    }
  }

 private:
  template <class Allreduce>
  void repeat(paths::Thread& thread, Allreduce allreduce) const {
    std::vector<double> each;
    for (std::uint64_t repetition = 0; repetition <= options_.repetitions; ++repetition) {
      const base::Nanos began = thread.now();
      for (std::uint64_t i = 0; i < options_.allreduces; ++i) allreduce();
      const double span = std::chrono::duration<double, std::micro>(thread.now() - began).count();
      if (repetition > 0) each.push_back(span / static_cast<double>(options_.allreduces));
    }
    if (thread.rank() != 0) return;
    std::sort(each.begin(), each.end());
    fmt::print("{} threads, {} bytes by {}: {:.2f} us, at best {:.2f}, at worst {:.2f}\n",
               thread.host().plan().thread_count(), size_ * sizeof(double), options_.by,
               each[each.size() / 2], each.front(), each.back());
  }

  const Options& options_;
  std::size_t size_ = 1;
  std::unique_ptr<Shared> shared_;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  AllreduceRate rate(options);
  paths::Program program;
  program.name = "allreduce_rate";
  program.help = "Measures the time of allreduces, one after the other.";
  program.prepare = [&rate](const paths::Plan& plan, const paths::RunOptions& run) {
    rate.prepare(plan, run);
  };
  program.thread = [&rate](paths::Thread& thread) { rate.run(thread); };
  program.options = [&options](CLI::App& app) {
    app.add_option("--allreduces", options.allreduces, "Number of allreduces in each repetition");
    app.add_option("--repetitions", options.repetitions,
                   "Number of repetitions; their median is shown");
    app.add_option("--by", options.by,
                   "Method: the declared tree, the group of all, or a loop over memory")
        ->check(CLI::IsMember({"tree", "group", "loop"}));
    app.add_option("--schedule", options.schedule, "Schedule of the group");
    app.add_option("--bytes", options.bytes, "Size of each vector");
  };
  return paths::main(argc, argv, std::move(program));
}
