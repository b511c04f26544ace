//go:build darwin || freebsd || netbsd

package rawio

import (
	"syscall"
	"time"
)

func modTime(st *syscall.Stat_t) time.Time { return time.Unix(st.Mtimespec.Unix()) }

func accessTime(st *syscall.Stat_t) time.Time { return time.Unix(st.Atimespec.Unix()) }
