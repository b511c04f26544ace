/*
 * The protocol of one gate: who may take a slot, who sleeps, and who wakes whom.
 * README.md says which function each part stands for; ./run checks it with spin.
 *
 * SLOTS holders run at the beginning and give their slots back at any time.
 * CALLERS callers come at any time, ROUNDS times each with the same ticket, run for
 * as long as they like, and may be cancelled at any time. With -DCLOSE the gate may
 * be closed at any time.
 *
 * What only the mutex guards is done in one step. Flags, the word and the tokens
 * are seen by those who do not hold it, so each access to them is a step.
 *
 * -DSTRICT is strict order. Without it newcomers overtake, and the gate starves and
 * is appeased at any time. Each -DBROKEN_... leaves out one piece of the protocol;
 * spin must reject it.
 */
#ifndef SLOTS
#define SLOTS 1
#endif
#ifndef CALLERS
#define CALLERS 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#define NOBODY 255

/* Seen by everybody. */
byte word = SLOTS;		/* slots in use */
bool shut;			/* the word's closed bit */
bool waiting, starving, closing;
byte token[CALLERS];		/* posted and not yet taken */
bool granted[CALLERS];		/* the ticket is settled with a slot */

/* Written under the mutex, seen by everybody. */
bool flight;

/* Guarded by the mutex. */
bool mu;
chan line = [CALLERS] of { byte };
bool rousing[CALLERS];
bool inherited;

/* For the proof only. */
byte runs = SLOTS;		/* calls that run */
byte ended;			/* processes that are done */
byte heirs;
bool goOn;			/* calls that would run for ever end now */

#ifdef STRICT
#define barred  (waiting || closing)
#define ordered true
#else
#define barred  (starving || closing)
#define ordered starving
#endif
/* One look at the flags, which are one word: the slot is given back under the mutex,
 * unless nobody waits or somebody is on the way to see it. */
#define flagged (barred || waiting && !flight)
#define free    (word < SLOTS)
#define nobody  (len(line) == 0)

inline lock() { atomic { !mu -> mu = true } }

/* The token is posted after the mutex is released. */
inline unlock(wake) {
	mu = false;
	if
	:: wake != NOBODY ->
		atomic {
			assert(token[wake] == 0);	/* at most one token is outstanding */
			token[wake]++;
			wake = NOBODY
		}
	:: else
	fi
}

inline take() { atomic { token[me] > 0 -> token[me]-- } }

inline claim(accepted) {
	atomic {
		if
		:: free && (accepted || !shut) -> word++; got = true
		:: else -> got = false
		fi
	}
}

inline rouse(wake) {
	d_step {
		if
		:: !flight && !nobody -> line?<wake>; flight = true; rousing[wake] = true
		:: else
		fi
	}
}

inline rouseFree(wake) {
	if
	:: free -> rouse(wake)
	:: else
	fi
}

/* remove ends with the flags: both are in one word. */
inline lower() {
	if
	:: nobody -> atomic { waiting = false; starving = false }
	:: !nobody && starving -> starving = false	/* the next has not waited long */
	:: !nobody
	fi
}

inline inherit(heard) {
	atomic {
		if
		:: closing && !inherited && nobody && word == 0 ->
			inherited = true;
			if
			:: heard -> heirs++
			:: else
			fi
		:: else
		fi
	}
}

/* The mutex is held. */
inline handOver(heard, wake) {
	if
	:: ordered && !nobody ->
		d_step {
			line?wake;
			granted[wake] = true;
			if
			:: rousing[wake] ->
				rousing[wake] = false;
#ifndef BROKEN_SETTLE_KEEPS_FLIGHT
				flight = false;
#endif
#ifndef BROKEN_SECOND_TOKEN
				wake = NOBODY
#endif
			:: else
			fi
		};
		lower();
#ifndef BROKEN_NO_CHAIN_OF_SETTLE
		if
		:: wake == NOBODY -> rouseFree(wake)
		:: else
		fi
#endif
	:: else ->
		word--;
		rouse(wake)
	fi;
	inherit(heard);
	unlock(wake)
}

inline release(wake) {
	runs--;
	if
	:: flagged -> lock(); handOver(true, wake)
	:: else ->
		word--;
#ifndef BROKEN_NO_LOOK_AFTER_RELEASE
		if
		:: flagged -> lock(); inherit(true); rouseFree(wake); unlock(wake)
		:: else
		fi
#endif
	fi
}

inline work(wake) {
	atomic { runs++; assert(runs <= SLOTS); got = false };	/* the bound */
	if
	:: true
	:: true -> goOn	/* a call that does not end by itself */
	fi;
	release(wake)
}

active [SLOTS] proctype Holder() {
	byte wake = NOBODY;
	if
	:: true
	:: true -> goOn	/* a call that does not end by itself */
	fi;
	release(wake);
	ended++
}

active [CALLERS] proctype Caller() {
	byte wake = NOBODY, round;
	byte me = _pid - SLOTS;
	bool got, roused;
	bool ends;		/* its context ends at some time; it is seen or not yet */

	if
	:: ends = true
	:: true
	fi;

next:	atomic {
		assert(token[me] == 0 && !granted[me] && !rousing[me]);	/* the ticket is clean */
		if
		:: round == ROUNDS -> ended++; ends = false; goto done
		:: else -> round++; roused = false
		fi
	};

	/* Try */
	if
#ifdef STRICT
	:: atomic { !barred -> assert(nobody) }; claim(false)	/* whoever comes later is barred */
#else
	:: !barred -> claim(false)
#endif
	:: else
	fi;
	if
	:: got -> work(wake); goto next
	:: else
	fi;

	/* enter */
	lock();
	if
	:: closing -> mu = false; goto next		/* refused */
	:: else
	fi;
#ifndef BROKEN_FLAG_AFTER_LOOK
	waiting = true;
#endif
	if
	:: !ordered || nobody -> claim(false)
	:: else
	fi;
#ifdef BROKEN_FLAG_AFTER_LOOK
	waiting = true;
#endif
	if
	:: got -> lower(); mu = false; work(wake); goto next
	:: else -> line!me; mu = false
	fi;

	/* wait */
sleep:	if
	:: take();
		if
		:: granted[me] -> goto receive
		:: !granted[me] -> goto look
		:: !granted[me] && ends -> token[me]++; goto quit
		fi
	:: ends -> goto quit
	fi;

look:	lock();
	if
	:: granted[me] -> mu = false; goto receive
	:: else
	fi;
	d_step { rousing[me] = false; flight = false };
	claim(true);
	if
	:: got -> line??eval(me); lower()
	:: else
	fi;
#ifndef BROKEN_NO_CHAIN
	rouseFree(wake);
#endif
	unlock(wake);
	if
	:: got -> work(wake); goto next
	:: else -> goto sleep
	fi;

quit:	lock();
	if
	:: granted[me] -> mu = false; take(); goto receive
#ifndef BROKEN_QUIT_ON_CLOSED
	:: !granted[me] && rousing[me] && closing -> mu = false; take(); goto look
#endif
	:: else
	fi;
	d_step { line??eval(me); roused = rousing[me]; rousing[me] = false };
	lower();
	if
	:: roused ->
		flight = false;
#ifndef BROKEN_NO_CHAIN_OF_QUIT
		rouseFree(wake)
#endif
	:: else
	fi;
	unlock(wake);
#ifndef BROKEN_QUIT_LEAVES_TOKEN
	if
	:: roused -> take()
	:: else
	fi;
#endif
	goto next;

receive:
	granted[me] = false;
	if
	:: ends ->		/* pass */
		lock();
#ifndef BROKEN_PASS_ON_CLOSED
		if
		:: closing -> mu = false; work(wake)
		:: else -> handOver(false, wake)
		fi
#else
		handOver(false, wake)
#endif
	:: work(wake)
	fi;
	goto next;

done:	skip
}

#ifndef STRICT
/* The timer, and lost: the head has waited long. */
active proctype Ring() {
	do
	:: !nobody && !starving ->
		lock();
		if
		:: !nobody -> starving = true
		:: else
		fi;
		mu = false
	:: ended == SLOTS + CALLERS -> break
	od
}
#endif

#ifdef CLOSE
active proctype Closer() {
	byte wake = NOBODY;
	lock();
	closing = true;
	shut = true;
	inherit(true);
	rouseFree(wake);
	unlock(wake)
}
#endif

/* When nobody can make a step, nobody may wait for a slot that is free. Then the
 * calls that would run for ever end, and so must everything. */
active proctype Monitor() {
	timeout;
	assert(nobody || !free);	/* no wake-up is lost */
	goOn = true;
	timeout;
	assert(ended == SLOTS + CALLERS && word == 0 && nobody && !waiting && !starving && !flight);
#ifdef CLOSE
	assert(closing && heirs == 1)	/* exactly one inherits */
#endif
}
