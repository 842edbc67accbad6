package stateapi

// Cursor is one to any place of a list.
func Cursor(list string, filter any, after string) string {
	of := ""
	if filter != nil {
		of = filterOf(filter)
	}
	return cursor(list, of, after)
}
