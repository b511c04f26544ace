package lanegate

// Shard is the number of the slot's shard, from which [Gate.Slot] makes the same
// slot again: for owners that know the gate and want to keep a number only.
func (s Slot) Shard() uint32 { return s.shard }

// Reserved reports whether the slot is one that only urgent callers may use.
func (s Slot) Reserved() bool { return s.shard == s.gate.normal }

// Slot is the slot in use whose [Slot.Shard] was given.
func (g *Gate) Slot(shard uint32) Slot { return Slot{g, shard} }
