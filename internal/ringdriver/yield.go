package ringdriver

import "sync"

// yielder lets the goroutines run that the driver has just woken, and those before them in
// the queue of the same processor, but not more: runtime.Gosched puts its caller behind
// everybody, and where all processors are busy that is a matter of milliseconds.
//
// Who wakes a goroutine runs it next, before the queue of his processor, and what was to
// be next before goes to the end of the queue. So the first helper wakes the driver, and
// then, before it sleeps again, the second helper: that leaves the driver at the end.
type yielder struct {
	first, second, back chan struct{}

	helpers sync.WaitGroup
}

func newYielder() *yielder {
	y := &yielder{first: make(chan struct{}), second: make(chan struct{}), back: make(chan struct{})}
	y.helpers.Go(func() {
		for range y.first {
			y.back <- struct{}{}
			y.second <- struct{}{}
		}
		close(y.second)
	})
	y.helpers.Go(func() {
		for range y.second {
		}
	})
	return y
}

func (y *yielder) yield() {
	y.first <- struct{}{}
	<-y.back
}

// end ends the helpers.
func (y *yielder) end() {
	close(y.first)
	y.helpers.Wait()
}
