package wave

import (
	"errors"

	"aesop/tracker"
	"aesop/wave/journal"
)

// failedReport is the report of a wave that could not even be planned.
func failedReport(id string, s *Scheduler, err error) Report {
	report := NewReport(journal.New(id))
	report.StartedAt, report.Driver = s.config.Clock().UTC(), s.config.Driver.Info().Name
	report.Outcome, report.Error = journal.ErrorOutcome, Explain(err)
	report.Error.Message = s.redact(report.Error.Message)
	return report
}

// Explain turns an error into its form in documents.
func Explain(err error) *ReportError {
	if file, ok := errors.AsType[*tracker.FileError](err); ok {
		return &ReportError{Code: file.Code, Message: file.Message, File: file.File, Line: file.Line, Field: file.Field, Hint: file.Hint}
	}
	if setup, ok := errors.AsType[*SetupError](err); ok {
		return &ReportError{Code: setup.Code, Message: setup.Message, Hint: setup.Hint}
	}
	if alive, ok := errors.AsType[*AliveError](err); ok {
		return &ReportError{Code: "alive", Message: alive.Error(), Hint: "wait for it, or stop that process"}
	}
	return &ReportError{Code: "internal", Message: err.Error()}
}
