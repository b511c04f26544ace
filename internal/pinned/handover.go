package pinned

import (
	"context"
	"errors"

	"github.com/iolane/iolane/internal/signal"
	"github.com/iolane/iolane/ioerr"
)

// Job is what one caller has handed over: in the line (queued), then run by one thread,
// perhaps in the line again with what is left of a batch, then over. The caller sleeps
// until it is over, and takes it out of the line if its context ends.
type Job struct {
	signal.Parker // one token, when it is over
	tasks         []Task
	at            int   // the next task; owned by the thread that runs the job, else guarded by Threads.mu
	faults        error // of tasks that have run; likewise
	why           error // it is over although tasks are left; guarded by Threads.mu
	queued        bool  // in the line; guarded by Threads.mu
	inside        bool  // its caller is inside a task, and must not wait for one
	next, prev    *Job  // in the line; guarded by Threads.mu
}

func (j *Job) fail(err error) {
	if j.faults != nil {
		err = errors.Join(j.faults, err)
	}
	j.faults = err
}

// Hand hands the tasks to one thread, for the price of one wake-up, and waits until they
// have run; it allocates nothing. They run in their order; if one of them taints the
// thread or ends it, those behind it run on another one. They must not be changed until
// Hand returns.
//
// The first n have run. why is the reason if that is not all of them: ctx.Err() if ctx has
// ended before a thread came for them (later it is of no account), ioerr.ErrShutdown
// after Close, an *ioerr.StartError if there is no thread. faults joins an
// *ioerr.RestoreError or an [ExitError] for each task that needs one.
//
// A task that waits for another Hand of the same Threads may wait for ever, unless that
// is told that its caller is inside: then, if it would have to wait for a thread that
// runs a task, why is ioerr.ErrReentry as soon as that is so.
func (s *Threads) Hand(ctx context.Context, tasks []Task, inside bool) (n int, faults, why error) {
	done := ctx.Done() // before anything is held: it is the caller's, and could panic
	if err := ctx.Err(); err != nil || len(tasks) == 0 {
		return 0, nil, err
	}
	j, err := s.put(tasks, inside)
	if err != nil {
		return 0, nil, err
	}
	defer s.recycle(j)
	if j.Sleep(done, nil) == signal.Done {
		if s.withdraw(j) {
			return j.at, j.faults, endOf(ctx)
		}
		j.Take()
	}
	return j.at, j.faults, j.why
}

// Put is Hand up to the moment when the tasks have their place in line; Wait must follow if
// there is no error. No context takes them out of it again. Who is inside cannot wait for a
// thread to be started, since that may fail: then the error is ioerr.ErrReentry, unless
// there is a thread that has nothing to do.
func (s *Threads) Put(tasks []Task, inside bool) (*Job, error) {
	j, err := s.put(tasks, inside)
	if err != nil {
		return nil, err
	}
	lost, why := s.doubt(j)
	if why == nil {
		return j, nil
	}
	if lost {
		j.Take()
	}
	s.recycle(j)
	return nil, why
}

// Wait is the rest of Hand. The job is not the caller's afterwards.
func (s *Threads) Wait(j *Job) (n int, faults, why error) {
	defer s.recycle(j)
	j.Take()
	return j.at, j.faults, j.why
}

func (s *Threads) put(tasks []Task, inside bool) (*Job, error) {
	j := s.newJob()
	j.tasks, j.inside = tasks, inside
	if err := s.enqueue(j); err != nil {
		s.recycle(j)
		return nil, err
	}
	return j, nil
}

// doubt says why a job that was put into the line just now is over without having begun
// (lost: it has a token), or has no place there.
func (s *Threads) doubt(j *Job) (lost bool, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !j.queued && j.why != nil && j.at == 0:
		return true, j.why
	case j.queued && j.inside && s.line.n > s.counts[idle]:
		s.line.remove(j)
		return false, ioerr.ErrReentry
	}
	return false, nil
}

// endOf is why a context has ended, also of one that does not know, or panics: some of
// the tasks may have run by then, and their callers wait to be told.
func endOf(ctx context.Context) (err error) {
	err = context.Canceled
	defer func() { _ = recover() }()
	if e := ctx.Err(); e != nil {
		err = e
	}
	return err
}

// enqueue puts the job into the line and sees to it that somebody comes.
func (s *Threads) enqueue(j *Job) error {
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return ioerr.ErrShutdown
	}
	s.line.pushBack(j)
	roused := s.help()
	lost := s.lost()
	s.mu.Unlock()
	roused.wake()
	lost.end()
	return nil
}

// withdraw takes the job out of the line, unless it runs or is over.
func (s *Threads) withdraw(j *Job) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !j.queued {
		return false
	}
	s.line.remove(j)
	return true
}

// lost takes all jobs out of the line if no thread will ever come for them. mu is held;
// the caller ends them after it.
func (s *Threads) lost() line {
	if s.vacant == 0 || s.line.n == 0 { // a caller beyond the threads is not ours to judge
		return line{}
	}
	if s.vacant < len(s.seats) {
		return s.stranded()
	}
	lost := s.line
	s.line = line{}
	for j := lost.head; j != nil; j = j.next {
		j.queued = false
		j.why = s.why
	}
	return lost
}

// stranded takes those jobs out of the line whose callers are inside a task and for which
// only a thread could come that runs one. mu is held.
func (s *Threads) stranded() (lost line) {
	coming := s.coming()
	for j := s.line.head; j != nil; {
		next := j.next
		if coming > 0 {
			coming--
		} else if j.inside {
			s.line.remove(j)
			j.why = ioerr.ErrReentry
			lost.pushBack(j)
			j.queued = false
		}
		j = next
	}
	return lost
}

// coming is how many threads will look at the line without having to end a task first,
// or make their number vacant. mu is held.
func (s *Threads) coming() int { return len(s.seats) - s.vacant - s.counts[running] }

// end tells the callers of lost jobs.
func (l line) end() {
	for j := l.head; j != nil; {
		next := j.next // once woken, j is its caller's
		j.next, j.prev = nil, nil
		j.Wake()
		j = next
	}
}

func (s *Threads) newJob() *Job {
	if j, ok := s.jobs.Get().(*Job); ok {
		return j
	}
	return &Job{Parker: signal.NewParker()}
}

// recycle takes back a job that nobody will wake any more.
func (s *Threads) recycle(j *Job) {
	*j = Job{Parker: j.Parker}
	s.jobs.Put(j)
}
