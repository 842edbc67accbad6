package hook

// What tests look at.
var (
	Protected = protected
	Script    = Settings.script
	Parse     = parse

	ReplaceFile = replaceFile
)

// IsSame says whether a hook that was read is what its settings make.
func IsSame(p parsed) bool { return p.same }
