// Package transcript reads what agents used out of the sessions that Claude Code and Codex keep on disk, also of runs that nobody
// metered, as a cost.Call for each answer of a model:
//
//	state := transcript.State{} // or the one that was kept
//	state, summary, err := transcript.Ingest(ctx, transcript.Find(os.Getenv), state, func(calls []cost.Call) error {
//		_, err := ledger.Record(ctx, calls...)
//		return err
//	})
//
// Calls have deterministic ids, so that a cost.Ledger has each once however often it is given. Record them before the new state is kept.
// They have no prices. What cannot be read as counts is no call but a Problem with its file and line; look at Summary.Problems before
// a sum is trusted.
//
// # Claude Code
//
// It writes an answer as several lines under one message id, with the counts of the moment each was written, and copies whole sessions
// when one is forked. A message is one call, claude/MESSAGE/REQUEST, with the greatest counts that any line of any file has. While a
// session is written to, its last message may still grow: it is held back, in the State, until it has a stop reason, or its agent says
// another, or its file was left alone for Config.Settle. This keeps calls whole, which prices by the size of a prompt need. One that
// grows after all is given once more as claude/MESSAGE/REQUEST+1, with the rest. Answers that the program made up for failures are no
// calls. A copy does not say which session had the message first; Session is one of them. A message that took several requests, as where
// the service compacted the conversation on the way, is Summed; one that does not say all that it used is not metered. Service is "us"
// where only the United States would do, which has another price.
//
// # Codex
//
// It writes the sum of all calls of a session so far, often twice. A call is what a sum is more than the one before,
// codex/SESSION/NUMBER. A sum that fell is counted from zero and reported. A fork goes on from its parent's sums, and of some versions
// begins with a copy of its parent's history, which is not counted: its lines name the other thread, or tell the parent's sums, or, where
// the parent's file is gone, come within a second of the fork. Service is what the session was set to, which the vendor may not have granted;
// flexible processing is called batch, as it is priced.
//
// # Reading again
//
// Only whole lines are read, and of a file that grew only what is new. A file that is not the one that was left, by the fingerprints of
// its first and last bytes then, is read from its beginning; what was given of it is not given again. Symbolic links below the folders
// are not followed. Memory is taken for messages, about two hundred bytes each, not for text: lines that hold no counts are passed over
// whatever their length.
package transcript
