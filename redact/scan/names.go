package scan

import (
	"path"
	"strings"
)

// nameRule is the rule of files whose names alone tell.
const nameRule = "credential-file-name"

const credentialNames = " .env .netrc _netrc .git-credentials .pgpass .my.cnf .htpasswd .pypirc .dockercfg " +
	"id_rsa id_dsa id_ecdsa id_ed25519 application_default_credentials.json "

// credentialName says that files of that name hold credentials as a rule. It is a warning: whether this one does, its content tells.
func credentialName(name string, public bool) bool {
	base := strings.ToLower(path.Base(name))
	if strings.Contains(credentialNames, " "+base+" ") || strings.HasSuffix(strings.ToLower(name), ".aws/credentials") {
		return true
	}
	switch path.Ext(base) {
	case ".pem", ".key":
		return !public
	case ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk":
		return true
	case ".example", ".sample", ".template", ".dist":
		return false
	}
	return strings.HasPrefix(base, ".env.")
}

// name looks at the name of a path or ref, once.
func (r *run) name(place Place, name, commit string) error {
	if r.named[name] {
		return nil
	}
	r.named[name] = true
	r.result.Counts.Names++
	c, err := r.inspectText(name)
	if err != nil {
		return err
	}
	for _, s := range c.spots {
		s.line, s.column = 0, 0
		r.report(Finding{Place: place, Path: name, Commit: commit}, s)
	}
	return nil
}
