package redact

// modelRules are those of models and what agents use beside them.
func modelRules() []Rule {
	return []Rule{
		token("anthropic-key", `sk-ant-[A-Za-z0-9_-]{40,}`, "sk-ant-api03-{base64url:93}AA", "sk-ant-{alnum:20}"),
		token("openai-key", `\bsk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{40,}`, "sk-proj-{base64url:74}T3BlbkFJ{base64url:74}", "sk-proj-{alnum:20}", "task-proj-{alnum:40}"),
		// OpenAI's old keys, and those of many who took over its interface.
		token("openai-style-key", `\bsk-[A-Za-z0-9]{20,}`, "sk-{alnum:20}T3BlbkFJ{alnum:20}", "sk-{alnum:19}", "task-{alnum:20}", "risk-{lower:24}"),
		token("openrouter-key", `sk-or-v1-[a-f0-9]{64,}`, "sk-or-v1-{hex:64}", "sk-or-v1-{hex:20}"),
		token("langfuse-key", `sk-lf-[a-f0-9-]{36,}`, "sk-lf-"+uuidShape, "sk-lf-{hex:12}"),
		token("huggingface-token", `\b(?:hf|api_org)_[A-Za-z0-9]{34,}`, "hf_{alpha:34}", "hf_{alpha:20}", "elhf_{alpha:34}"),
		token("xai-key", `\bxai-[A-Za-z0-9]{60,}`, "xai-{alnum:80}", "xai-{alnum:20}"),
		token("groq-key", `\bgsk_[A-Za-z0-9]{40,}`, "gsk_{alnum:52}", "gsk_{alnum:20}"),
		token("perplexity-key", `pplx-[A-Za-z0-9]{40,}`, "pplx-{alnum:48}", "pplx-{alnum:20}"),
		token("replicate-token", `\br8_[A-Za-z0-9]{37,}`, "r8_{alnum:37}", "r8_{alnum:20}"),
		named("cohere-key", "cohere", `[A-Za-z0-9]{40}`, "{alnum:40}"),
		named("cohere-key-2", "co_api_key", `[A-Za-z0-9]{40}`, "{alnum:40}"),
		named("mistral-key", "mistral", alnum32, "{alnum:32}"),
		token("fireworks-key", `\bfw_[A-Za-z0-9]{22,}`, "fw_{alnum:24}", "fw_{alnum:12}"),
		token("together-key", `tgp_v1_[A-Za-z0-9_-]{40,}`, "tgp_v1_{base64url:43}", "tgp_v1_{alnum:12}"),
		token("cerebras-key", `\bcsk-[a-z0-9]{40,}`, "csk-{lower:24}{digit:24}", "csk-{lower:20}"),
		token("nvidia-key", `nvapi-[A-Za-z0-9_-]{60,}`, "nvapi-{base64url:64}", "nvapi-{alnum:20}"),
		token("elevenlabs-key", `\bsk_[a-f0-9]{48,}`, "sk_{hex:48}", "sk_{hex:32}", "task_{hex:48}"),
		token("langsmith-key", `lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10,}`, "lsv2_pt_{hex:32}_{hex:10}", "lsv2_pt_{hex:20}"),
		token("pinecone-key", `pcsk_[A-Za-z0-9_]{50,}`, "pcsk_{alnum:6}_{alnum:63}", "pcsk_{alnum:20}"),
		token("tavily-key", `\btvly-[A-Za-z0-9-]{28,}`, "tvly-{alnum:32}", "tvly-{alnum:12}"),
		token("jina-key", `\bjina_[A-Za-z0-9_-]{50,}`, "jina_{alnum:60}", "jina_{alnum:20}"),
		token("e2b-key", `\be2b_[a-f0-9]{40,}`, "e2b_{hex:40}", "e2b_{hex:20}"),
		named("private-ai-key", "privateai", alnum32, "{alnum:32}"),
		named("private-ai-key-2", "private_ai", alnum32, "{alnum:32}"),
		named("private-ai-key-3", "private-ai", alnum32, "{alnum:32}"),

		// Of a signed one all three parts, of an encrypted one all five.
		token("jwt", `\beyJ[A-Za-z0-9_-]{14,}\.eyJ[A-Za-z0-9_.-]{14,}`, "eyJ{alnum:33}.eyJ{base64url:80}.{base64url:43}", "eyJ{alnum:33}"),
		token("jwe", `\beyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{16,}`,
			"eyJ{alnum:60}..{base64url:16}.{base64url:120}.{base64url:22}", "eyJ{alnum:60}.{alnum:20}.{alnum:20}"),
		token("jwt-base64", `\bZXlK[A-Za-z0-9/_+%=-]{50,}`, "ZXlKaGJHY2lPaU{alnum:120}", "ZXlK{alnum:20}"),
	}
}
