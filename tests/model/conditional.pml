// SPDX-License-Identifier: Apache-2.0
// tests/model/conditional.pml — conditional-allreduce between the roots of three clusters.
//
// docs/explanation/model.md describes the model and the parts that it leaves out. Parameters (-D):
// TRANSFER, ROUNDS, CONSTANT, MAY_PROVE. Each of the definitions NO_PAIR, NO_ADOPTION, NO_LAST_SEND
// and NO_MARK removes a rule. The search must then find the error that this rule prevents.

#define CLUSTERS 3
#ifndef ROUNDS
#define ROUNDS 4
#endif
#ifndef CONSTANT
#define CONSTANT 2  // the condition is "at least CONSTANT"; values are 0 to 2
#endif
#ifndef MAY_PROVE
#define MAY_PROVE true  // false = relaxation `exact` over the same caches
#endif

#define PULL 1  // a reader requests a newer tuple than it has, and gets the newest one
#define PUSH 2  // each newest tuple is sent, unless a newer one overtakes it
#define ASK 3   // an undecided root requests tuples: one (`demand`) or more (`subscribe`)
#ifndef TRANSFER
#define TRANSFER PULL
#endif

// ---- State ----

byte round[CLUSTERS];        // round in which a root is, or which it enters next
bool entered[CLUSTERS];      // the root has moved its tuple of that round
bool doomed[CLUSTERS];       // the root's deadline will pass before it decides that round
bool failed[CLUSTERS];       // the root has failed, and its element has an error mark
byte exact_round[CLUSTERS];  // 1 + round of the root's last exact pair; 0 = none
bool exact_holds[CLUSTERS];
bool is_failure_spent;

// Tuples never change, so caches have only their sequences. The next arrays have the contents of
// all tuples, indexed by TUPLE.
#define TUPLE(cluster, sequence) ((cluster) * ROUNDS + (sequence))
byte value[CLUSTERS * ROUNDS];
byte pair_round[CLUSTERS * ROUNDS];  // 1 + round of the tuple's exact pair; 0 = none
bool pair_holds[CLUSTERS * ROUNDS];

// State between two roots, indexed by receiver and sender with LINK.
#define LINK(to, from) ((to) * CLUSTERS + (from))
byte cached[CLUSTERS * CLUSTERS];     // sequence + 1 of the tuple in the cache; 0 = none of use
byte least[CLUSTERS * CLUSTERS];      // PULL: least sequence that the next tuple to arrive may have
bool asked[CLUSTERS * CLUSTERS];      // ASK: the request of this round has no reply yet
bool is_marked[CLUSTERS * CLUSTERS];  // the error mark has arrived

// Sum of the values of a round so far, at most CONSTANT. Only assertions use it, no root knows it.
byte total[ROUNDS];

hidden byte x, y, z, oldest, kept;

// ---- Knowledge of a root ----

#define one(me) (((me) + 1) % CLUSTERS)
#define other(me) (((me) + 2) % CLUSTERS)
#define moved(c) (round[c] + entered[c])  // number of tuples that the root has moved
#define is_over(c) (failed[c] || round[c] == ROUNDS)
#define are_all_over (is_over(0) && is_over(1) && is_over(2))
#define is_waiting(me) (entered[me] && !failed[me] && !doomed[me])

#define is_at(me, j) (cached[LINK(me, j)] == round[me] + 1)
#define is_past(me, j) (cached[LINK(me, j)] > round[me] + 1)
#define newest_of(me, j) TUPLE(j, cached[LINK(me, j)] - 1)
#define value_at(me, j) (is_at(me, j) -> value[newest_of(me, j)] : 0)
#define known_sum(me) \
  (value[TUPLE(me, round[me])] + value_at(me, one(me)) + value_at(me, other(me)))
#ifdef NO_PAIR
#define has_pair(me, j) false
#else
#define has_pair(me, j) (is_past(me, j) && pair_round[newest_of(me, j)] == round[me] + 1)
#endif
#define is_complete(me) (is_at(me, one(me)) && is_at(me, other(me)))
#define is_proved(me) \
  (MAY_PROVE && (is_past(me, one(me)) || is_past(me, other(me)) || known_sum(me) >= CONSTANT))
#define can_decide(me) \
  (has_pair(me, one(me)) || has_pair(me, other(me)) || is_complete(me) || is_proved(me))

#define is_lost(me, j) (is_marked[LINK(me, j)] && !is_at(me, j))
#define is_hope(me, j) (MAY_PROVE && !is_marked[LINK(me, j)] && !is_at(me, j))
#define is_hopeless(me)                                                           \
  ((is_lost(me, one(me)) || is_lost(me, other(me))) && !is_hope(me, one(me)) && \
   !is_hope(me, other(me)))
#define is_undecided(me) (is_waiting(me) && !can_decide(me) && !is_hopeless(me))

#define is_answered(me, j) (cached[LINK(me, j)] > round[me] || is_marked[LINK(me, j)])
#define is_awaited(me, j) (!is_answered(me, j) && (asked[LINK(me, j)] || is_over(j)))
#define is_anyone_awaited(me) (is_awaited(me, one(me)) || is_awaited(me, other(me)))
#define may_ask(me, j) (!is_answered(me, j) && !is_awaited(me, j))

// ---- Tuples that may arrive over a link ----

// True if `from` has moved a tuple that tells `to` more than it knows.
#define is_news(to, from) \
  (!is_over(to) && moved(from) > round[to] && moved(from) > cached[LINK(to, from)])
#define larger(a, b) ((a) > (b) -> (a) : (b))
#if TRANSFER == PULL
// The tuple may arrive even if `to` does not wait, because the next request leaves at its arrival.
#define may_come(to, from) is_news(to, from)
#define first_to_come(to, from) larger(round[to], least[LINK(to, from)])
#elif TRANSFER == PUSH
#define may_come(to, from) (is_waiting(to) && is_news(to, from))
#define first_to_come(to, from) round[to]
#else
#ifdef NO_LAST_SEND
#define may_send_last(from) false
#else
#define may_send_last(from) is_over(from)
#endif
#define may_come(to, from) \
  (is_waiting(to) && is_news(to, from) && (asked[LINK(to, from)] || may_send_last(from)))
#define first_to_come(to, from) (asked[LINK(to, from)] -> round[to] : moved(from) - 1)
#endif

// ---- State that no root can use any more ----

#define learns_from_pair(to, p) (!is_over(to) && round[to] < (p))
#define is_pair_of_use(c, p) (learns_from_pair(one(c), p) || learns_from_pair(other(c), p))
#define may_see(to, c, q) (!is_over(to) && (q) >= round[to] && (q) + 1 >= cached[LINK(to, c)])
#define is_tuple_of_use(c, q)                                               \
  ((q) < moved(c) && (may_see(one(c), c, q) || may_see(other(c), c, q) || \
                      (!is_over(c) && (q) == round[c])))

inline forget_link(to, from) {
  if
  :: is_over(to) ->
    cached[LINK(to, from)] = 0;
    is_marked[LINK(to, from)] = false
  :: !is_over(to) && cached[LINK(to, from)] <= round[to] -> cached[LINK(to, from)] = 0
  :: else
  fi;
#if TRANSFER == PULL
  if
  :: is_over(to) || least[LINK(to, from)] <= larger(round[to], cached[LINK(to, from)]) ->
    least[LINK(to, from)] = 0
  :: else
  fi
#elif TRANSFER == ASK
  asked[LINK(to, from)] = asked[LINK(to, from)] && is_waiting(to) && !is_answered(to, from)
#endif
}

inline forget_tuple(c, q) {
  z = TUPLE(c, q);
  kept = is_tuple_of_use(c, q);
  value[z] = (kept -> value[z] : 0);
  kept = kept && is_pair_of_use(c, pair_round[z]);
  pair_round[z] = (kept -> pair_round[z] : 0);
  pair_holds[z] = kept && pair_holds[z]
}

inline forget() {
  oldest = ROUNDS;
  for (x : 0 .. CLUSTERS - 1) {
    oldest = (!is_over(x) && round[x] < oldest -> round[x] : oldest);
    kept = !is_over(x) && is_pair_of_use(x, exact_round[x]);
    exact_round[x] = (kept -> exact_round[x] : 0);
    exact_holds[x] = kept && exact_holds[x];
    forget_link(x, one(x));
    forget_link(x, other(x));
    for (y : 0 .. ROUNDS - 1) {
      forget_tuple(x, y)
    }
  }
  for (x : 0 .. ROUNDS - 1) {
    total[x] = (x < oldest -> 0 : total[x])
  }
}

// ---- Renaming of clusters ----

#define swap(first, second) \
  z = first;                \
  first = second;           \
  second = z
#define third(a, b) (3 - (a) - (b))
#define swap_links(array, a, b)                                    \
  swap(array[LINK(a, b)], array[LINK(b, a)]);                      \
  swap(array[LINK(a, third(a, b))], array[LINK(b, third(a, b))]);  \
  swap(array[LINK(third(a, b), a)], array[LINK(third(a, b), b)])

#define key(c)                                                                                   \
  (((((((round[c] * 2 + entered[c]) * 2 + failed[c]) * 2 + doomed[c]) * 8 + exact_round[c]) * 2 + \
     exact_holds[c]) * 4 + (moved(c) > 0 -> value[TUPLE(c, moved(c) - 1)] : 0)) * 32 +          \
   cached[LINK(c, one(c))] + cached[LINK(c, other(c))] +                                         \
   2 * (cached[LINK(one(c), c)] + cached[LINK(other(c), c)]))

inline order(a, b) {
  if
  :: key(a) > key(b) ->
    swap(round[a], round[b]);
    swap(entered[a], entered[b]);
    swap(doomed[a], doomed[b]);
    swap(failed[a], failed[b]);
    swap(exact_round[a], exact_round[b]);
    swap(exact_holds[a], exact_holds[b]);
    swap_links(cached, a, b);
    swap_links(is_marked, a, b);
#if TRANSFER == PULL
    swap_links(least, a, b);
#elif TRANSFER == ASK
    swap_links(asked, a, b);
#endif
    for (x : 0 .. ROUNDS - 1) {
      swap(value[TUPLE(a, x)], value[TUPLE(b, x)]);
      swap(pair_round[TUPLE(a, x)], pair_round[TUPLE(b, x)]);
      swap(pair_holds[TUPLE(a, x)], pair_holds[TUPLE(b, x)])
    }
  :: else
  fi
}

// Clears state that no root can use any more, and sorts the clusters. States that differ only in
// this become one state.
inline tidy() {
  d_step {
    forget();
    order(0, 1);
    order(1, 2);
    order(0, 1)
  }
}

// ---- What a root does ----

// Checks a decision against `total`. Values that are missing in it are at least 0: those of roots
// that have not moved their tuple yet, or that failed before.
inline decided(me, holds) {
  assert(holds -> total[round[me]] >= CONSTANT :
         total[round[me]] < CONSTANT && moved(0) > round[me] && moved(1) > round[me] &&
             moved(2) > round[me]);
  entered[me] = false;
  round[me]++
}

inline adopt(me, j) {
  z = newest_of(me, j);
#ifndef NO_ADOPTION
  exact_round[me] = pair_round[z];
  exact_holds[me] = pair_holds[z];
#endif
  kept = pair_holds[z];
  decided(me, kept)
}

inline decide(me) {
  d_step {
    if
    :: has_pair(me, one(me)) -> adopt(me, one(me))
    :: !has_pair(me, one(me)) && has_pair(me, other(me)) -> adopt(me, other(me))
    :: !has_pair(me, one(me)) && !has_pair(me, other(me)) && is_complete(me) ->
      exact_round[me] = round[me] + 1;
      exact_holds[me] = (known_sum(me) >= CONSTANT);
      kept = exact_holds[me];
      decided(me, kept)
    :: else -> decided(me, true)
    fi
  }
}

inline enter(me, mine) {
  z = TUPLE(me, round[me]);
  value[z] = mine;
  pair_round[z] = exact_round[me];
  pair_holds[z] = exact_holds[me];
  z = total[round[me]] + mine;
  total[round[me]] = (z > CONSTANT -> CONSTANT : z);
  entered[me] = true;
  if
  :: MAY_PROVE && mine >= CONSTANT -> decided(me, true)
  :: else
  fi
}

inline fail(me) {
  failed[me] = true;
  doomed[me] = false
}

// An undecided root requests tuples at once, or relies on tuples that it requested before. The
// model leaves free which clusters it asks first. When all of these have replied, it asks the
// others. A reply that is older than the round makes no difference, because the root then asks
// again.
inline ask_some(me) {
#if TRANSFER == ASK
  if
  :: !is_undecided(me) || is_anyone_awaited(me)
  :: is_undecided(me) && !is_anyone_awaited(me) && may_ask(me, one(me)) ->
    asked[LINK(me, one(me))] = true
  :: is_undecided(me) && !is_anyone_awaited(me) && may_ask(me, other(me)) ->
    asked[LINK(me, other(me))] = true
  :: is_undecided(me) && !is_anyone_awaited(me) && may_ask(me, one(me)) &&
     may_ask(me, other(me)) ->
    asked[LINK(me, one(me))] = true;
    asked[LINK(me, other(me))] = true
  fi
#else
  skip
#endif
}

inline bring(to, from, sequence) {
  sequence = larger(cached[LINK(to, from)], first_to_come(to, from));
  do
  :: sequence + 1 < moved(from) -> sequence++
  :: break
  od;
  cached[LINK(to, from)] = sequence + 1;
#if TRANSFER == PULL
  // The reader's next request leaves now. The reply has the newest tuple at that time.
  least[LINK(to, from)] = (moved(from) > sequence + 1 -> moved(from) - 1 : sequence + 1);
#endif
  sequence = 0
}

inline perhaps_bring(to, from, sequence) {
  if
  :: true
  :: may_come(to, from) -> bring(to, from, sequence)
  fi
}

proctype Root(byte me) {
  byte mine;
  do
  :: are_all_over -> break
  :: atomic {
      !is_over(me) && !entered[me] ->
      if
      :: mine = 0
      :: mine = 1
      :: mine = 2
      fi;
      if
      :: true
      :: !is_failure_spent && !(MAY_PROVE && mine >= CONSTANT) ->
        is_failure_spent = true;
        doomed[me] = true
      fi;
      d_step {
        enter(me, mine);
        mine = 0
      };
      ask_some(me);
      tidy()
    }
  :: d_step {  // a contribution fails
      !is_over(me) && !entered[me] && !is_failure_spent ->
      is_failure_spent = true;
      fail(me);
      tidy()
    }
  :: d_step {
      doomed[me] ->
      fail(me);
      tidy()
    }
  :: atomic {  // before the decision, further tuples may arrive
      is_waiting(me) && can_decide(me) ->
#if TRANSFER != PULL
      perhaps_bring(me, one(me), mine);
      perhaps_bring(me, other(me), mine);
#endif
      decide(me);
      tidy()
    }
  :: d_step {
      is_waiting(me) && !can_decide(me) && is_hopeless(me) ->
      fail(me);
      tidy()
    }
  od
}

// ---- What links do ----

// Requests and tuples may take any time. Therefore only the choice of the tuple is modelled, and
// only at its arrival.
proctype Link(byte to, from) {
  byte sequence;
  do
  :: are_all_over -> break
  :: atomic {
      may_come(to, from) && (TRANSFER == PULL || !can_decide(to)) ->
      bring(to, from, sequence);
#if TRANSFER != PULL
      if
      :: can_decide(to) ->
        perhaps_bring(to, third(to, from), sequence);
        decide(to)
      :: else -> ask_some(to)
      fi;
#endif
      tidy()
    }
#ifndef NO_MARK
  :: atomic {
      is_waiting(to) && failed[from] && !is_marked[LINK(to, from)] && !is_news(to, from) ->
      is_marked[LINK(to, from)] = true;
      ask_some(to);
      tidy()
    }
#endif
  od
}

init {
  atomic {
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
