package wave

import (
	"errors"
	"io/fs"

	"aesop/internal/filelock"
	"aesop/internal/git"
	"aesop/tracker"
	"aesop/wave/journal"
)

// failedReport is the report of a wave that could not even be planned; resumed are the waves that were finished before.
func failedReport(id string, s *Scheduler, err error, resumed ...journal.Resume) Report {
	report := NewReport(journal.New(id))
	report.Resumed = append(report.Resumed, resumed...)
	report.StartedAt, report.Driver = s.config.Clock().UTC(), s.config.Driver.Info().Name
	report.Outcome, report.Error = journal.ErrorOutcome, Explain(err)
	report.Error.Message, report.Error.Hint = s.redact(report.Error.Message), s.redact(report.Error.Hint)
	return report
}

// Explain turns an error into its form in documents, without secrets where the error's own text has none.
func Explain(err error) *ReportError {
	if clean, ok := errors.AsType[*cleanError](err); ok {
		fault := Explain(clean.err)
		fault.Message, fault.Hint = clean.clean(fault.Message), clean.clean(fault.Hint)
		return fault
	}
	if file, ok := errors.AsType[*tracker.FileError](err); ok {
		return &ReportError{Code: file.Code, Message: file.Message, File: file.File, Line: file.Line, Field: file.Field, Hint: file.Hint}
	}
	if setup, ok := errors.AsType[*SetupError](err); ok {
		return &ReportError{Code: setup.Code, Message: setup.Message, Hint: setup.Hint}
	}
	if alive, ok := errors.AsType[*AliveError](err); ok {
		return &ReportError{Code: "alive", Message: alive.Error(), Hint: "wait for it, or stop that process"}
	}
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		return &ReportError{Code: refused.Code, Message: refused.Message, Hint: refused.Hint}
	}
	for _, known := range []struct {
		is         bool
		code, hint string
	}{
		{is[*UnknownWaveError](err), "unknown_wave", "wave ids are the names of the folders below waves in the state directory"},
		{is[*tracker.ConflictError](err), "conflict", "somebody else holds it; wait for the lease to end, or take another item"},
		{is[*tracker.LostError](err), "claim_lost", "the claim ended or was taken; claim the item again"},
		{is[*git.Error](err), "git", "run that command by hand to see what is wrong"},
		{errors.Is(err, filelock.ErrNetwork), "network_file_system", "keep the state directory on a local disk"},
		{errors.Is(err, fs.ErrPermission), "permission", "look at the owner and mode of that file"},
		{errors.Is(err, fs.ErrNotExist), "missing", "look at the path"},
	} {
		if known.is {
			return &ReportError{Code: known.code, Message: err.Error(), Hint: known.hint}
		}
	}
	return &ReportError{Code: "internal", Message: err.Error(), Hint: "what was begun can be resumed once the cause is gone"}
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
