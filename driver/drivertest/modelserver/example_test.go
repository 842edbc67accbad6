package modelserver_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"aesop/cost"
	"aesop/driver/drivertest/modelserver"
)

// A real program would send the request; the test compares its report with what was served.
func Example() {
	server := modelserver.New()
	defer server.Close()
	talk := server.Talk("add-greeting", modelserver.Step{Text: "Done.", Usage: cost.Usage{Input: 900, Output: 40, Metered: true}})

	response, err := http.Post(server.URL()+"/v1/messages", "application/json",
		strings.NewReader(`{"model": "m", "messages": [{"role": "user", "content": "Work on add-greeting."}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	fmt.Println(strings.Contains(string(text), "Done."), len(talk.Requests()), talk.Served()[0].Output)
	// Output: true 1 40
}
