// SPDX-License-Identifier: Apache-2.0
// tests/model/lagged.pml — reductions acted on late, between the roots of three clusters.
//
// docs/explanation/model.md describes the model and the parts that it leaves out. Parameters (-D):
// HORIZON, EVERY (1 = lagged), TRANSFER, WINDOW, ROUNDS. The definition SKIP_MESSAGE breaks a rule.
// The search must then find the error that this rule prevents.

#define CLUSTERS 3
#ifndef HORIZON
#define HORIZON 2  // a root acts on round i in round i + HORIZON
#endif
#ifndef EVERY
#define EVERY 1  // number of rounds whose values one message has
#endif
#ifndef ROUNDS
#define ROUNDS (HORIZON + 4)
#endif
#define CONSTANT 2  // the program stops when the sum of the values (0 to 2) is at least this

#define QUEUE 1   // messages with all values in order; none is skipped
#define NEWEST 2  // caches of the newest tuple, with the last WINDOW values and WINDOW exact sums
#ifndef TRANSFER
#define TRANSFER QUEUE
#endif
#ifndef WINDOW
#define WINDOW (HORIZON + 1)
#endif

#define LINK(to, from) ((to) * CLUSTERS + (from))

byte watched;  // the only round in which values may differ from 0
byte total;    // sum of the values of the watched round so far
byte exact[CLUSTERS];   // sum of the watched round on which each root acted
byte started[CLUSTERS];  // number of rounds that each root has started
byte acted[CLUSTERS];   // number of rounds on which each root has acted
byte ended[CLUSTERS];   // 1 + value of `acted` when the program stopped; 0 = it runs
bool failed[CLUSTERS];
bool doomed[CLUSTERS];  // the root's deadline will pass before it acts on its next round
bool is_failure_spent, is_skip_spent;

bool is_marked[CLUSTERS * CLUSTERS];
#if TRANSFER == QUEUE
// Fields of a message: its first round, its number of values, and the values in two bits each.
chan link[CLUSTERS * CLUSTERS] = [ROUNDS / EVERY + 2] of {byte, byte, short};
#define MARK 0  // number of values in a message that is an error mark
short known[CLUSTERS * CLUSTERS];  // bit i: the value of round i has arrived and was not used yet
byte seen[CLUSTERS * CLUSTERS];    // value of the watched round, if it has arrived
short unsent[CLUSTERS];            // values that were not sent yet, two bits each
byte unsent_count[CLUSTERS];
#else
byte cached[CLUSTERS * CLUSTERS];  // sequence + 1 of the tuple in the cache; 0 = none
byte value[CLUSTERS];              // value of each cluster in the watched round
#endif

hidden byte sum, z;

#define one(me) (((me) + 1) % CLUSTERS)
#define other(me) (((me) + 2) % CLUSTERS)
#define is_over(c) (failed[c] || ended[c])
#define are_all_over (is_over(0) && is_over(1) && is_over(2))
// True if the root has started the round in which it acts on its next round.
#define is_waiting(me) (!is_over(me) && started[me] == acted[me] + HORIZON + 1)

// ---- Knowledge of a root about the round on which it acts next ----

#if TRANSFER == QUEUE
#define has_value(me, j) ((known[LINK(me, j)] >> acted[me]) & 1)
#define has_sum(me, j) false
#define value_of(me, j) seen[LINK(me, j)]
#define own_value(me) seen[LINK(me, me)]
#else
#define newest(me, j) (cached[LINK(me, j)] - 1)
#define has_value(me, j) \
  (cached[LINK(me, j)] > acted[me] && acted[me] + WINDOW > newest(me, j))
// Before a root moved a tuple, it had acted on the round that is HORIZON + 1 rounds earlier. The
// tuple therefore has the exact sum of that round.
#define has_sum(me, j)                                       \
  (cached[LINK(me, j)] > 0 && newest(me, j) >= acted[me] + HORIZON + 1 && \
   acted[me] + HORIZON + 1 + WINDOW > newest(me, j))
#define value_of(me, j) value[j]
#define own_value(me) value[me]
#endif
#define is_complete(me) (has_value(me, one(me)) && has_value(me, other(me)))
#define can_act(me) (is_complete(me) || has_sum(me, one(me)) || has_sum(me, other(me)))
#define is_lost(me, j) (is_marked[LINK(me, j)] && !has_value(me, j))

// True if a value may arrive now. An earlier arrival has no effect until the root needs the value.
#define is_needed(me, j) (is_waiting(me) && !doomed[me] && !can_act(me) && !has_value(me, j))

// ---- Renaming of clusters ----

#if TRANSFER == NEWEST
#define swap(first, second) \
  z = first;                \
  first = second;           \
  second = z
#define third(a, b) (3 - (a) - (b))
#define swap_links(array, a, b)                                    \
  swap(array[LINK(a, b)], array[LINK(b, a)]);                      \
  swap(array[LINK(a, third(a, b))], array[LINK(b, third(a, b))]);  \
  swap(array[LINK(third(a, b), a)], array[LINK(third(a, b), b)])

#define key(c)                                                                          \
  (((((started[c] * 16 + acted[c]) * 2 + failed[c]) * 2 + doomed[c]) * 4 + value[c]) * 32 + \
   cached[LINK(c, one(c))] + cached[LINK(c, other(c))] +                                \
   2 * (cached[LINK(one(c), c)] + cached[LINK(other(c), c)]))

inline order(a, b) {
  if
  :: key(a) > key(b) ->
    swap(started[a], started[b]);
    swap(acted[a], acted[b]);
    swap(ended[a], ended[b]);
    swap(failed[a], failed[b]);
    swap(doomed[a], doomed[b]);
    swap(value[a], value[b]);
    swap(exact[a], exact[b]);
    swap_links(cached, a, b);
    swap_links(is_marked, a, b)
  :: else
  fi
}
#endif

// Sorts the clusters, so that states that differ only in the names of clusters become one state.
inline tidy() {
#if TRANSFER == NEWEST
  d_step {
    order(0, 1);
    order(1, 2);
    order(0, 1)
  }
#else
  skip
#endif
}

// ---- What a root does ----

#define is_past_watched(c) (failed[c] || acted[c] > watched)

// Clears values that no root can use any more, so that states that differ only in these values
// become one state.
inline forget(me, j) {
#if TRANSFER == QUEUE
  known[LINK(me, j)] = (known[LINK(me, j)] >> acted[me]) << acted[me];
  seen[LINK(me, j)] = (acted[me] > watched -> 0 : seen[LINK(me, j)])
#else
  cached[LINK(me, j)] =
      (is_over(me) || cached[LINK(me, j)] <= acted[me] -> 0 : cached[LINK(me, j)]);
  is_marked[LINK(me, j)] = is_marked[LINK(me, j)] && !is_over(me);
  total = (is_past_watched(0) && is_past_watched(1) && is_past_watched(2) -> 0 : total);
  if
  :: is_past_watched(0) && is_past_watched(1) && is_past_watched(2) ->
    value[j] = 0;
    exact[j] = 0
  :: else
  fi
#endif
}

#if TRANSFER == QUEUE
inline send(me) {
  if
  :: unsent_count[me] > 0 ->
    link[LINK(one(me), me)] ! started[me] - unsent_count[me], unsent_count[me], unsent[me];
    link[LINK(other(me), me)] ! started[me] - unsent_count[me], unsent_count[me], unsent[me];
    unsent[me] = 0;
    unsent_count[me] = 0
  :: else
  fi
}
#endif

inline start(me, mine) {
  total = total + mine;
  started[me]++;
#if TRANSFER == QUEUE
  unsent[me] = unsent[me] | (mine << (2 * unsent_count[me]));
  unsent_count[me]++;
  seen[LINK(me, me)] = (started[me] - 1 == watched -> mine : seen[LINK(me, me)]);
#else
  value[me] = (started[me] - 1 == watched -> mine : value[me]);
#endif
  mine = 0
}

inline act(me) {
  assert(started[0] > acted[me] && started[1] > acted[me] && started[2] > acted[me]);
  if
  :: acted[me] == watched ->
    if
    :: is_complete(me) ->
      sum = own_value(me) + value_of(me, one(me)) + value_of(me, other(me))
    :: !is_complete(me) && has_sum(me, one(me)) -> sum = exact[one(me)]
    :: else -> sum = exact[other(me)]
    fi;
    assert(sum == total);
    exact[me] = sum
  :: else -> sum = 0
  fi;
  acted[me]++;
  if
  :: sum >= CONSTANT || started[me] == ROUNDS -> ended[me] = acted[me] + 1
  :: else
  fi;
  // All programs stop after they acted on the same round.
  assert(!ended[me] || ((!ended[one(me)] || ended[one(me)] == ended[me]) &&
                        (!ended[other(me)] || ended[other(me)] == ended[me])));
  forget(me, one(me));
  forget(me, other(me))
}

inline fail(me) {
  failed[me] = true;
  doomed[me] = false;
  forget(me, one(me));
  forget(me, other(me));
#if TRANSFER == QUEUE
  link[LINK(one(me), me)] ! 0, MARK, 0;
  link[LINK(other(me), me)] ! 0, MARK, 0
#else
  skip
#endif
}

proctype Root(byte me) {
  byte mine;
  do
  :: are_all_over -> break
  :: atomic {
      !is_over(me) && !is_waiting(me) ->
      if
      :: mine = 0
      :: started[me] == watched -> mine = 1
      :: started[me] == watched -> mine = 2
      fi;
      start(me, mine);
#if TRANSFER == QUEUE
      if
      :: started[me] % EVERY == 0 || started[me] == ROUNDS ->
        if
        :: send(me)
#ifdef SKIP_MESSAGE
        :: !is_skip_spent ->
          is_skip_spent = true;
          unsent[me] = 0;
          unsent_count[me] = 0
#endif
        fi
      :: else
      fi;
#endif
      if
      :: true
      :: is_waiting(me) && !is_failure_spent ->
        is_failure_spent = true;
        doomed[me] = true
      fi;
      tidy()
    }
  :: atomic {  // a contribution fails; values that were not sent are lost, or sent before the mark
      !is_over(me) && !is_waiting(me) && !is_failure_spent ->
      is_failure_spent = true;
#if TRANSFER == QUEUE
      if
      :: true
      :: unsent_count[me] > 0 -> send(me)
      fi;
#endif
      fail(me);
      tidy()
    }
  :: d_step {
      doomed[me] ->
      fail(me);
      tidy()
    }
  :: d_step {
      is_waiting(me) && !doomed[me] && can_act(me) ->
      act(me);
      tidy()
    }
  :: d_step {
      is_waiting(me) && !doomed[me] && !can_act(me) &&
          (is_lost(me, one(me)) || is_lost(me, other(me))) ->
      assert(is_failure_spent);
      fail(me);
      tidy()
    }
  od
}

// ---- What links do ----

proctype Link(byte to, from) {
#if TRANSFER == QUEUE
  byte first, count;
  short values;
  do
  :: are_all_over -> break
  :: d_step {
      is_needed(to, from) && nempty(link[LINK(to, from)]) ->
      link[LINK(to, from)] ? first, count, values;
      if
      :: count == MARK -> is_marked[LINK(to, from)] = true
      :: else ->
        known[LINK(to, from)] = known[LINK(to, from)] | (((1 << count) - 1) << first);
        if
        :: first <= watched && watched < first + count ->
          seen[LINK(to, from)] = (values >> (2 * (watched - first))) & 3
        :: else
        fi;
        forget(to, from)
      fi;
      first = 0;
      count = 0;
      values = 0
    }
  od
#else
  do
  :: are_all_over -> break
  :: atomic {  // any newer tuple arrives; those before it are skipped
      is_needed(to, from) && cached[LINK(to, from)] < started[from] ->
      cached[LINK(to, from)]++;
      do
      :: cached[LINK(to, from)] < started[from] -> cached[LINK(to, from)]++
      :: break
      od;
      tidy()
    }
  :: d_step {
      is_needed(to, from) && failed[from] && !is_marked[LINK(to, from)] &&
          cached[LINK(to, from)] == started[from] ->
      is_marked[LINK(to, from)] = true;
      tidy()
    }
  od
#endif
}

init {
  atomic {
    if
    :: watched = 0
    :: watched = 1
    :: watched = 2
    :: watched = 3
    fi;
    run Root(0);
    run Root(1);
    run Root(2);
    run Link(0, 1);
    run Link(0, 2);
    run Link(1, 0);
    run Link(1, 2);
    run Link(2, 0);
    run Link(2, 1)
  }
}
