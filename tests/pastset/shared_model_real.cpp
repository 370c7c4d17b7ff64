// SPDX-License-Identifier: Apache-2.0
// tests/pastset/shared_model_real.cpp — an element of several processes compared with the model.
#include <sys/socket.h>

#include "tests/pastset/element_model.hpp"
#include "tests/pastset/shared_space_scene.hpp"

using namespace element_model;

namespace {

using test_support::Forked;

struct Asked {
  enum class What : std::uint8_t { begin, cancel, is_done, take, at_once } what;
  std::uint64_t id = 0, number = 0;
  Access::Kind kind = Access::Kind::move;
  Subject::AtOnce at_once = Subject::AtOnce::numbers;
  std::uint32_t bytes = 0;
  char text[text_bytes_max + 20];
};
struct Answered {
  bool is_so = false;
  std::uint32_t bytes = 0;
  char text[text_bytes_max + 20];
};

template <class To>
void put(To& to, const std::string& text) {
  to.bytes = static_cast<std::uint32_t>(text.size());
  REQUIRE(text.size() <= sizeof to.text);
  std::memcpy(to.text, text.data(), text.size());
}

Answered answer(Subject& subject, const Asked& asked) {
  Answered out{};
  Model::Begun begun{asked.kind, asked.number, std::string(asked.text, asked.bytes)};
  switch (asked.what) {
    case Asked::What::begin: subject.begin(asked.id, begun); break;
    case Asked::What::cancel: out.is_so = subject.cancel(asked.id); break;
    case Asked::What::is_done: out.is_so = subject.is_done(asked.id, false); break;
    case Asked::What::take: put(out, subject.take(asked.id)); break;
    case Asked::What::at_once: put(out, subject.do_at_once(asked.at_once, asked.number)); break;
  }
  return out;
}

/// A child process that maps the space and carries out requests of the test.
class Remote {
 public:
  Remote(const std::string& name, const ElementOptions& options, bool makes_it)
      : ends_(new_ends()), process_([&](runtime::Runtime& runtime) {
          const auto space = makes_it ? pastset::SharedSpace::make(name)
                                      : shared_space_scene::map_when_there(runtime, name);
          const auto element =
              space->enter("e", any_bytes, options, {.slots = 4096, .arena_bytes = arena_bytes});
          InThisProcess subject(*element);
          for (Asked asked{}; recv(ends_[1], &asked, sizeof asked, 0) == sizeof asked;) {
            const Answered answered = answer(subject, asked);
            send(ends_[1], &answered, sizeof answered, MSG_NOSIGNAL);
          }
        }) {}
  ~Remote() {
    for (const int end : ends_) close(end);
  }
  Answered ask(const Asked& asked) {
    Answered answered{};
    REQUIRE(send(ends_[0], &asked, sizeof asked, MSG_NOSIGNAL) == sizeof asked);
    REQUIRE(recv(ends_[0], &answered, sizeof answered, 0) == sizeof answered);
    return answered;
  }

 private:
  static std::array<int, 2> new_ends() {
    std::array<int, 2> ends{};
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0);
    const timeval most{30, 0};  // a request that hangs for 30 s fails the test
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    return ends;
  }
  const std::array<int, 2> ends_;
  Forked process_;
};

/// An element that several processes share, as the subject. Reads wait in the first process, so
/// that their order is known. Other operations run in any of the processes.
class InProcesses final : public Subject {
 public:
  InProcesses(const ElementOptions& options, std::size_t processes, std::uint64_t seed)
      : random_(seed, 1) {
    const std::string name = shared_space_scene::own_name();
    for (std::size_t i = 0; i < processes; ++i) remotes_.emplace_back(name, options, i == 0);
  }
  void begin(std::uint64_t id, const Model::Begun& begun) override {
    Remote& where = begun.kind == Access::Kind::move ? any() : remotes_.front();
    begun_at_[id] = &where;
    Asked asked = about(Asked::What::begin, id);
    asked.kind = begun.kind;
    asked.number = begun.number;
    put(asked, begun.moved);
    where.ask(asked);
  }
  bool cancel(std::uint64_t id) override {
    return begun_at_.at(id)->ask(about(Asked::What::cancel, id)).is_so;
  }
  /// Returns whether the access has ended. If the access has ended in the model (`is_due`), first
  /// waits a little, because another process may be notified later.
  bool is_done(std::uint64_t id, bool is_due) override {
    for (int tried = 0;; ++tried) {
      if (begun_at_.at(id)->ask(about(Asked::What::is_done, id)).is_so) return true;
      if (!is_due || tried == 5000) return false;
      if (tried > 50) shared_space_scene::pause(std::chrono::milliseconds(1));
    }
  }
  Outcome take(std::uint64_t id) override {
    return text_of(begun_at_.at(id)->ask(about(Asked::What::take, id)));
  }
  Outcome do_at_once(AtOnce what, std::uint64_t number) override {
    Asked asked = about(Asked::What::at_once, 0);
    asked.at_once = what;
    asked.number = number;
    return text_of(any().ask(asked));
  }

 private:
  static Asked about(Asked::What what, std::uint64_t id) {
    Asked asked{};
    asked.what = what;
    asked.id = id;
    return asked;
  }
  static Outcome text_of(const Answered& answered) {
    return std::string(answered.text, answered.bytes);
  }
  Remote& any() {
    return *std::next(remotes_.begin(),
                      static_cast<std::ptrdiff_t>(random_.below(remotes_.size())));
  }
  runtime::Random random_;
  std::list<Remote> remotes_;
  std::map<std::uint64_t, Remote*> begun_at_;
};

}  // namespace

TEST_CASE("shared space: whatever several processes do to an element it behaves like the model") {
  const char* const wanted = std::getenv("PATHS_SEEDS");
  const std::uint64_t seeds = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 2;
  const std::size_t processes = GENERATE(2U, 4U);
  const ElementOptions options = all_options();
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    INFO(processes << " processes, delta " << options.delta << ", keeps " << options.keep_newest
                   << ", seed " << seed);
    InProcesses subject(options, processes, seed);
    Pair pair(subject, options, seed);
    for (int step = 0; step < 600; ++step) pair.step();
  }
}
