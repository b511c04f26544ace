/*
 * Two gates that lend one another slots: what a group adds to gate.pml. A caller
 * stands in the line of its own gate only; a slot may be lent while its gate has no
 * line and owes none. README.md says which function each part stands for.
 *
 * Gate 0 has one slot, gate 1 has SLOTS; all are in use at the beginning. CALLERS
 * callers come to gate 0 and NEIGHBOURS to gate 1. With -DRESIZE gate 1 gives up a
 * slot at any time. -DSTRICT and -DBROKEN_... are as in gate.pml; there is no
 * starving here, but for strict order.
 */
#ifndef SLOTS
#define SLOTS 1
#endif
#ifndef CALLERS
#define CALLERS 1
#endif
#ifndef NEIGHBOURS
#define NEIGHBOURS 1
#endif
#define HOLDERS (1 + SLOTS)
#define ALL     (CALLERS + NEIGHBOURS)
#define NOBODY  255

/* Seen by everybody. */
byte slots[2];
byte word[2];
bool waiting[2], indebted[2];
bool told[2];			/* the group's word: this gate has a line */
byte token[ALL];
bool granted[ALL];

/* Written under the mutexes, seen by everybody. */
bool flight[2];

/* Guarded by the mutexes. */
bool mu[2];
chan line0 = [ALL] of { byte };
chan line1 = [ALL] of { byte };
chan line[2];
bool rousing[ALL];
byte debt;			/* of gate 1 */

/* For the proof only. */
byte runs[2], most[2];
byte ended;
bool goOn;

#ifdef STRICT
#define barred(g) (waiting[g] || indebted[g])
#define ordered   true
#else
#define barred(g) indebted[g]
#define ordered   false
#endif
#define flagged(g) (barred(g) || waiting[g] && !flight[g])
#define lender(g)  (!waiting[g] && !indebted[g])
#define free(g)    (word[g] < slots[g])
#define nobody(g)  (len(line[g]) == 0)
#define other(g)   (1 - g)

inline lock(g) { atomic { !mu[g] -> mu[g] = true } }

inline post() {
	if
	:: wake != NOBODY ->
		atomic {
			assert(token[wake] == 0);
			token[wake]++;
			wake = NOBODY
		}
	:: else
	fi
}

inline take() { atomic { token[me] > 0 -> token[me]-- } }

inline claimOf(g) {
	atomic {
		if
		:: free(g) -> word[g]++; got = true; at = g
		:: else
		fi
	}
}

/* The own slots, unless they are owed, and then the neighbour's. */
inline claim(g) {
	got = false;
	if
	:: !indebted[g] -> claimOf(g)
	:: else
	fi;
	if
	:: !got ->
		if
		:: lender(other(g)) -> claimOf(other(g))
		:: else
		fi
	:: else
	fi
}

inline rouse(g) {
	d_step {
		if
		:: !flight[g] && !nobody(g) -> line[g]?<wake>; flight[g] = true; rousing[wake] = true
		:: else
		fi
	}
}

inline rouseFree(g) {
	if
	:: flight[g] || nobody(g)
	:: else ->
		if
		:: !indebted[g] && free(g) -> rouse(g)
		:: else ->
			if
			:: lender(other(g)) ->
				if
				:: free(other(g)) -> rouse(g)
				:: else
				fi
			:: else
			fi
		fi
	fi
}

/* kick tells the neighbour that has a line. No mutex is held. */
inline kick(g) {
	if
	:: told[other(g)] ->
		lock(other(g));
		rouseFree(other(g));
		mu[other(g)] = false;
		post()
	:: else
	fi
}

inline lower(g) {
	if
	:: nobody(g) ->
		waiting[g] = false;
		if
		:: told[g] -> told[g] = false; dissolved = true
		:: else
		fi
	:: else
	fi
}

/* unlock, with all that follows it. */
inline unlock(g) {
	mu[g] = false;
	post();
#ifndef BROKEN_NO_KICK_ON_DISSOLVE
	if
	:: dissolved -> dissolved = false; kick(g)
	:: else
	fi
#else
	dissolved = false
#endif
}

/* payDebt: the gate occupies free slots while it owes some. */
inline payDebt(g) {
	if
	:: g == 1 && indebted[1] ->
		atomic {
			if
			:: debt > 0 && free(1) -> slots[1]--; debt--
			:: else
			fi
		};
		if
		:: debt == 0 -> indebted[1] = false
		:: else
		fi
	:: else
	fi
}

inline handOver(g) {
	if
	:: g == 1 && debt > 0 ->
		atomic { word[1]--; slots[1]--; debt-- };
		payDebt(g)
	:: else ->
		if
		:: ordered && !nobody(g) ->
			d_step {
				line[g]?wake;
				granted[wake] = true;
				if
				:: rousing[wake] -> rousing[wake] = false; flight[g] = false; wake = NOBODY
				:: else
				fi
			};
			lower(g);
			if
			:: wake == NOBODY -> rouseFree(g)
			:: else
			fi
		:: else ->
			word[g]--;
			rouse(g)
		fi
	fi;
	none = nobody(g);
	unlock(g);
	if
	:: none -> none = false; kick(g)
	:: else
	fi
}

/* freed is the rest of a release that has seen a flag too late. */
inline freed(g) {
	lock(g);
	payDebt(g);
	rouseFree(g);
	unlock(g);
#ifndef BROKEN_NO_KICK_AFTER_DEBT
	kick(g)
#endif
}

inline release(g) {
	runs[g]--;
	if
	:: flagged(g) -> lock(g); handOver(g)
	:: else ->
		word[g]--;
		if
		:: flagged(g) -> freed(g)
#ifndef BROKEN_NO_KICK_AFTER_RELEASE
		:: else -> kick(g)
#else
		:: else
#endif
		fi
	fi
}

inline work(g) {
	atomic { runs[g]++; assert(runs[g] <= most[g]) };
	if
	:: true
	:: true -> goOn
	fi;
	release(g)
}

init {
	atomic {
		slots[0] = 1; word[0] = 1; runs[0] = 1; most[0] = 1;
		slots[1] = SLOTS; word[1] = SLOTS; runs[1] = SLOTS; most[1] = SLOTS;
		line[0] = line0; line[1] = line1;
		byte i;
		run Holder(0);
		for (i : 1 .. SLOTS) { run Holder(1) };
		for (i : 1 .. CALLERS) { run Caller(i - 1, 0) };
#if NEIGHBOURS > 0
		for (i : 1 .. NEIGHBOURS) { run Caller(CALLERS + i - 1, 1) };
#endif
#ifdef RESIZE
		run Resizer();
#endif
		run Monitor()
	}
}

proctype Holder(byte g) {
	byte wake = NOBODY;
	bool dissolved, none;
	if
	:: true
	:: true -> goOn
	fi;
	release(g);
	ended++
}

proctype Caller(byte me; byte g) {
	byte wake = NOBODY, at;
	bool got, roused, dissolved, none;
	bool ends;

#ifndef NOCANCEL
	if
	:: ends = true
	:: true
	fi;
#endif

	if
	:: !barred(g) -> claim(g)
	:: else
	fi;
	if
	:: got -> goto start
	:: else
	fi;

	lock(g);
	waiting[g] = true;
#ifndef BROKEN_BIT_AFTER_LOOK
	told[g] = true;
#endif
	if
	:: !ordered || nobody(g) -> claim(g)
	:: else
	fi;
#ifdef BROKEN_BIT_AFTER_LOOK
	told[g] = true;
#endif
	if
	:: got -> lower(g); unlock(g); goto start
	:: else -> line[g]!me; mu[g] = false
	fi;

sleep:	if
	:: take();
		if
		:: granted[me] -> goto receive
		:: !granted[me] -> goto look
		:: !granted[me] && ends -> token[me]++; goto quit
		fi
	:: ends -> goto quit
	fi;

look:	lock(g);
	if
	:: granted[me] -> mu[g] = false; goto receive
	:: else
	fi;
	d_step { rousing[me] = false; flight[g] = false };
	claim(g);
	if
	:: got -> line[g]??eval(me); lower(g)
	:: else
	fi;
	rouseFree(g);
	unlock(g);
	if
	:: got -> goto start
	:: else -> goto sleep
	fi;

quit:	lock(g);
	if
	:: granted[me] -> mu[g] = false; take(); goto receive
	:: else
	fi;
	d_step { line[g]??eval(me); roused = rousing[me]; rousing[me] = false };
	lower(g);
	if
	:: roused -> flight[g] = false; rouseFree(g)
	:: else
	fi;
	unlock(g);
	if
	:: roused -> take()
	:: else
	fi;
	goto done;

receive:
	at = g;
	if
	:: ends -> lock(g); handOver(g); goto done
	:: true
	fi;

start:	got = false;
	work(at);

done:	assert(token[me] == 0);
	d_step { at = 0; roused = false; ends = false; ended++ }
}

#ifdef RESIZE
proctype Resizer() {
	byte wake = NOBODY;
	bool dissolved;
	lock(1);
	debt = 1;
	indebted[1] = true;
	payDebt(1);
	rouseFree(1);
	unlock(1);
	kick(1)
}
#endif

proctype Monitor() {
	timeout;
	/* No wake-up is lost: nobody waits for a slot of his own gate, nor for one that
	 * the neighbour would lend. */
	assert(nobody(0) || !free(0) && !(lender(1) && free(1)));
	assert(nobody(1) || !free(1) && !(lender(0) && free(0)));
	goOn = true;
	timeout;
	assert(ended == HOLDERS + ALL && word[0] == 0 && word[1] == 0);
	assert(nobody(0) && nobody(1) && !waiting[0] && !waiting[1] && !told[0] && !told[1]);
	assert(!flight[0] && !flight[1] && debt == 0 && !indebted[1])
}
