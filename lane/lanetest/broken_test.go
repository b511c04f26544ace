package lanetest

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/iolane/iolane/lane"
)

// broken lists lanes that break a law, and laws that they break.
var broken = []struct {
	fault string
	laws  []string
}{
	{"one slot too many", []string{"NeverMoreCallsThanSlots", "CallsThatBlockTheirThreadsKeepTheBound"}},
	{"one slot too few", []string{"ABurstFillsEverySlot"}},
	{"freed slots are forgotten", []string{"NoSlotIdlesWhileACallWaits", "NobodyStarves"}},
	{"a slot comes with an error", []string{"EnterReturnsASlotOrAnErrorNeverBoth"}},
	{"a slot is lost by a panic", []string{"APanickingCallCostsNoSlot"}},
	{"lanes cannot be compared", []string{"LanesCanBeCompared"}},
	{"nothing is promised", []string{"CapabilitiesAreTrue"}},
	{"no bound on the queue", []string{"QueueBoundIsExact"}},
	{"one place too many", []string{"QueueBoundIsExact"}},
	{"no waiters", []string{"WaitersBoundIsExact"}},
	{"FailFast waits", []string{"FailFastNeverWaitsForAcceptance"}},
	{"the lane's policy always", []string{"PolicyOfTheCallBeatsThatOfTheLane"}},
	{"no acceptance deadline", []string{"AcceptanceHasADeadlineOfItsOwn"}},
	{"acceptance deadline after acceptance", []string{"AnAcceptedCallForgetsItsAcceptanceDeadline"}},
	{"NoWait waits", []string{"NoWaitTakesAFreeSlotOrNothing"}},
	{"the newest is served first", []string{"QueueIsServedInOrder"}},
	{"the room is a stack", []string{"WaitersAreAcceptedInOrder"}},
	{"newcomers barge", []string{"StrictMeansThatNobodyOvertakes"}},
	{"endless patience", []string{"NobodyOvertakesWhoHasLostPatience"}},
	{"the dead get in", []string{"DeadOnArrivalNeverRuns"}},
	{"who gave up returns late", []string{"ACallerThatGivesUpReturnsAtOnce"}},
	{"who gave up keeps its place", []string{"ACallerThatGivesUpFreesItsPlace"}},
	{"who gave up runs", []string{"ACallerThatGivesUpNeverRuns"}},
	{"order is lost when one gives up", []string{"OthersKeepTheirOrderWhenOneGivesUp"}},
	{"a grant is not passed on", []string{"ASlotGrantedToACallerThatGivesUpIsPassedOn"}},
	{"a slot is lost when its caller gives up", []string{"AStormOfCancellationsCostsNoSlot"}},
	{"newcomers get in after Shutdown", []string{"ShutdownRefusesNewcomers", "ACallThatMeetsShutdownRunsOrIsRefused"}},
	{"context before lifecycle", []string{"ShutdownRefusesNewcomers"}},
	{"Shutdown before first use does nothing", []string{"ShutdownBeforeFirstUseClosesTheLane"}},
	{"who waits learns nothing of Shutdown", []string{"ShutdownRefusesTheUnaccepted", "GatedSealRefusesTheUnaccepted"}},
	{"accepted calls are forgotten at Shutdown", []string{"ShutdownRunsTheAccepted"}},
	{"Shutdown returns early", []string{"ShutdownWaitsForTheLastCall"}},
	{"Shutdown has no bound", []string{"ShutdownIsBoundedByItsContext"}},
	{"a second Shutdown returns at once", []string{"ShutdownMayBeCalledByManyAndAgain"}},
	{"a goroutine is left", []string{"NoGoroutineIsLeft"}},
	{"statistics do not add up", []string{"StatsAddUpInEverySnapshot"}},
	{"refusals are not counted", []string{"StatsCountEveryCall"}},
	{"waiters count as queued", []string{"StatsShowWhoWaitsWhere"}},
	{"Try passes a sealed lane", []string{"GatedTryNeverWaits"}},
	{"Seal bars Must", []string{"GatedSealRefusesAllButMust"}},
	{"bounds hold for Must", []string{"GatedMustPassesTheBounds"}},
	{"Drain returns early", []string{"GatedDrainWaitsForTheLastCall"}},
	{"Evict meets everybody", []string{"GatedEvictRefusesTheUnacceptedOfOneOwner"}},
	{"Evict is forgotten at once", []string{"GatedEvictRefusesTheUnacceptedOfOneOwner"}},
	{"Evict is for ever", []string{"GatedEvictRefusesTheUnacceptedOfOneOwner"}},
	{"a task is ended in its slot", []string{"ACarriedTaskRunsOnceAndEndsWithoutItsSlot"}},
	{"a refused task is ended", []string{"ARefusedTaskIsNotTouched"}},
	{"a task that ends its goroutine keeps its slot", []string{"ATaskThatEndsItsGoroutineCostsNoSlot"}},
	{"Start waits for its task", []string{"StartWaitsForNoTask"}},
	{"Shutdown lets Must in", []string{"GatedShutdownRefusesMustInTheEnd"}},
}

// faultVar makes TestBrokenLane run, in a process of its own, since there it fails.
const faultVar = "LANETEST_FAULT"

func TestBrokenLane(t *testing.T) {
	fault := os.Getenv(faultVar)
	if fault == "" {
		t.Skip("run by TestBrokenLanesAreRejectedByTheNameOfTheLaw")
	}
	Run(t, func(t testing.TB, c lane.Config) lane.Lane {
		if fault == "lanes cannot be compared" {
			return loose{plain: newPlain(c, "")}
		}
		return newPlainCarrier(c, fault)
	}, Options{})
}

func TestAPlainLanePasses(t *testing.T) {
	for name, o := range map[string]Options{
		"all":        {},
		"real time":  {RealTime: true},
		"no queue":   {NoQueue: true},
		"no waiters": {NoWaiters: true},
		"carry":      {Carry: true},
	} {
		t.Run(name, func(t *testing.T) {
			Run(t, func(t testing.TB, c lane.Config) lane.Lane { return newPlainCarrier(c, "") }, o)
		})
	}
}

func TestBrokenLanesAreRejectedByTheNameOfTheLaw(t *testing.T) {
	for _, b := range broken {
		t.Run(b.fault, func(t *testing.T) {
			t.Parallel()
			failed := brokenBy(t, b.fault, b.laws)
			t.Logf("breaks %s", strings.Join(failed, ", "))
			for _, law := range b.laws {
				if !slices.Contains(failed, law) {
					t.Errorf("a lane where %s passes %s", b.fault, law)
				}
			}
		})
	}
}

// brokenBy returns the laws that a broken lane fails. Those that take true time
// are tried only if they are among want.
func brokenBy(t *testing.T, fault string, want []string) []string {
	skip := []string{"none"}
	for _, l := range laws() {
		if l.real && !slices.Contains(want, l.name) {
			skip = append(skip, l.name)
		}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestBrokenLane$", "-test.v", "-test.timeout=60s",
		"-test.skip=/^("+strings.Join(skip, "|")+")$")
	cmd.Env = append(os.Environ(), faultVar+"="+fault, "GORACE=atexit_sleep_ms=0")
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	var failed []string
	for _, m := range regexp.MustCompile(`(?m)^ *--- FAIL: TestBrokenLane/(\w+)`).FindAllSubmatch(out, -1) {
		failed = append(failed, string(m[1]))
	}
	if len(failed) == 0 || bytes.Contains(out, []byte("panic: test timed out")) {
		t.Errorf("%v\n%s", err, out)
	}
	return failed
}

func TestEveryLawRejectsSomeLane(t *testing.T) {
	var shown []string
	for _, b := range broken {
		shown = append(shown, b.laws...)
	}
	for _, l := range laws() {
		if !slices.Contains(shown, l.name) {
			t.Errorf("no broken lane shows what %s is good for", l.name)
		}
	}
}
