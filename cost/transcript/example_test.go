package transcript_test

import (
	"context"
	"encoding/json"
	"fmt"

	"aesop/cost"
	"aesop/cost/transcript"
)

// Two ingests: the second has nothing to do. Usually the Config is transcript.Find(os.Getenv), and calls go to a cost.Ledger.
func ExampleIngest() {
	config := transcript.Config{Codex: []string{"testdata/codex"}}
	models := map[string]int64{}
	take := func(calls []cost.Call) error {
		for _, c := range calls {
			models[c.Usage.Model] += c.Usage.Tokens()
		}
		return nil
	}
	state, summary, err := transcript.Ingest(context.Background(), config, transcript.State{}, take)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(summary.Calls, "calls:", models)
	fmt.Println("problems:", summary.Problems)

	document, _ := json.Marshal(state) // is kept until the next time
	_ = json.Unmarshal(document, &state)
	_, summary, _ = transcript.Ingest(context.Background(), config, state, take)
	fmt.Println("then", summary.Calls, "calls in", summary.Bytes, "bytes")

	// Output:
	// 9 calls: map[gpt-5.3-codex:6010 gpt-6.2-sol:46228]
	// problems: map[corrupt:1 invalid:2 reset:1]
	// then 0 calls in 0 bytes
}
