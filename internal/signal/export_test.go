package signal

// Size is how many are in the crowd. The owner's mutex is held.
func (c *Crowd) Size() int { return len(c.parkers) }
