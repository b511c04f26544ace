// Package fio runs fio(1) for the cases, and reads what it reports.
package fio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/iolane/iolane/bench/fileio/internal/work"
)

// Version of the fio that is installed.
func Version() (string, error) {
	out, err := exec.Command("fio", "--version").Output()
	if err != nil {
		return "", fmt.Errorf("there is no fio (Debian package fio): %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Args are the options for a case on a file. With best there are also those that save
// fio a good part of its work; it then reports no latencies. What is transferred is said
// by kind, for the two halves of a sequential case.
func Args(c work.Case, kind work.Kind, file string, best bool) []string {
	rw := "rand" + string(kind)
	if c.Sequential {
		rw = string(kind)
	}
	direct := "0"
	if c.Cache == work.Direct {
		direct = "1"
	}
	args := []string{
		"--name=fileio", "--output-format=json", "--ioengine=io_uring", "--fixedbufs=1",
		"--filename=" + file, "--rw=" + rw, "--direct=" + direct,
		"--bs=" + strconv.Itoa(c.Block), "--iodepth=" + strconv.Itoa(c.Depth), "--size=" + strconv.FormatInt(c.Range, 10),
	}
	if !c.Sequential {
		args = append(args, "--randrepeat=0")
		args = append(args, bound(c)...)
	}
	if c.Cache == work.Hot || c.Cache == work.Half {
		args = append(args, "--invalidate=0") // else fio drops the cache first
	}
	if best {
		args = append(args, "--registerfiles=1", "--gtod_reduce=1", "--norandommap=1",
			"--iodepth_batch_submit="+strconv.Itoa(max(c.Depth/4, 1)))
	}
	return args
}

// tryOps is how many operations a run has that is not worth a second.
const tryOps = 256

// bound ends a random case. fio 3.33 takes a fraction of a second for none at all, and
// then makes one pass or never ends; so only whole ones are given.
func bound(c work.Case) []string {
	if c.Time < time.Second {
		return []string{"--io_size=" + strconv.FormatInt(min(tryOps*int64(c.Block), c.Range), 10)}
	}
	s := int64((c.Time + time.Second - 1) / time.Second)
	return []string{"--time_based=1", "--runtime=" + strconv.FormatInt(s, 10)}
}

// Report is what fio says of a run.
type Report struct {
	Ops, Bytes int64
	Elapsed    time.Duration // fio counts in milliseconds
	CPU        time.Duration // of the thread that does the work; not of its helpers in the kernel
	P50, P99   time.Duration // 0: not reported
}

// Run runs fio, and ends it when this process is interrupted. The error has what it said.
func Run(ctx context.Context, args []string) (Report, error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	cmd := exec.CommandContext(ctx, "fio", args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return Report{}, fmt.Errorf("fio %s: %w: %s%s", strings.Join(args, " "), err,
			strings.TrimSpace(stderr.String()), firstNote(stdout.Bytes()))
	}
	return Parse(stdout.Bytes())
}

// firstNote is what stands before the report.
func firstNote(out []byte) string {
	note, _, _ := bytes.Cut(out, []byte("{"))
	return strings.TrimSpace(string(note))
}

type output struct {
	Jobs []struct {
		Error       int     `json:"error"`
		UserCPU     float64 `json:"usr_cpu"` // percent
		SystemCPU   float64 `json:"sys_cpu"`
		Read, Write half
	} `json:"jobs"`
}

type half struct {
	Bytes   int64 `json:"io_bytes"`
	Ops     int64 `json:"total_ios"`
	Runtime int64 `json:"runtime"` // ms
	Latency struct {
		Percentile map[string]int64 `json:"percentile"`
	} `json:"clat_ns"`
}

// Parse reads the output of --output-format=json, before which there may be notes.
func Parse(out []byte) (Report, error) {
	start := bytes.IndexByte(out, '{')
	if start < 0 {
		return Report{}, fmt.Errorf("fio reports nothing: %q", out)
	}
	var o output
	if err := json.NewDecoder(bytes.NewReader(out[start:])).Decode(&o); err != nil {
		return Report{}, fmt.Errorf("fio's report: %w", err)
	}
	if len(o.Jobs) != 1 {
		return Report{}, fmt.Errorf("fio reports %d jobs", len(o.Jobs))
	}
	job := &o.Jobs[0]
	h := &job.Read
	if job.Write.Ops > 0 {
		h = &job.Write
	}
	switch {
	case job.Error != 0:
		return Report{}, fmt.Errorf("fio reports error %d", job.Error)
	case h.Ops == 0:
		return Report{}, errors.New("fio did nothing")
	}
	r := Report{Ops: h.Ops, Bytes: h.Bytes, Elapsed: time.Duration(max(h.Runtime, 1)) * time.Millisecond}
	r.CPU = time.Duration((job.UserCPU + job.SystemCPU) / 100 * float64(r.Elapsed))
	r.P50 = time.Duration(h.Latency.Percentile["50.000000"])
	r.P99 = time.Duration(h.Latency.Percentile["99.000000"])
	return r, nil
}
