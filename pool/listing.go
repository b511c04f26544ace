package pool

// How a call is on the list of calls: see calls.

// list notes how far the call has come, if somebody wants to know.
func (s *stay) list(label string, p phase) {
	at := s.at
	if s.unjudged || s.untimed {
		at = nil
	}
	switch c := &s.core.calls; {
	case s.listed != nil:
		c.move(s.listed, at, p)
	case label != "" || c.watch != nil:
		s.listed = c.add(label, s.at.id, at, p)
	}
}

// unlist takes a call that never came to the lane off the list.
func (s *stay) unlist() {
	if s.listed != nil {
		s.core.calls.remove(s.listed)
		s.listed = nil
	}
}

// strike takes the call off the list, and notes what it has to say about its resource.
func (s *stay) strike() {
	took, barred := s.core.calls.remove(s.listed)
	s.listed = nil
	if s.core.judges && !s.unjudged && s.at != nil && !s.at.id.IsZero() {
		v := &s.at.verdict
		if s.untimed {
			took = 0
		}
		v.told, v.given, v.took, v.barred = true, s.begun, took-v.waited, v.barred || barred
	}
}

// label is the call's name.
func (s *stay) label() string {
	if s.listed == nil {
		return ""
	}
	return s.listed.label // it does not change while the call is listed
}
