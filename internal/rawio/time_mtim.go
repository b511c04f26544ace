//go:build openbsd || dragonfly

package rawio

import (
	"syscall"
	"time"
)

func modTime(st *syscall.Stat_t) time.Time { return time.Unix(st.Mtim.Unix()) }

func accessTime(st *syscall.Stat_t) time.Time { return time.Unix(st.Atim.Unix()) }
