package cost

// dictionary numbers values from 0 in the order in which they come.
type dictionary[V comparable] struct {
	codes map[V]uint32
	all   []V
}

// code returns the number of v, a new one where it has none yet.
func (d *dictionary[V]) code(v V) uint32 {
	code, ok := d.codes[v]
	if !ok {
		if d.codes == nil {
			d.codes = map[V]uint32{}
		}
		code = uint32(len(d.all))
		d.codes[v] = code
		d.all = append(d.all, v)
	}
	return code
}
