package ringdriver

import "time"

// manner finds out whether goroutines are better woken one by one, in a chain, or all at
// once, as a crowd. The crowd is for goroutines that have much to do before they come back:
// it lets other processors help. The chain is for those that have not, and for when there
// is no other processor to be had. Which it is shows in how long the driver waits for each
// of them: now and then the other manner is tried, for a few times, and kept if it is better.
type manner struct {
	crowds bool // the usual manner
	trying bool // the other one
	left   int  // times until this changes
	every  int  // trials are so many times apart

	usual, other pace
	now          pace
	began        time.Time
}

const (
	often, seldom = 64, 4096 // manner.every
	trial         = 4        // times
)

// pace is how long some goroutines took.
type pace struct {
	took time.Duration
	n    int
}

func (p *pace) add(q pace) { p.took, p.n = p.took+q.took, p.n+q.n }

// fade makes what is long ago count less: it keeps n below most.
func (p *pace) fade(most int) {
	for p.n > most {
		p.took, p.n = p.took/2, p.n/2
	}
}

// each is how long one took.
func (p *pace) each() float64 { return float64(p.took) / float64(max(p.n, 1)) }

// crowd reports what it is this time.
func (m *manner) crowd() bool { return m.crowds != m.trying }

// begin is called before n goroutines are woken, end when they have had their turn.
func (m *manner) begin(n int) {
	if m.every == 0 {
		m.every, m.left = often, often
	}
	m.now.n, m.began = n, time.Now()
}

func (m *manner) end() {
	m.now.took = time.Since(m.began)
	m.left--
	if !m.trying {
		m.usual.add(m.now)
		m.usual.fade(often * m.now.n)
		if m.left <= 0 {
			m.trying, m.left, m.other = true, trial, pace{}
		}
		return
	}
	m.other.add(m.now)
	// Where others are in the queue of the processor, a crowd may cost 10 ms each time.
	hopeless := m.other.took > time.Millisecond && m.other.each() > 2*m.usual.each()
	if m.left > 0 && !hopeless {
		return
	}
	if m.every = min(2*m.every, seldom); m.other.each() < 0.8*m.usual.each() {
		m.crowds, m.every = !m.crowds, often
	}
	m.trying, m.left, m.usual = false, m.every, pace{}
}
