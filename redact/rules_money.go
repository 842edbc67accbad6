package redact

// moneyRules are those of payments, banks, exchanges and shops.
func moneyRules() []Rule {
	return []Rule{
		token("stripe-key", `\b(?:sk|rk)_(?:test|live|prod|org_test|org_live)_[A-Za-z0-9]{10,}`, "sk_live_{alnum:24}", "sk_live_{alnum:9}", "task_live_{alnum:24}"),
		token("stripe-webhook-secret", `\bwhsec_[A-Za-z0-9+/]{24,}={0,2}`, "whsec_{alnum:32}", "whsec_{alnum:12}"),
		// No A after it: base64 of zero bytes.
		token("square-token", `\bEAAA[B-Zb-z0-9_-][A-Za-z0-9_-]{21,}`, "EAAAE{base64url:59}", "EAAAE{alnum:12}"),
		token("square-key", `(?:sq0atp|sq0csp)-[A-Za-z0-9_-]{22,}`, "sq0csp-{base64url:43}", "sq0csp-{alnum:12}"),
		token("paypal-token", `access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32,}`, "access_token$production${lower:16}${hex:32}", "access_token$production$"),
		token("plaid-token", `access-(?:sandbox|development|production)-[A-Fa-f0-9-]{36,}`, "access-sandbox-"+uuidShape, "access-sandbox-{hex:8}"),
		named("plaid-client-id", "plaid", `[A-Za-z0-9]{24}`, "{alnum:24}"),
		named("plaid-secret", "plaid", `[A-Za-z0-9]{30}`, "{alnum:30}"),
		token("flutterwave-key", `(?:FLWSECK|FLWPUBK)(?:_TEST)?-[A-Za-z0-9-]{12,}`, "FLWSECK_TEST-{hex:32}-X", "FLWSECK_TEST-{hex:8}"),
		token("duffel-token", `duffel_(?:test|live)_[A-Za-z0-9_=-]{43,}`, "duffel_live_{base64url:43}", "duffel_live_{alnum:20}"),
		named("gocardless-token", "gocardless", `[Ll][Ii][Vv][Ee]_[A-Za-z0-9=_-]{40}`, "live_{base64url:40}"),
		named("finicity-token", "finicity", hex32, "{hex:32}"),
		named("finicity-secret", "finicity", `[A-Za-z0-9]{20}`, "{alnum:20}"),
		named("finnhub-token", "finnhub", `[A-Za-z0-9]{20}`, "{alnum:20}"),
		named("freshbooks-token", "freshbooks", alnum64, "{alnum:64}"),
		named("coinbase-token", "coinbase", `[A-Za-z0-9_-]{64}`, "{base64url:64}"),
		named("kraken-token", "kraken", `[A-Za-z0-9/=_+-]{80,90}`, "{base64:86}=="),
		named("kucoin-token", "kucoin", `[A-Fa-f0-9]{24}`, "{hex:24}"),
		named("kucoin-secret", "kucoin", uuid, uuidShape),
		named("bittrex-key", "bittrex", alnum32, "{alnum:32}"),

		token("shopify-token", `(?:shpat|shpca|shppa|shpss|shpua)_[A-Fa-f0-9]{32,}`, "shpat_{hex:32}", "shpat_{hex:20}"),
		token("easypost-key", `\b(?:EZAK|EZTK)[A-Za-z0-9]{54,}`, "EZAK{alnum:54}", "EZAK{alnum:20}"),
		token("shippo-token", `shippo_(?:live|test)_[A-Fa-f0-9]{40,}`, "shippo_live_{hex:40}", "shippo_live_{hex:20}"),
		named("etsy-token", "etsy", `[A-Za-z0-9]{24}`, "{alnum:24}"),
		named("squarespace-token", "squarespace", uuid, uuidShape),
		named("lob-key", "lob", `(?:live|test)_[A-Fa-f0-9]{35}`, "live_{hex:35}"),
		named("lob-public-key", "lob", `(?:live|test)_pub_[A-Fa-f0-9]{31}`, "test_pub_{hex:31}"),
	}
}
