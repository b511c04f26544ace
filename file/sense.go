package file

import (
	"math"
	"time"

	"github.com/iolane/iolane/internal/fileop"
)

// mistaken is where offsets begin that the caller has given as negative numbers.
const mistaken = math.MinInt64 / 2

// offset keeps a mistake apart from fileop.AtPosition, for sense to refuse it.
func offset(off int64) int64 {
	if off >= 0 {
		return off
	}
	return math.MinInt64 - max(off, mistaken+1)
}

// meant is what the caller of offset has given.
func meant(off int64) int64 { return math.MinInt64 - off }

// sense refuses what the system would take for something else than was meant, or would
// refuse without a word about what.
func sense(op *Op) error {
	if op.Off < mistaken {
		return bad("off", meant(op.Off), "must be at least 0")
	}
	switch op.Kind { //nolint:exhaustive // the others have nothing of this
	case fileop.Write:
		if op.File.Appends && !op.Append && op.Off != fileop.AtPosition {
			return bad("off", op.Off, "is not where it would be written: the file was opened with os.O_APPEND")
		}
	case fileop.CopyRange:
		if op.More.Off2 < mistaken {
			return bad("dstOff", meant(op.More.Off2), "must be at least 0")
		}
		if op.More.File2.Appends {
			return bad("dst", op.More.File2.Name, "must not have been opened with os.O_APPEND")
		}
		return atLeast("n", op.Len, 0)
	case fileop.Truncate:
		return atLeast("size", op.Len, 0)
	case fileop.Advise:
		return atLeast("n", op.Len, 0)
	case fileop.Times:
		if err := sensible("accessed", op.More.Accessed); err != nil {
			return err
		}
		return sensible("modified", op.More.Modified)
	case fileop.Rename:
		if err := filled("from", op.More.Path); err != nil {
			return err
		}
		return filled("to", op.More.Path2)
	case fileop.Unlink, fileop.Rmdir, fileop.Mkdir:
		return filled("name", op.More.Path)
	case fileop.Fallocate:
		return atLeast("n", op.Len, 1)
	case fileop.RangeLock:
		if err := atLeast("n", op.Len, 0); err != nil {
			return err
		}
		return lockMode(op)
	case fileop.Flock:
		return lockMode(op)
	}
	return nil
}

// sensible: systems count from 1970.
func sensible(name string, t time.Time) error {
	if t.IsZero() || time.Unix(0, t.UnixNano()).Equal(t) {
		return nil
	}
	return bad(name, t, "must be zero, or of the years 1678 to 2261")
}

// filled: to the system an empty name is that of no file, to its callers a mistake.
func filled(name, v string) error {
	if v != "" {
		return nil
	}
	return bad(name, v, "must not be empty")
}

func atLeast(name string, v, least int64) error {
	if v >= least {
		return nil
	}
	if least > 0 {
		return bad(name, v, "must be positive")
	}
	return bad(name, v, "must not be negative")
}

// lockMode: the system takes some numbers for no lock at all, and grants it.
func lockMode(op *Op) error {
	switch op.Flags &^ fileop.LockNoWait {
	case fileop.LockShared, fileop.LockExclusive:
		return nil
	case fileop.Unlock:
		if op.Flags == fileop.Unlock {
			return nil
		}
	}
	return bad("mode", LockMode(op.Flags), "must be Shared or Exclusive, alone or with NoWait")
}
