package pinned

import (
	"context"
	"errors"

	"github.com/iolane/iolane/internal/signal"
	"github.com/iolane/iolane/ioerr"
)

// job is what one caller has handed over: in the line (queued), then run by one thread,
// perhaps in the line again with what is left of a batch, then over. The caller sleeps
// until it is over, and takes it out of the line if its context ends.
type job struct {
	signal.Parker         // one token, when it is over
	tasks         []Task  // the caller's, or one
	one           [1]Task // for Run
	at            int     // the next task; owned by the thread that runs the job, else guarded by Threads.mu
	err           error   // likewise
	queued        bool    // in the line; guarded by Threads.mu
	inside        bool    // its caller is inside a task, and must not wait for one
	next, prev    *job    // in the line; guarded by Threads.mu
}

func (j *job) fail(err error) {
	if j.err != nil {
		err = errors.Join(j.err, err)
	}
	j.err = err
}

// line is the order of the jobs that wait.
type line struct {
	head, tail *job
	n          int
}

func (l *line) pushBack(j *job) {
	j.queued, j.prev, j.next = true, l.tail, nil
	if l.tail == nil {
		l.head = j
	} else {
		l.tail.next = j
	}
	l.tail = j
	l.n++
}

func (l *line) pushFront(j *job) {
	j.queued, j.prev, j.next = true, nil, l.head
	if l.head == nil {
		l.tail = j
	} else {
		l.head.prev = j
	}
	l.head = j
	l.n++
}

func (l *line) remove(j *job) {
	if j.prev == nil {
		l.head = j.next
	} else {
		j.prev.next = j.next
	}
	if j.next == nil {
		l.tail = j.prev
	} else {
		j.next.prev = j.prev
	}
	j.queued, j.prev, j.next = false, nil, nil
	l.n--
}

// Run hands the task to a thread and waits until it has run; it allocates nothing. If
// ctx ends before a thread has begun, the task never runs and the error is the cause of
// ctx; later ctx is of no account. The other errors: ioerr.ErrShutdown after Close and a
// *ioerr.StartError if there is no thread, in both cases without having run; an
// [ExitError] or an *ioerr.RestoreError afterwards.
//
// A task that waits for another Run of the same Threads may wait for ever.
func (s *Threads) Run(ctx context.Context, task Task) error {
	j := s.newJob()
	j.one[0] = task
	j.tasks = j.one[:]
	_, err := s.hand(ctx, j)
	return err
}

// RunBatch hands the tasks to one thread, for the price of one wake-up. They run in
// their order, each as by Run; if one of them taints the thread or ends it, those behind
// it run on another one. The first n have run: less than all only if ctx has ended, or
// Close or a StartError left the rest without a thread. The error joins whatever went
// wrong. The tasks must not be changed until RunBatch returns.
func (s *Threads) RunBatch(ctx context.Context, tasks []Task) (n int, err error) {
	if len(tasks) == 0 {
		return 0, nil
	}
	j := s.newJob()
	j.tasks = tasks
	return s.hand(ctx, j)
}

// RunInside is RunBatch for a caller inside a task of the same Threads. If it would have
// to wait for a thread that runs a task, perhaps its own, the error is ioerr.ErrReentry
// at once, as soon as that is so.
func (s *Threads) RunInside(ctx context.Context, tasks []Task) (n int, err error) {
	j := s.newJob()
	j.tasks, j.inside = tasks, true
	return s.hand(ctx, j)
}

// hand puts the job into the line and waits until it is over.
func (s *Threads) hand(ctx context.Context, j *job) (n int, err error) {
	defer s.recycle(j)
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if err := s.enqueue(j); err != nil {
		return 0, err
	}
	if j.Sleep(ctx.Done(), nil) == signal.Done {
		if s.withdraw(j) {
			j.fail(context.Cause(ctx))
			return j.at, j.err
		}
		j.Take()
	}
	return j.at, j.err
}

// enqueue puts the job into the line and sees to it that somebody comes.
func (s *Threads) enqueue(j *job) error {
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
func (s *Threads) withdraw(j *job) bool {
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
		j.fail(s.why)
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
			j.fail(ioerr.ErrReentry)
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

func (s *Threads) newJob() *job {
	if j, ok := s.jobs.Get().(*job); ok {
		return j
	}
	return &job{Parker: signal.NewParker()}
}

// recycle takes back a job that nobody will wake any more.
func (s *Threads) recycle(j *job) {
	j.tasks, j.one[0], j.at, j.err, j.inside = nil, nil, 0, nil, false
	s.jobs.Put(j)
}
