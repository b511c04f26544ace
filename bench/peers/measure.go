package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/iolane/iolane/bench/peers/internal/peer"
	"github.com/iolane/iolane/bench/peers/internal/result"
	"github.com/iolane/iolane/bench/peers/internal/shape"
)

// hangs is how long a measurement may take. Ten thousand calls of 5 ms over 8 slots
// take six seconds.
const hangs = 2 * time.Minute

// measure measures what was asked for, and saves after each shape.
func measure(o options, stderr io.Writer) error {
	shapes, peers, err := choose(o)
	if err != nil {
		return err
	}
	if o.lock != "" {
		unlock, err := lockFile(o.lock)
		if err != nil {
			return err
		}
		defer unlock()
	}
	if o.env.Steps == 0 {
		o.env.Steps = shape.Calibrate()
	}
	f := new(result.File)
	if o.add {
		if old, err := result.Load(o.out); err == nil {
			f = old
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	f.Runs = append(f.Runs, describe(o))
	describePeers(f, peers)
	for i, s := range shapes {
		say(stderr, "%d/%d %s: %s\n", i+1, len(shapes), s.Name, s.About)
		f.Begin(describeShape(s))
		measureShape(o, f, s, peers, stderr)
		f.Runs[len(f.Runs)-1].Load[1] = load()
		order(f)
		if err := f.Save(o.out); err != nil {
			return err
		}
	}
	if n := len(f.Failures); n > 0 {
		return fmt.Errorf("%d measurements failed, see above or the file", n)
	}
	return nil
}

// measureShape has the peers take turns. Each round begins with another one, so that
// none is always measured right after the same one.
func measureShape(o options, f *result.File, s shape.Shape, peers []peer.Maker, stderr io.Writer) {
	fit := fitting(s, peers)
	for round := range o.rounds {
		for i := range fit {
			mk := fit[(i+round)%len(fit)]
			sample, err := spawn(o, s.Name, mk.Name, round)
			if err != nil {
				say(stderr, "  round %d, %s: %v\n", round+1, mk.Name, err)
				f.Failures = append(f.Failures, result.Failure{Shape: s.Name, Peer: mk.Name, Round: round, Text: err.Error()})
				continue
			}
			say(stderr, "  round %d, %-20s %12.1f ns, p99 %12.0f\n", round+1, mk.Name, sample.Time, sample.P99)
			f.Samples = append(f.Samples, sample)
		}
	}
}

// say tells how far things are. Where that cannot be told there is nobody to tell
// that to either.
func say(stderr io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(stderr, format, args...) }

// spawn makes one measurement in a process of its own.
func spawn(o options, shapeName, peerName string, round int) (sample result.Sample, err error) {
	self, err := os.Executable()
	if err != nil {
		return sample, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), hangs)
	defer cancel()
	args := []string{
		"-child", shapeName + "/" + peerName,
		"-round", strconv.Itoa(round),
		"-time", o.env.Budget.String(),
		"-steps", strconv.FormatFloat(o.env.Steps, 'g', -1, 64),
		"-procs", strconv.Itoa(o.procs),
		"-tiny=" + strconv.FormatBool(o.env.Tiny),
	}
	if o.env.Dir != "" {
		args = append(args, "-dir", o.env.Dir)
	}
	cmd := exec.CommandContext(ctx, self, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("not finished after %v", hangs)
		}
		return sample, fmt.Errorf("%w: %s", err, lines(stderr.String(), 3))
	}
	return sample, json.Unmarshal(stdout.Bytes(), &sample)
}

// lines is the first few lines of a text.
func lines(s string, n int) string {
	all := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(all[:min(n, len(all))], "\n")
}
