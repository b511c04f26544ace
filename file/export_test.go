package file

// Slow makes a stream take the file for one on a slow device.
func (c StreamConfig) Slow(slow bool) StreamConfig {
	c.slow = slow
	return c
}

// Slow makes ReadMany take its files for ones on a slow device.
func (c ReadManyConfig) Slow(slow bool) ReadManyConfig {
	c.slow = slow
	return c
}
