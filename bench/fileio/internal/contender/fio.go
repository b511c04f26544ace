package contender

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/iolane/iolane/bench/fileio/internal/fio"
	"github.com/iolane/iolane/bench/fileio/internal/result"
	"github.com/iolane/iolane/bench/fileio/internal/work"
)

func fioPlain() Contender {
	return fioContender("fio-plain", "fio, ioengine=io_uring, fixedbufs=1: the set-up of the reference", false)
}

func fioBest() Contender {
	return fioContender("fio-best", "and registerfiles=1, gtod_reduce=1, norandommap=1, iodepth_batch_submit=depth/4", true)
}

func fioContender(name, about string, best bool) Contender {
	return Contender{
		Name: name, About: about,
		Missing: func() error { _, err := fio.Version(); return err },
		Unfit: func(c work.Case) string {
			if c.Shape == "goroutines" || c.Shape == "saturated" {
				return "has no goroutines"
			}
			return transfersOnly(c)
		},
		Measure: func(ctx context.Context, j Job) ([]result.Sample, error) {
			samples, err := byFio(ctx, j, best)
			for i := range samples {
				samples[i].Contender = name
			}
			return samples, err
		},
	}
}

func byFio(ctx context.Context, j Job, best bool) (samples []result.Sample, err error) {
	if !j.Case.Sequential {
		s, err := oneFio(ctx, j, j.Case.Kind, best)
		return []result.Sample{s}, err
	}
	// It makes the file, and reserves its blocks first, as is its default.
	if info, err := os.Stat(j.File); err == nil && info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "create", Path: j.File, Err: fs.ErrExist}
	} else if err != nil {
		defer func() { err = errors.Join(err, os.Remove(j.File)) }()
	}
	for _, kind := range []work.Kind{work.Write, work.Read} {
		s, err := oneFio(ctx, j, kind, best)
		if err != nil {
			return nil, err
		}
		s.Case += "/" + string(kind)
		samples = append(samples, s)
	}
	return samples, nil
}

func oneFio(ctx context.Context, j Job, kind work.Kind, best bool) (result.Sample, error) {
	r, err := fio.Run(ctx, fio.Args(j.Case, kind, j.File, best))
	return result.Sample{
		Case: j.Case.Name, Ops: r.Ops, Bytes: r.Bytes, Elapsed: r.Elapsed, CPU: r.CPU, P50: r.P50, P99: r.P99,
	}, err
}
