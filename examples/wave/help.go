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

func (demoCommand) Help() string {
	return `Makes a repository, a bare remote and a backlog of four items, runs a real wave on them, and exits 0
only if each item ended as its story says.`
}

func (showCommand) Help() string {
	return `Example:

  wave show add-greeting`
}

func (haltSet) Help() string {
	return `Example:

  wave halt set 'the build is broken'

Agents and tests that run are killed, nothing is pushed, and wave resume goes on after wave halt clear.`
}
