package result

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
)

// Table prints a table in Markdown for each case, with two columns for each contender that
// the others are set against: the median of the ratios by rounds, and best to best.
func (f *File) Table(w io.Writer, against []string) error {
	var b strings.Builder
	for _, r := range f.Runs {
		b.WriteString(r.Machine.String() + "\n" + r.Place + "\n\n")
	}
	for _, name := range f.Cases() {
		f.caseTable(&b, name, against)
	}
	for _, a := range f.Absent {
		b.WriteString(a.String() + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// String is one line.
func (m Machine) String() string {
	fio := m.Fio
	if fio == "" {
		fio = "no fio"
	}
	return fmt.Sprintf("%s, %d CPUs, GOMAXPROCS %d, %s, %s, commit %s, %s, huge pages %s, load %s",
		m.CPU, m.CPUs, m.Procs, m.Kernel, m.Go, m.Commit, fio, m.HugePages, m.Load)
}

func (f *File) caseTable(b *strings.Builder, name string, against []string) {
	contenders := f.contenders(name)
	against = slices.DeleteFunc(slices.Clone(against), func(a string) bool { return !slices.Contains(contenders, a) })
	head := []string{name, "GB/s", "GiB/s", "op/s"}
	for _, a := range against {
		head = append(head, "/ "+a, "best/best")
	}
	head = append(head, "s", "CPU us/op", "p50 us", "p99 us", "threads", "RSS MB", "others %", "rounds")
	rows := [][]string{head}
	for _, c := range contenders {
		rows = append(rows, f.row(name, c, against))
	}
	write(b, rows)
}

func (f *File) row(name, contender string, against []string) []string {
	all := f.Of(name, contender)
	through := medianOf(all, func(s *Sample) float64 { return s.Throughput() })
	row := []string{
		contender, number(through / 1e9), number(through / (1 << 30)),
		fmt.Sprintf("%.0f", medianOf(all, rate)),
	}
	for _, a := range against {
		theirs := f.Of(name, a)
		row = append(row, number(PairedRatio(all, theirs)), number(BestRatio(all, theirs)))
	}
	us := func(of func(*Sample) time.Duration) string {
		return number(medianOf(all, func(s *Sample) float64 { return of(s).Seconds() * 1e6 }))
	}
	return append(row,
		number(medianOf(all, func(s *Sample) float64 { return s.Elapsed.Seconds() })),
		us((*Sample).CPUEach),
		us(func(s *Sample) time.Duration { return s.P50 }),
		us(func(s *Sample) time.Duration { return s.P99 }),
		number(highest(all, func(s *Sample) float64 { return float64(s.Threads) })),
		number(highest(all, func(s *Sample) float64 { return float64(s.RSS) / 1e6 })),
		fmt.Sprintf("%.0f", 100*medianOf(all, func(s *Sample) float64 { return s.Others })),
		fmt.Sprint(len(all)))
}

func highest(all []Sample, of func(*Sample) float64) float64 {
	h := 0.0
	for i := range all {
		h = max(h, of(&all[i]))
	}
	return h
}

// number with three digits or more; nothing for what is not known.
func number(x float64) string {
	switch {
	case math.IsNaN(x) || x == 0:
		return "-"
	case x < 0.1:
		return fmt.Sprintf("%.4f", x)
	case x < 10:
		return fmt.Sprintf("%.3f", x)
	case x < 100:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

// write writes rows with columns of equal width.
func write(b *strings.Builder, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], len(cell))
		}
	}
	for n, row := range rows {
		for i, cell := range row {
			if i == 0 {
				fmt.Fprintf(b, "| %-*s ", width[i], cell)
			} else {
				fmt.Fprintf(b, "| %*s ", width[i], cell)
			}
		}
		b.WriteString("|\n")
		if n == 0 {
			for _, w := range width {
				b.WriteString("|" + strings.Repeat("-", w+2))
			}
			b.WriteString("|\n")
		}
	}
	b.WriteString("\n")
}
