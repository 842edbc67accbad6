package tracker

// Reason is a stable word for why an item was not selected.
type Reason string

// The reasons.
const (
	NoFileOwnership         Reason = "no_file_ownership"
	InvalidOwnsFilesEntries Reason = "invalid_ownsFiles_entries"
	InvalidPath             Reason = "invalid_path"
	MissingSlug             Reason = "missing_or_empty_slug"
	MissingPrompt           Reason = "missing_or_empty_prompt"
	MissingTestCmd          Reason = "missing_or_empty_testCmd"
	Claimed                 Reason = "claimed"
	OverlapsSelected        Reason = "overlaps_selected"
	OverlapsClaimed         Reason = "overlaps_claimed"
	OverlapsUnmerged        Reason = "overlaps_unmerged"
	BlockedBy               Reason = "blocked_by"
	UnknownStatus           Reason = "unknown_status"
	AttemptsExhausted       Reason = "attempts_exhausted"
	RepositoryFailed        Reason = "repository_failed"
	SecretInName            Reason = "secret_in_name"
	Ceiling                 Reason = "ceiling"
)

// Skip says why an item is not part of a wave. It is the error of adding one that could never be.
type Skip struct {
	ID     string
	Slug   string
	Reason Reason
	Detail string // in words, with what to change
}

func (s *Skip) Error() string { return string(s.Reason) + ": " + s.Detail }
