package pinned

// line is the order of the jobs that wait.
type line struct {
	head, tail *Job
	n          int
}

func (l *line) pushBack(j *Job) {
	j.queued, j.prev, j.next = true, l.tail, nil
	if l.tail == nil {
		l.head = j
	} else {
		l.tail.next = j
	}
	l.tail = j
	l.n++
}

func (l *line) pushFront(j *Job) {
	j.queued, j.prev, j.next = true, nil, l.head
	if l.head == nil {
		l.tail = j
	} else {
		l.head.prev = j
	}
	l.head = j
	l.n++
}

func (l *line) remove(j *Job) {
	if j.prev == nil {
		l.head = j.next
	} else {
		j.prev.next = j.next
	}
	if j.next == nil {
		l.tail = j.prev
	} else {
		j.next.prev = j.prev
	}
	j.queued, j.prev, j.next = false, nil, nil
	l.n--
}
