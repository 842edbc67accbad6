// Package reads finds calls that open, change or look for a state file in a package that does not own it.
//
// Analyzer follows paths from the constants that name such a file to the functions that touch files:
//
//	os.ReadFile(filepath.Join(state, "HALT"))   // found
//	os.ReadFile(place.Halt().Path())            // found: Path returns a path of HALT
//	exists(filepath.Join(state, "HALT"))        // found: exists hands its argument to os.Lstat
//	place.Halt().Note()                         // wave asks its own file
//
// It follows them through operators, conversions, local and package variables, struct fields, slices, maps, closures and the functions of
// this and other packages; what it learns of a package travels as facts (Summary, Names) to those that import it. It does not follow what
// goes through interfaces, channels and reflection, nor names that are put together at run time. A field counts as one variable, whichever
// value it is in.
//
// Test files are not looked at: they plant state files, damage them, and look at what the owner left there, which is how the owners are
// tested. Packages that only help tests are.
//
// No comment turns the analyzer off: where a file is touched for a reason, its package is an owner (Files), or a row of a baseline counts it.
package reads
