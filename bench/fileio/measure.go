package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/iolane/iolane/bench/fileio/internal/contender"
	"github.com/iolane/iolane/bench/fileio/internal/result"
	"github.com/iolane/iolane/bench/fileio/internal/system"
	"github.com/iolane/iolane/bench/fileio/internal/work"
)

// hangs is how long a measurement may take beyond the time that it is meant to: 16 GiB
// three times over.
const hangs = 5 * time.Minute

// bench is one start of the command.
type bench struct {
	options
	place    *place
	peers    []contender.Contender
	file     *result.File
	prepared int64 // bytes of the file for random offsets
	stderr   io.Writer
}

// measure measures what was asked for.
func measure(ctx context.Context, o options, stdout, stderr io.Writer) (err error) {
	if err := system.Supported(); err != nil {
		say(stderr, "%v\n", err)
		return nil // there is nothing to be done about it
	}
	cases, err := chooseCases(o)
	if err != nil {
		return err
	}
	b := &bench{options: o, file: new(result.File), stderr: stderr}
	missing, err := b.open()
	if err != nil {
		return err
	}
	if o.lock != "" {
		unlock, err := system.Lock(o.lock)
		if err != nil {
			return err
		}
		defer unlock()
	}
	if b.place, err = newPlace(ctx, o); err != nil {
		if o.loop == "" {
			return err
		}
		say(stderr, "left out: %v\n", err)
		return nil
	}
	defer func() { err = errors.Join(err, b.place.remove()) }()
	b.file.Runs = append(b.file.Runs, b.describe())
	for _, c := range contender.All() {
		if reason := missing[c.Name]; reason != nil {
			b.absent(result.Absence{Contender: c.Name, Reason: reason.Error()})
		}
	}
	failed := b.all(ctx, cases)
	if err := b.file.Table(stdout, strings.Split(o.against, ",")); err != nil {
		return err
	}
	if o.out != "" {
		failed = errors.Join(failed, b.file.Save(o.out))
	}
	return failed
}

// open chooses the contenders, and takes over the results that are there.
func (b *bench) open() (missing map[string]error, err error) {
	if b.peers, missing, err = choosePeers(b.options); err != nil {
		return nil, err
	}
	if b.add && b.out != "" {
		old, err := result.Load(b.out)
		switch {
		case err == nil:
			b.file = old
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return missing, nil
}

// say tells how far things are. Where that cannot be told there is nobody to tell
// that to either.
func say(stderr io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(stderr, format, args...) }

// absent notes it, once.
func (b *bench) absent(a result.Absence) {
	say(b.stderr, "%v\n", a)
	if !slices.Contains(b.file.Absent, a) {
		b.file.Absent = append(b.file.Absent, a)
	}
}

func (b *bench) all(ctx context.Context, cases []work.Case) error {
	failures := 0
	for _, c := range cases {
		if reason := b.place.unfit(c); reason != "" {
			b.absent(result.Absence{Case: c.Name, Contender: "everybody", Reason: reason})
			continue
		}
		c.Name = b.place.prefix + c.Name
		b.file.Drop(c.Name, c.Name+"/read", c.Name+"/write")
		n, err := b.one(ctx, c)
		if err != nil {
			return err
		}
		failures += n
	}
	if failures > 0 {
		return fmt.Errorf("%d measurements failed, see above", failures)
	}
	return nil
}

// one measures one case, and returns how many measurements failed.
func (b *bench) one(ctx context.Context, c work.Case) (failures int, err error) {
	fit := slices.DeleteFunc(slices.Clone(b.peers), func(p contender.Contender) bool { return p.Unfit(c) != "" })
	name := b.place.file(c)
	if c.NeedsFile() && b.prepared < c.Size {
		if err := prepare(name, c.Size); err != nil {
			return 0, err
		}
		b.prepared = c.Size
	}
	if c.Sequential {
		b.prepared = 0 // on a device it is the same place
	}
	for round := range b.rounds {
		rand.Shuffle(len(fit), func(i, j int) { fit[i], fit[j] = fit[j], fit[i] })
		for _, p := range fit {
			if err := ctx.Err(); err != nil {
				return failures, err
			}
			samples, err := b.undisturbed(ctx, p.Name, contender.Job{Case: c, File: name, Huge: b.huge, Timed: b.timed})
			if err != nil {
				failures++
				b.absent(result.Absence{Case: c.Name, Contender: p.Name, Reason: err.Error(), Failed: true})
				if c.Sequential && b.place.device == "" {
					_ = os.Remove(name) // if a process that was killed left it
				}
				continue
			}
			b.keep(samples, round)
		}
	}
	return failures, nil
}

func (b *bench) keep(samples []result.Sample, round int) {
	for _, s := range samples {
		s.Round = round
		say(b.stderr, "%-24s round %d, %-15s %12.0f op/s %8.3f GB/s\n", s.Case, round+1, s.Contender, s.Rate(), s.Throughput()/1e9)
		b.file.Samples = append(b.file.Samples, s)
	}
}

// task is what the process of a measurement is told.
type task struct {
	Contender string
	Job       contender.Job
	Procs     int
}

// tries is how often a measurement is made that others have disturbed.
const tries = 3

// undisturbed measures again if others have used too much of the processors meanwhile.
func (b *bench) undisturbed(ctx context.Context, peer string, job contender.Job) (samples []result.Sample, err error) {
	for range tries {
		if err := warm(job.File, job.Case); err != nil {
			return nil, err
		}
		samples, err = b.spawn(ctx, peer, job)
		if err != nil || b.others == 0 || samples[0].Others <= b.others {
			break
		}
		say(b.stderr, "%s, %s: others used %.0f %% of the processors\n", job.Case.Name, peer, 100*samples[0].Others)
	}
	return samples, err
}

// spawn makes one measurement in a process of its own, and watches how many threads that
// has.
func (b *bench) spawn(ctx context.Context, peer string, job contender.Job) (samples []result.Sample, err error) {
	text, err := json.Marshal(task{Contender: peer, Job: job, Procs: b.procs})
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, job.Case.Time+hangs)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "-child", string(text))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // so that it can end its fio
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began, busy := time.Now(), system.Busy()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	threads := watch(cmd.Process.Pid)
	err = cmd.Wait()
	most := threads()
	others := float64(system.Busy()-busy-cmd.ProcessState.UserTime()-cmd.ProcessState.SystemTime()) /
		(float64(time.Since(began)) * float64(runtime.NumCPU()))
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("not finished in time: %w", ctx.Err())
		}
		return nil, fmt.Errorf("%w: %s", err, lines(stderr.String(), 3))
	}
	if err := json.Unmarshal(stdout.Bytes(), &samples); err != nil {
		return nil, err
	}
	if len(samples) == 0 {
		return nil, errors.New("no samples")
	}
	for i := range samples {
		s := &samples[i]
		s.Others = max(others, 0)
		if s.Threads > 0 {
			s.Threads = max(s.Threads, most)
		}
	}
	return samples, nil
}

// lines is the first few lines of a text.
func lines(s string, n int) string {
	all := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(all[:min(n, len(all))], "\n")
}

// child measures, in this process, and prints the samples.
func child(ctx context.Context, text string, stdout io.Writer) error {
	var t task
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return err
	}
	setProcs(t.Procs)
	for _, c := range contender.All() {
		if c.Name != t.Contender {
			continue
		}
		samples, err := c.Measure(ctx, t.Job)
		if err != nil {
			return err
		}
		return json.NewEncoder(stdout).Encode(samples)
	}
	return fmt.Errorf("there is no %q", t.Contender)
}
