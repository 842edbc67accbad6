package redact

import "strings"

// EnvironmentSecrets are the values of those variables, given as KEY=value, whose names say that they are secrets. What is too short to be
// one, and the path of a file, is none.
func EnvironmentSecrets(environ []string) []string {
	const least = 8
	var all []string
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if SecretName(name) && len(value) >= least && !plainPath([]byte(value)) {
			all = append(all, value)
		}
	}
	return all
}

// RegisterEnvironment is Register for EnvironmentSecrets. A value that cannot be looked for, since it is a part of what stands in the
// place of secrets, is left out: some put such a text where a secret was.
func (r *Redactor) RegisterEnvironment(environ []string) {
	_ = r.Register(EnvironmentSecrets(environ)...)
}
