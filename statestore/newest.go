package statestore

// Newest returns the Seq of the newest event, 0 where there is none: what to give to Changed. The search begins at from, which is 0 or what it
// returned before. It asks for few events however many there are.
func Newest(r Reader, from Seq) (Seq, error) {
	low, step := from, Seq(1)
	for { // leap ahead until nothing is there
		seq, err := following(r, low+step-1)
		if err != nil {
			return 0, err
		}
		if seq == 0 {
			break
		}
		low, step = seq, 2*step
	}
	for high := low + step - 1; low < high; { // nothing is above high, and low is there
		middle := low + (high-low)/2
		seq, err := following(r, middle)
		if err != nil {
			return 0, err
		}
		if seq == 0 {
			high = middle
		} else {
			low = seq
		}
	}
	return low, nil
}

// following returns the Seq of the first event after another, 0 for none.
func following(r Reader, after Seq) (Seq, error) {
	for event, err := range r.Events(EventQuery{After: after, Limit: 1}) {
		return event.Seq, err
	}
	return 0, nil
}
