package redact

// cloudRules are those of clouds, hosting, databases and infrastructure.
func cloudRules() []Rule {
	return []Rule{
		token("aws-access-key-id", `\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16,}`, "AKIA{ALNUM:16}", "AKIA{ALNUM:15}", "xAKIA{ALNUM:16}"),
		token("aws-access-key-id-old", `\bA3T[A-Z0-9]{17,}`, "A3T{ALNUM:17}", "A3T{ALNUM:16}"),
		token("aws-bedrock-key", `\bABSK[A-Za-z0-9+/]{109,}={0,2}`, "ABSK{alnum:120}==", "ABSK{alnum:108}"),
		token("aws-bedrock-short-key", `bedrock-api-key-[A-Za-z0-9+/_-]{36,}={0,2}`, "bedrock-api-key-{alnum:300}", "bedrock-api-key-name"),

		token("google-api-key", `\bAIza[A-Za-z0-9_-]{35,}`, "AIza{base64url:35}", "AIza{alnum:34}", "xAIza{alnum:35}"),
		token("google-auth-key", `\bAQ\.Ab8[A-Za-z0-9_-]{40,}`, "AQ.Ab8{base64url:47}", "AQ.Ab8{alnum:20}"),
		token("google-oauth-token", `\bya29\.[A-Za-z0-9._-]{20,}`, "ya29.{base64url:160}", "ya29.com"),
		token("google-refresh-token", `\b1(?://|%2F%2F)0[A-Za-z0-9_-]{60,}`, "1//0{base64url:98}", "1//0{alnum:20}"),
		token("google-oauth-secret", `GOCSPX-[A-Za-z0-9_-]{28,}`, "GOCSPX-{base64url:28}", "GOCSPX-{alnum:20}"),
		token("google-hmac-id", `\bGOOG1E[A-Z0-9]{20,}`, "GOOG1E{ALNUM:57}", "GOOG1E{ALNUM:12}"),

		named("azure-account-key", "accountkey", `[A-Za-z0-9+/]{40,}={0,2}`, "{base64:86}=="),
		named("azure-shared-key", "sharedaccesskey", `[A-Za-z0-9+/]{40,}={0,2}`, "{base64:43}="),
		token("azure-sas", `(?:\?sig=|&sig=|&amp;sig=|\\u0026sig=)[A-Za-z0-9%+/_-]{40,}={0,2}`, "&sig={alnum:40}%2B{alnum:3}%3D", "&sig={alnum:12}"),
		token("azure-client-secret", `[A-Za-z0-9_~.]{3}(?:0Q~|1Q~|2Q~|3Q~|4Q~|5Q~|6Q~|7Q~|8Q~|9Q~)[A-Za-z0-9_~.-]{31,}`,
			"{alnum:3}8Q~{base64url:34}", "{alnum:3}8Q~{alnum:20}"),

		token("digitalocean-token", `(?:dop_v1|doo_v1|dor_v1)_[A-Fa-f0-9]{64,}`, "dop_v1_{hex:64}", "dop_v1_{hex:32}"),
		token("fly-token", `\b(?:fm1r|fm1a|fm2)_[A-Za-z0-9+/%=]{100,}`, "fm2_{base64:200}", "fm2_{alnum:60}"),
		token("fly-old-token", `\bfo1_[A-Za-z0-9_-]{43,}`, "fo1_{base64url:43}", "fo1_{alnum:20}"),
		token("heroku-token", `HRKU-[A-Za-z0-9_-]{60,}`, "HRKU-AA{base64url:58}", "HRKU-AA{alnum:20}"),
		named("heroku-key", "heroku", uuid, uuidShape),
		token("vercel-token", `\b(?:vcp|vci|vca|vcr|vck)_[A-Za-z0-9]{24,}`, "vcp_{alnum:56}", "vcp_{alnum:12}", "avcp_{alnum:56}"),
		token("vercel-blob-token", `vercel_blob_rw_[A-Za-z0-9_]{30,}`, "vercel_blob_rw_{alnum:16}_{alnum:32}", "vercel_blob_rw_token"),
		token("netlify-token", `\b(?:nfp|nfc|nfo|nfb|nfu)_[A-Za-z0-9_]{36,}`, "nfp_{alnum:36}", "nfp_{alnum:20}"),
		named("netlify-key", "netlify", `[A-Za-z0-9=_-]{40,46}`, "{base64url:43}"),
		token("render-key", `\brnd_[A-Za-z0-9]{28,}`, "rnd_{alnum:28}", "rnd_{alnum:12}"),
		token("scalingo-token", `\btk-us-[A-Za-z0-9_-]{48,}`, "tk-us-{base64url:48}", "tk-us-{alnum:30}"),

		token("cloudflare-token", `\b(?:cfk|cfut|cfat)_[A-Za-z0-9_-]{40,}`, "cfut_{alnum:48}", "cfut_{alnum:20}"),
		token("cloudflare-origin-key", `\bv1\.0-[a-f0-9]{24}-[a-f0-9]{146,}`, "v1.0-{hex:24}-{hex:146}", "v1.0-{hex:24}-{hex:40}"),
		named("cloudflare-key", "cloudflare", base64url40, "{base64url:40}"),
		named("cloudflare-global-key", "cloudflare", `[A-Fa-f0-9]{37}`, "{hex:37}"),
		named("fastly-key", "fastly", `[A-Za-z0-9=_-]{32}`, "{base64url:32}"),
		token("alibaba-access-key-id", `\bLTAI[A-Za-z0-9]{12,}`, "LTAI{alnum:20}", "LTAI{alnum:8}"),
		named("alibaba-secret-key", "alibaba", `[A-Za-z0-9]{30}`, "{alnum:30}"),
		token("tencent-secret-id", `\bAKID[A-Za-z0-9]{32,}`, "AKID{alnum:32}", "AKID{alnum:20}"),
		token("yandex-token", `\bt1\.[A-Za-z0-9_-]+={0,2}\.[A-Za-z0-9_-]{86,}={0,2}`, "t1.{base64url:60}.{base64url:86}", "t1.{alnum:10}.{alnum:10}"),
		token("yandex-key", `\bAQVN[A-Za-z0-9_-]{35,}`, "AQVN{base64url:36}", "AQVN{alnum:20}"),
		named("yandex-secret-key", "yandex", `YC[A-Za-z0-9_-]{38}`, "YC{base64url:38}"),

		token("vault-token", `\b(?:hvs|hvb|hvr)\.[A-Za-z0-9_-]{24,}`, "hvs.{base64url:95}", "hvs.{alnum:12}"),
		named("vault-old-token", "vault", `s\.[A-Za-z0-9]{24}`, "s.{alnum:24}"),
		token("terraform-token", `[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9=_-]{60,}`, "{alnum:14}.atlasv1.{base64url:67}", "{alnum:14}.atlasv1.{alnum:20}"),
		token("pulumi-token", `\bpul-[a-f0-9]{40,}`, "pul-{hex:40}", "pul-{hex:20}"),
		token("infracost-key", `\bico-[A-Za-z0-9]{32,}`, "ico-{alnum:32}", "ico-{alnum:20}", "pico-{alnum:32}"),
		token("doppler-token", `\bdp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,}`, "dp.pt.{alnum:43}", "dp.pt.{alnum:20}"),
		token("prefect-key", `\b(?:pnu|pnb)_[A-Za-z0-9]{36,}`, "pnu_{alnum:36}", "pnu_{alnum:20}"),
		token("tailscale-key", `tskey-(?:auth|api|client|scim|webhook)-[A-Za-z0-9-]{20,}`, "tskey-auth-{alnum:17}-{alnum:32}", "tskey-auth-name"),
		token("defined-networking-token", `dnkey-[A-Za-z0-9=_-]{60,}`, "dnkey-{base64url:26}-{base64url:52}", "dnkey-{alnum:20}"),
		token("openshift-token", `sha256~[A-Za-z0-9_-]{43,}`, "sha256~{base64url:43}", "sha256~{alnum:20}"),

		token("databricks-token", `\b(?:dapi|dose)[a-f0-9-]{32,}`, "dapi{hex:32}-2", "dapi{hex:31}", "xdapi{hex:32}"),
		token("planetscale-token", `pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_=.-]{32,}`, "pscale_tkn_{base64url:43}", "pscale_tkn_{alnum:12}"),
		token("supabase-token", `\bsbp_(?:v0_|oauth_)?[a-f0-9]{40,}`, "sbp_{hex:40}", "sbp_{hex:20}"),
		token("supabase-secret-key", `\bsb_secret_[A-Za-z0-9_-]{20,}`, "sb_secret_{base64url:31}", "sb_secret_name"),
		token("neon-key", `\bnapi_[a-z0-9]{60,}`, "napi_{lower:30}{digit:34}", "napi_{lower:20}"),
		token("mongodb-atlas-secret", `mdb_sa_sk_[A-Za-z0-9_-]{40,}`, "mdb_sa_sk_{base64url:40}", "mdb_sa_sk_{alnum:12}"),
		// With a letter that no digest has.
		token("clickhouse-key", `\b4b1d[0-9a-f]*[A-Zg-z][A-Za-z0-9]{20,}`, "4b1d{hex:6}Q{alnum:31}", "4b1d{alnum:12}", "4b1d{hex:60}"),
		named("confluent-key", "confluent", `[A-Za-z0-9]{16}`, "{alnum:16}"),
		named("confluent-secret", "confluent", alnum64, "{alnum:64}"),
	}
}
