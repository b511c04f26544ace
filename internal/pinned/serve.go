package pinned

import (
	"runtime"
	"slices"

	"github.com/iolane/iolane/internal/signal"
	"github.com/iolane/iolane/ioerr"
)

// startAll starts a thread for each number, and waits for them.
func (s *Threads) startAll() error {
	first := make(chan error, len(s.seats))
	s.mu.Lock()
	for i := range s.seats {
		s.fill(i, first)
	}
	s.mu.Unlock()
	return s.await(first)
}

// fill starts a thread for a vacant number. mu is held.
func (s *Threads) fill(i int, first chan<- error) {
	s.seats[i] = true
	s.vacant--
	s.live++
	s.counts[starting]++
	s.spawn(&Thread{index: i, Parker: signal.NewParker(), first: first})
}

// refill makes one attempt to fill a vacant number, unless one is under way or there is
// none. mu is held.
func (s *Threads) refill() {
	if s.vacant == 0 || s.closing || s.counts[starting] > 0 {
		return
	}
	if i := slices.Index(s.seats, false); !s.overKept(i) {
		s.fill(i, nil)
	}
}

// overKept reports whether number i stays vacant because of the threads that are kept,
// and notes why. mu is held.
func (s *Threads) overKept(i int) bool {
	if s.counts[kept] <= s.config.Keep {
		return false
	}
	s.why = s.cannotStart(i, ioerr.ErrKept)
	return true
}

// main is the goroutine of a thread. The predecessor, if any, holds the main thread
// until locked is closed.
func (s *Threads) main(t *Thread, locked chan<- struct{}) {
	runtime.LockOSThread() // for good: the thread ends with this goroutine
	if locked != nil {
		close(locked)
	}
	if s.onMain() {
		next := make(chan struct{})
		go s.main(t, next)
		<-next
		runtime.UnlockOSThread()
		return
	}
	defer s.gone(t)
	defer s.leave(t)
	if !s.begin(t) {
		return
	}
	for j := s.next(t); j != nil && t.run(j); {
		j = s.next(t)
	}
}

// begin makes the thread what it is to be.
func (s *Threads) begin(t *Thread) bool {
	var err error
	defer func() { s.started(t, err) }() // also if Start ends the goroutine
	t.id = threadID()
	if err = prepare(&s.config, t.index); err == nil && s.config.Start != nil {
		guard(func() error { return s.config.Start(t.index) }, &err)
	}
	return err == nil
}

// started notes how the start of a thread has ended.
func (s *Threads) started(t *Thread, err error) {
	if err == nil {
		t.up = true
		return
	}
	err = s.cannotStart(t.index, err)
	s.mu.Lock()
	s.become(t, leaving)
	s.why = err
	s.mu.Unlock()
	t.announce(err)
}

// next returns the next job for a thread, and sleeps until there is one; nil if there
// will be none.
func (s *Threads) next(t *Thread) *Job {
	for {
		j, sleep := s.look(t)
		if !sleep {
			return j
		}
		t.Take()
	}
}

// look takes the first job for a thread that has nothing to do. If there is none the
// thread is idle and must sleep, or it must end. Only then the caller of the last job is
// told: who comes again at once finds the thread idle, and does not meet it at mu, where
// a locked goroutine that has to wait costs as much as one that has to be woken.
func (s *Threads) look(t *Thread) (j *Job, sleep bool) {
	s.mu.Lock()
	if s.flight == t {
		s.flight = nil
	}
	var roused *Thread
	if j = s.line.head; j != nil {
		s.line.remove(j)
		s.become(t, running)
		roused = s.help()
	} else if s.closing {
		s.become(t, leaving)
	} else {
		s.become(t, idle)
		s.idle = append(s.idle, t)
		sleep = true
	}
	s.mu.Unlock()
	roused.wake()
	if over := t.over; over != nil {
		t.over = nil
		over.Wake()
	}
	t.announce(nil)
	return j, sleep
}

// run runs the tasks of a job, as long as the thread is fit for it. What is left to do
// otherwise is for leave.
func (t *Thread) run(j *Job) (fit bool) {
	t.job = j
	for j.at < len(j.tasks) {
		task := j.tasks[j.at]
		j.at++
		t.inTask = true
		t.seq.Add(1)
		task.Run(t)
		if len(t.restores) > 0 {
			t.restore()
		}
		t.inTask = false
		t.seq.Add(1)
		if t.tainted {
			return false
		}
	}
	t.job, t.over = nil, j
	return true
}

// leave is what a thread does when it has run its last task: because Close was called,
// or it could not start, or is tainted, or because a task ended its goroutine.
func (s *Threads) leave(t *Thread) {
	if t.inTask {
		if v := recover(); v != nil {
			t.tainted = false // gone must not hold up what follows
			panic(v)          // not ours; it ends the process
		}
		t.tainted = true
		t.seq.Add(1)
		if t.restoring {
			t.job.fail(&ioerr.RestoreError{Task: t.job.at - 1, Err: ioerr.ErrGoexit})
		} else {
			t.job.fail(&ExitError{t.job.at - 1})
		}
	}
	if t.tainted {
		s.retire(t)
	}
	if t.up && s.config.Stop != nil {
		var err error
		defer func() { s.stopped(t, err) }() // also if Stop ends the goroutine
		guard(func() error { s.config.Stop(t.index); return nil }, &err)
	}
}

// retire takes a tainted thread out of service. What is left of its job is for others.
func (s *Threads) retire(t *Thread) {
	j := t.job
	t.job, t.restores = nil, nil
	s.mu.Lock()
	s.become(t, leaving)
	s.retired++
	rest := j.at < len(j.tasks)
	var roused *Thread
	if rest {
		s.line.pushFront(j)
		roused = s.help()
	}
	s.mu.Unlock()
	roused.wake()
	if !rest {
		j.Wake()
	}
}

// stopped notes how Stop has ended.
func (s *Threads) stopped(t *Thread, err error) {
	if err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.stops) < maxStops {
		s.stops = append(s.stops, &ioerr.StopError{Lane: s.config.Name, Thread: t.index, Err: err})
	}
}

// gone is the last thing that the goroutine of a thread does, however it ends: its
// number goes to a replacement or becomes vacant.
func (s *Threads) gone(t *Thread) {
	if s.vacate(t) {
		t.Take()
		s.mu.Lock()
		s.become(t, leaving)
		s.mu.Unlock()
	}
	s.end(t)
}

// vacate gives the number of a thread to a replacement, if there is to be one, and
// reports whether the thread is to sleep until Close.
func (s *Threads) vacate(t *Thread) (sleep bool) {
	s.mu.Lock()
	s.seats[t.index] = false
	s.vacant++
	if t.tainted && s.config.Keep > 0 && !s.closing {
		s.become(t, kept)
		s.kept = append(s.kept, t)
		sleep = true
	}
	if t.tainted && (!s.closing || s.line.n > 0) && !s.overKept(t.index) {
		s.fill(t.index, nil)
	}
	lost := s.lost()
	s.mu.Unlock()
	lost.end()
	return sleep
}

// end counts a goroutine out.
func (s *Threads) end(t *Thread) {
	s.mu.Lock()
	s.become(t, ended)
	s.live--
	last := s.closing && s.live == 0
	s.mu.Unlock()
	if last {
		s.over.Fire()
	}
}
