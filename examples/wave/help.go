package main

// Help of the commands that need more than a line: examples, and what the exit code says.

func (runCommand) Help() string {
	return `Examples:

  wave run --driver command --agent-cmd 'my-agent --yes'
  wave run --driver command --agent-cmd 'my-agent' --drain
  wave run --driver script --script script.json --json

The agent works in a fresh checkout; the prompt is on its standard input. What it leaves there is
checked, committed and tested. Stop it with an interrupt: work is parked, and wave resume goes on.`
}

func (planCommand) Help() string {
	return `Example:

  wave plan --driver command --agent-cmd 'my-agent'

Exit 0 if there is something to do or everything is done, 1 if no item can be taken, 3 if halted.`
}

func (resumeCommand) Help() string {
	return `Examples:

  wave resume --driver command --agent-cmd 'my-agent'
  wave resume 20261130-091500-7f3a --driver command --agent-cmd 'my-agent'

Exit 0 also where nothing is unfinished, 4 where the wave is running.`
}

func (approveCommand) Help() string {
	return `Examples:

  wave status
  wave diff add-greeting
  wave approve add-greeting
  wave approve add-greeting add-parting --commit 3f2a9c01

Items wait while wave run --supervise runs, and also when it was stopped or killed: wave resume carries
out what was decided. All are approved or none. Exit 0 also where that was decided already, 4 where an
item does not wait, or waits with another commit.`
}

func (rejectCommand) Help() string {
	return `Example:

  wave reject add-greeting 'the greeting must be polite'

The item ends as review_rejected, and the backlog says failed; tracker retry has it done again.`
}

func (correctCommand) Help() string {
	return `Examples:

  wave correct add-greeting --file greeting.txt=/tmp/better.txt --reason 'more polite'
  wave correct add-greeting --from ../my-clone
  wave correct add-greeting --delete notes.txt

What is changed must lie in the item's paths. It is committed and tested like an agent's work; then the
item waits again, with the new commit, or with the old one and the reason why. Exit 0 if the new commit's
tests pass, or if the wave does not run and makes it when it is resumed; 1 if its tests fail; 4 if it is
refused.`
}

func (demoCommand) Help() string {
	return `Makes a repository, a bare remote and a backlog of four items, runs a real wave on them, and exits 0
only if each item ended as its story says.`
}

func (showCommand) Help() string {
	return `Example:

  wave show add-greeting`
}

func (diffCommand) Help() string {
	return `Examples:

  wave diff add-greeting
  wave diff add-greeting --wave 20261130-091500-7f3a | less

The item's newest commit against the base; where there is none, what the agent left in its parked folder.`
}

func (logsCommand) Help() string {
	return `Examples:

  wave logs add-greeting
  wave logs add-greeting --follow`
}

func (pruneCommand) Help() string {
	return `Examples:

  wave prune --dry-run
  wave prune --older-than 2d --keep 3
  wave prune --discard 20261130-091500-7f3a/add-greeting
  wave prune --abandon 20261130-091500-7f3a

Trees, logs, reports and git objects of waves that ended go; what happened stays known to wave report and
wave show. Running waves are left alone. What is not pushed is listed, with what to do about it: the
folder that an agent left of work that did not ship, a commit that did not ship, a wave that is not
finished. Exit 4 where what is to be discarded is not there, or the wave is running.`
}

func (haltSet) Help() string {
	return `Example:

  wave halt set 'the build is broken'

Agents and tests that run are killed, nothing is pushed, and wave resume goes on after wave halt clear.`
}
