package work

import (
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/iolane/iolane/internal/fileop"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOneFlippedBitIsFoundWhereverItIs(t *testing.T) {
	p := NewPattern()
	buf := make([]byte, 4*page)
	const off = 7 * page
	p.Fill(buf, off)
	if err := p.Check(buf, off); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for i := range buf {
		bit := byte(1) << random.IntN(8)
		buf[i] ^= bit
		if err := p.Check(buf, off); err == nil {
			t.Fatalf("bit in byte %d is not missed", i)
		}
		buf[i] ^= bit
	}
	buf[page+24] ^= 4
	if err := p.Check(buf, off); err == nil || !strings.Contains(err.Error(), "offset 32792:") {
		t.Errorf("the place is not named: %v", err)
	}
}

func TestDataOfAnotherPlaceIsFound(t *testing.T) {
	p := NewPattern()
	buf := make([]byte, 2*page)
	p.Fill(buf, 5*page)
	if p.Check(buf, 6*page) == nil {
		t.Error("a block in the wrong place is not missed")
	}
	p.Stamp(buf, 6*page)
	if err := p.Check(buf, 6*page); err != nil {
		t.Error(err)
	}
	copy(buf[Sector:], buf[:Sector])
	if p.Check(buf, 6*page) == nil {
		t.Error("a sector in the wrong place is not missed")
	}
	if err := p.CheckFirst(buf, 6*page); err != nil {
		t.Error(err)
	}
}

func TestASequentialSourceNamesEachBlockOnce(t *testing.T) {
	c := Case{Kind: Read, Sequential: true, Block: page, Range: 10 * page}
	p := NewPattern()
	bufs := Buffers{Each: [][]byte{make([]byte, page), make([]byte, page)}}
	s := NewSource(c, 2, nil, bufs, true)
	seen := make(map[int64]int)
	var op fileop.Op
	for i := 0; s.Next(i%2, &op); i++ {
		seen[op.Off]++
		p.Fill(op.Buf, op.Off)
		op.N = page
		s.Done(i%2, &op)
	}
	ops, times := s.Total()
	if len(seen) != 10 || ops != 10 || times.Count() != 10 || s.Err() != nil {
		t.Errorf("%d blocks, %d operations, %d times, %v", len(seen), ops, times.Count(), s.Err())
	}
}

func TestRandomOffsetsStayInTheRange(t *testing.T) {
	c := Case{Kind: Write, Block: page, Size: 100 * page, Range: 7 * page}
	s := NewSource(c, 1, nil, Buffers{Each: [][]byte{make([]byte, page)}}, false)
	seen := make(map[int64]bool)
	var op fileop.Op
	for range 1000 {
		if !s.Next(0, &op) {
			t.Fatal("it ends by itself")
		}
		if op.Off%page != 0 || op.Off < 0 || op.Off >= c.Range {
			t.Fatal("offset", op.Off)
		}
		seen[op.Off] = true
	}
	if len(seen) != 7 {
		t.Errorf("%d blocks of 7", len(seen))
	}
}

func TestWhatFailsStopsAllSlots(t *testing.T) {
	broken := errors.New("broken")
	for name, do := range map[string]func(op *fileop.Op){
		"error":      func(op *fileop.Op) { op.Err = broken },
		"short":      func(op *fileop.Op) { op.N = page - 1 },
		"wrong data": func(op *fileop.Op) { op.N = page },
	} {
		c := Case{Kind: Read, Block: page, Range: 7 * page}
		s := NewSource(c, 1, nil, Buffers{Each: [][]byte{make([]byte, page)}}, false)
		var op fileop.Op
		s.Next(0, &op)
		do(&op)
		s.Done(0, &op)
		if s.Err() == nil || s.Next(0, &op) {
			t.Errorf("%s: %v", name, s.Err())
		}
		if name == "error" && !errors.Is(s.Err(), broken) || name == "short" && !errors.Is(s.Err(), io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", name, s.Err())
		}
	}
}

func TestSleepsAreGivenOutOnce(t *testing.T) {
	s := NewSource(Case{Kind: Sleep, Count: 3, Sleep: time.Second}, 3, nil, Buffers{}, false)
	var op fileop.Op
	n := 0
	for s.Next(0, &op) {
		if op.Sleeping() != time.Second {
			t.Error(op.Sleeping())
		}
		s.Done(0, &op)
		n++
	}
	if ops, _ := s.Total(); n != 3 || ops != 3 {
		t.Error(n, ops)
	}
}

func TestCasesThatWriteComeLastAndNamesAreUnique(t *testing.T) {
	for _, quick := range []bool{false, true} {
		names := make(map[string]bool)
		for _, shape := range Shapes() {
			wrote := false
			for _, c := range Cases(shape, Params{Quick: quick, Time: time.Second}) {
				if names[c.Name] {
					t.Error("twice:", c.Name)
				}
				names[c.Name] = true
				if c.Kind == Read && wrote {
					t.Errorf("%s reads what others have written", c.Name)
				}
				wrote = wrote || c.Kind == Write
				if c.Slots < c.Callers || c.Depth > c.Callers || c.Depth < 1 {
					t.Errorf("%+v", c)
				}
			}
		}
	}
	if Cases("nonsense", Params{}) != nil {
		t.Error("nonsense is a shape")
	}
}

func TestHoweverLittleTimeThereIsOneOperationIsDone(t *testing.T) {
	s := NewSource(Case{Kind: Nop}, 2, nil, Buffers{}, false)
	s.Stop()
	var op fileop.Op
	if s.Next(1, &op) || !s.Next(0, &op) {
		t.Fatal("it is not the first slot that goes on")
	}
	s.Done(0, &op)
	if s.Next(0, &op) {
		t.Error("it goes on")
	}
	s = NewSource(Case{Kind: Nop}, 1, nil, Buffers{}, false)
	s.Fail(io.EOF)
	if s.Next(0, &op) {
		t.Error("it goes on after a failure")
	}
}
