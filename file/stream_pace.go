package file

import "time"

// pace tells transfers of the page cache, which are made where they are wanted, from those of
// a device, which are worth a goroutine each, by how long the last ones took. One that was
// slow speaks for a device, and many quick ones in a row for the cache. Direct transfers
// are none of its business.
type pace struct {
	row  int  // of quick ones
	slow bool // for tests: all are
}

const (
	quickRow = 16
	overhead = 20 * time.Microsecond // of any transfer
	perByte  = 2                     // bytes for each nanosecond: fast for a device, slow for memory
)

// begin takes the cache for granted: if it is not so the first transfer will tell.
func (p *pace) begin(slow bool) { p.row, p.slow = quickRow, slow }

func (p *pace) quick() bool { return p.row >= quickRow && !p.slow }

// note takes note of a transfer of so many bytes.
func (p *pace) note(took time.Duration, n int) {
	if took > overhead+time.Duration(n/perByte) {
		p.row = 0
		return
	}
	p.row++
}
