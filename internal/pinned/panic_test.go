package pinned

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A task that panics ends the process, and its stack is in the output; that its thread
// should have been kept holds up nothing.
func TestPanicOfATaskEndsTheProcess(t *testing.T) {
	const child = "PINNED_TEST_PANIC"
	if os.Getenv(child) != "" {
		s := open(t, Config{Threads: 1, Keep: 1})
		_ = s.Run(t.Context(), Func(func(th *Thread) { th.Taint(); culprit() }))
		t.Fatal("survived")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout=1m")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "panic: the task's own") || !strings.Contains(string(out), "culprit") {
		t.Fatalf("%v\n%s", err, out)
	}
}

//go:noinline
func culprit() { panic("the task's own") }
