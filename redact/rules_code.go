package redact

// codeRules are those of code hosts, package registries, builds and tools of developers.
func codeRules() []Rule {
	return []Rule{
		checked(token("github-token", `(?:ghp|gho|ghu|ghr)_[A-Za-z0-9]{36,}`, "ghp_{alnum:36}", "ghp_{alnum:35}"), base62CRC),
		// The newer form of these holds a JWT.
		token("github-app-token", `ghs_[A-Za-z0-9._-]{36,}`, "ghs_{alnum:36}", "ghs_{alnum:35}"),
		token("github-fine-grained-token", `github_pat_[A-Za-z0-9_]{60,}`, "github_pat_{alnum:22}_{alnum:59}", "github_pat_{alnum:22}"),

		// Routable tokens have dots in them.
		token("gitlab-token", `gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-[A-Za-z0-9._-]{20,}`, "glpat-{base64url:20}", "glpat-{alnum:19}"),
		token("gitlab-runner-registration-token", `GR1348941[A-Za-z0-9_-]{20,}`, "GR1348941{base64url:20}", "GR1348941{alnum:10}"),
		token("gitlab-session", `_gitlab_session=[0-9a-z]{32,}`, "_gitlab_session={hex:32}", "_gitlab_session={hex:20}"),

		token("atlassian-token", `\b(?:ATATT3|ATCTT3|ATSTT3)[A-Za-z0-9_=-]{60,}`, "ATATT3{base64url:186}", "ATATT3{alnum:30}"),
		named("atlassian-key", "atlassian", `[A-Za-z0-9]{20}[A-Fa-f0-9]{4}`, "{alnum:20}{hex:4}"),
		named("confluence-key", "confluence", `[A-Za-z0-9]{20}[A-Fa-f0-9]{4}`, "{alnum:20}{hex:4}"),
		named("jira-key", "jira", `[A-Za-z0-9]{20}[A-Fa-f0-9]{4}`, "{alnum:20}{hex:4}"),
		token("bitbucket-app-password", `\bATBB[A-Za-z0-9]{28,}`, "ATBB{alnum:32}", "ATBB{alnum:12}"),
		named("bitbucket-client-secret", "bitbucket", `[A-Za-z0-9=_-]{64}`, "{base64url:64}"),
		named("bitbucket-client-id", "bitbucket", alnum32, "{alnum:32}"),
		token("sourcegraph-token", `\bsgp_[A-Za-z0-9_]{40,}`, "sgp_{hex:16}_{hex:40}", "sgp_{hex:20}"),
		named("sourcegraph-key", "sourcegraph", `[A-Fa-f0-9]{40}`, "{hex:40}"),

		checked(token("npm-token", `npm_[A-Za-z0-9]{36,}`, "npm_{alnum:36}", "npm_{alnum:35}", "npm_config_registry"), base62CRC),
		token("pypi-token", `pypi-AgE[A-Za-z0-9_-]{50,}`, "pypi-AgEIcHlwaS5vcmc{base64url:120}", "pypi-AgE{alnum:20}"),
		token("rubygems-key", `rubygems_[a-f0-9]{48,}`, "rubygems_{hex:48}", "rubygems_{hex:20}"),
		token("nuget-key", `\boy2[a-z0-9]{43,}`, "oy2{lower:20}{digit:23}", "oy2{lower:20}"),
		token("nuget-password", `Password" ?value="[^"\s<>{}$%][^"\n<>{]{7,}`, `Password" value="{alnum:16}`, `Password" value="{alnum:4}"`),
		token("clojars-token", `CLOJARS_[A-Za-z0-9]{60,}`, "CLOJARS_{hex:60}", "CLOJARS_{hex:20}"),
		token("docker-token", `(?:dckr_pat|dckr_oat)_[A-Za-z0-9_-]{20,}`, "dckr_pat_{base64url:27}", "dckr_pat_{alnum:12}"),
		token("artifactory-key", `\bAKCp[A-Za-z0-9]{69,}`, "AKCp{alnum:69}", "AKCp{alnum:30}"),
		token("artifactory-reference-token", `\bcmVmd[A-Za-z0-9]{59,}`, "cmVmd{alnum:59}", "cmVmd{alnum:30}"),
		named("jfrog-token", "jfrog", alnum64, "{alnum:64}"),
		named("jfrog-key", "jfrog", `[A-Za-z0-9]{73}`, "{alnum:73}"),
		named("artifactory-name-token", "artifactory", alnum64, "{alnum:64}"),
		named("artifactory-name-key", "artifactory", `[A-Za-z0-9]{73}`, "{alnum:73}"),
		named("bintray-token", "bintray", alnum64, "{alnum:64}"),
		named("bintray-key", "bintray", `[A-Za-z0-9]{73}`, "{alnum:73}"),
		named("xray-token", "xray", alnum64, "{alnum:64}"),
		named("xray-key", "xray", `[A-Za-z0-9]{73}`, "{alnum:73}"),
		named("sidekiq-credential", "contribsys__com", `[A-Fa-f0-9]{8}:[A-Fa-f0-9]{8}`, "{hex:8}:{hex:8}"),

		token("circleci-token", `(?:CCIPAT|CCIPRJ)_[A-Za-z0-9_]{40,}`, "CCIPAT_{alnum:22}_{hex:40}", "CCIPAT_{alnum:12}"),
		token("buildkite-token", `\b(?:bkua|bkaj|bkpt)_[a-f0-9]{40,}`, "bkua_{hex:40}", "bkua_{hex:20}"),
		token("harness-key", `\b(?:pat|sat)\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20,}`,
			"pat.{base64url:22}.{alnum:24}.{alnum:20}", "pat.{alnum:22}.{alnum:10}"),
		token("octopus-key", `\bAPI-[A-Z0-9]{26,}`, "API-{ALNUM:26}", "API-{ALNUM:16}", "xAPI-{ALNUM:26}"),
		named("travis-token", "travis", `[A-Za-z0-9]{22}`, "{alnum:22}"),
		named("drone-token", "droneci", alnum32, "{alnum:32}"),
		named("codecov-token", "codecov", alnum32, "{alnum:32}"),
		token("sonar-token", `\b(?:squ|sqp|sqa)_[A-Za-z0-9=_-]{40,}`, "squ_{hex:40}", "squ_{hex:20}"),
		named("sonar-login", "sonar", `[A-Za-z0-9=_-]{40}`, "{hex:40}"),
		token("sentry-org-token", `sntrys_[A-Za-z0-9+/_=]{60,}`, "sntrys_{alnum:100}_{alnum:43}", "sntrys_{alnum:20}"),
		token("sentry-user-token", `sntryu_[a-f0-9]{64,}`, "sntryu_{hex:64}", "sntryu_{hex:20}"),
		named("sentry-token", "sentry", hex64, "{hex:64}"),
		token("postman-key", `PMAK-[A-Fa-f0-9]{24}-[A-Fa-f0-9]{34,}`, "PMAK-{hex:24}-{hex:34}", "PMAK-{hex:24}"),
		token("readme-key", `\brdme_[a-z0-9]{70,}`, "rdme_{lower:35}{digit:35}", "rdme_{lower:20}"),
		named("launchdarkly-sdk-key", "launchdarkly", `(?:sdk|api|mob)-`+uuid, "sdk-"+uuidShape),
		named("launchdarkly-key", "launchdarkly", `[A-Za-z0-9=_-]{40}`, "{base64url:40}"),

		token("linear-key", `lin_(?:api|oauth|wh)_[A-Za-z0-9]{32,}`, "lin_api_{alnum:40}", "lin_api_{alnum:20}"),
		named("linear-client-secret", "linear", hex32, "{hex:32}"),
		token("notion-token", `\bntn_[A-Za-z0-9]{43,}`, "ntn_{digit:11}{alnum:35}", "ntn_{alnum:20}"),
		token("notion-old-token", `\bsecret_[A-Za-z0-9]{43,}`, "secret_{alnum:43}", "secret_{alnum:20}"),
		token("figma-token", `\b(?:figd|figdr|figu|figur|figoh|figor)_[A-Za-z0-9_-]{38,}`, "figd_{base64url:40}", "figd_{alnum:12}"),
		token("airtable-token", `\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64,}`, "pat{alnum:14}.{hex:64}", "pat{alnum:14}.{hex:20}"),
		named("airtable-key", "airtable", `[A-Za-z0-9]{17}`, "{alnum:17}"),
		named("asana-client-id", "asana", `[0-9]{16}`, "{digit:16}"),
		named("asana-client-secret", "asana", alnum32, "{alnum:32}"),

		token("one-password-secret-key", `\bA3-[A-Z0-9]{6}-[A-Z0-9-]{29,}`, "A3-{ALNUM:6}-{ALNUM:11}-{ALNUM:5}-{ALNUM:5}-{ALNUM:5}", "A3-{ALNUM:6}-{ALNUM:11}"),
		token("one-password-service-token", `ops_eyJ[A-Za-z0-9+/_-]{200,}={0,3}`, "ops_eyJ{base64:400}", "ops_eyJ{alnum:40}"),
		token("age-secret-key", `AGE-SECRET-KEY-(?:PQ-)?1[A-Za-z0-9]{58,}`, "AGE-SECRET-KEY-1{ALNUM:58}", "AGE-SECRET-KEY-1{ALNUM:20}"),
		token("authress-key", `\b(?:sc_|ext_|scauth_|authress_)[A-Za-z0-9]{5,}\.[A-Za-z0-9]{4,}\.acc[_-][A-Za-z0-9-]{10,}\.[A-Za-z0-9+/_=-]{30,}`,
			"sc_{alnum:20}.{alnum:5}.acc-{alnum:20}.{base64:60}", "sc_{alnum:20}.{alnum:5}"),
	}
}
