// SPDX-License-Identifier: Apache-2.0
// tests/model/subscription.pml — a root that asks another one for its next COUNT tuples.
//
// docs/explanation/model.md describes the model. Parameters (-D): COUNT, ROUNDS. Each of the
// definitions ASK_ALWAYS, COUNT_ROUNDS, NO_LAST_SEND and NO_MARK breaks a rule. The search must
// then find the error that this rule prevents.

#ifndef ROUNDS
#define ROUNDS 6
#endif
#ifndef COUNT
#define COUNT 2  // tuples per request; 1 = `demand`, more = `subscribe`
#endif
#define MARK 255

// ---- Asking root ----

byte round;
byte cached;     // sequence + 1 of the newest tuple that arrived; 0 = none
byte came;       // number of tuples that arrived
byte asked_for;  // value of `came` when all requests will be answered
bool is_marked;

// ---- Replying root ----

byte moved;  // tuples in its element; their sequences count from 0
bool has_failed;
bool has_ended;  // the root may also stay alive after its last tuple
byte next;       // sequence of the first tuple that was not sent
byte from;       // least sequence of the requested tuples
byte to_answer;  // number of requested tuples that are not sent yet

// The channels have room for all messages that can be under way, so a send never waits.
chan asks = [2] of { byte };
chan tuples = [ROUNDS + 2] of { byte };

#define larger(a, b) ((a) > (b) -> (a) : (b))
#define is_undecided (cached <= round && !is_marked)
#ifdef ASK_ALWAYS
#define is_owed (len(asks) > 0)
#else
#define is_owed (came < asked_for)
#endif
#define has_news (moved > larger(next, from))

proctype Asker() {
  do
  :: round == ROUNDS -> break
  :: round < ROUNDS ->
    if
    :: round++  // values of other clusters decide the round
    :: true ->
      do
      :: cached > round ->
        round++;
        break
      :: is_marked && cached <= round ->
        assert(has_failed);
        goto over
      :: atomic {
          is_undecided && !is_owed ->
          assert(has_ended || len(asks) == 0 && to_answer == 0);  // both ends count alike
          asked_for = came + COUNT;
          asks ! round
        }
      od
    fi
  od;
over:
  skip
}

proctype Arrival() {
  byte tuple;
end:
  do
  :: atomic {
      tuples ? tuple ->
      if
      :: tuple == MARK -> is_marked = true
      :: else ->
        assert(tuple >= cached);
        cached = tuple + 1;
        came++
      fi;
      tuple = 0
    }
  od
}

proctype Root() {
  do
  :: moved < ROUNDS -> moved++
  :: moved < ROUNDS ->
    has_failed = true;
    break
  :: moved == ROUNDS -> break
  od;
  if
  :: has_ended = true
  :: true
  fi
}

// Sends only the newest tuple. It counts as one tuple, even if it skips older ones.
inline send_newest() {
  tuples ! moved - 1;
#ifdef COUNT_ROUNDS
  to_answer = (to_answer > moved - next -> to_answer - (moved - next) : 0);
#else
  to_answer = (to_answer > 0 -> to_answer - 1 : 0);
#endif
  next = moved
}

inline send_mark() {
#ifndef NO_MARK
  tuples ! MARK
#else
  skip
#endif
}

proctype Push() {
end:
  do
  :: atomic {
      to_answer == 0 && !has_ended && nempty(asks) ->
      asks ? from;
      to_answer = COUNT
    }
  :: atomic {
      to_answer > 0 && has_news -> send_newest()
    }
  :: atomic {
      to_answer > 0 && !has_news && has_failed ->
      send_mark();
      break
    }
  :: atomic {  // an ended root sends its newest tuple without a request
      has_ended ->
#ifndef NO_LAST_SEND
      if
      :: moved > next -> send_newest()
      :: else
      fi;
#endif
      send_mark();
      break
    }
  od
}

init {
  atomic {
    run Asker();
    run Arrival();
    run Root();
    run Push()
  }
}
