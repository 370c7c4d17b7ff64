// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/resumptions.cpp — service contexts that run continuations
#include "runtime/scheduler/resumptions.hpp"

#include <exception>
#include <utility>

#include "runtime/scheduler/executor.hpp"

namespace runtime {

/// Work that resumes one continuation in a context. Objects are reused, so resuming allocates
/// nothing.
class Resumptions::Resumption final : public Work {
 public:
  explicit Resumption(Resumptions& all) : all_(all) {}
  void begin(Continuation& continuation) {
    continuation_ = &continuation;
    all_.executor_.begin(ContextRole::service, {"service"}, service_stack_bytes, *this);
  }

 private:
  void run() override { std::exchange(continuation_, nullptr)->resume(); }
  void ended(std::exception_ptr) override {
    let_go();
    if (continuation_ != nullptr) run();  // run() was not called, because the run ends
    all_.idle_.emplace_back(this);
  }

  Resumptions& all_;
  Continuation* continuation_ = nullptr;
};

Resumptions::Resumptions(Executor& executor) : executor_(executor) {}
Resumptions::~Resumptions() = default;

void Resumptions::resume(Continuation& continuation) {
  const bool may_run_here = executor_.is_parallel() || !executor_.on_own_thread();
  // If contexts are not parallel, `may_run_here` is true only after the end of the run.
  if (may_run_here) return continuation.resume();
  if (idle_.empty()) idle_.push_back(std::make_unique<Resumption>(*this));
  std::unique_ptr<Resumption> resumption = std::move(idle_.back());
  idle_.pop_back();
  try {
    resumption->begin(continuation);
    resumption.release();            // now the context owns the Resumption, until ended()
  } catch (const std::exception&) {  // there is no stack for another context
    continuation.resume();
  }
}

void schedule(Runtime& runtime, Continuation& continuation) {
  Context::executor_of(runtime).resumptions.resume(continuation);
}

base::Nanos end_of(const Runtime& runtime, Deadline deadline) {
  return Context::executor_of(runtime).clock().end_of(deadline);
}

Deadline sooner(const Runtime& runtime, Deadline left, Deadline right) {
  return end_of(runtime, right) < end_of(runtime, left) ? right : left;
}

}  // namespace runtime
