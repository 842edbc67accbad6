package review_test

import (
	"context"
	"fmt"
	"log"

	"aesop/driver"
	"aesop/driver/script"
	"aesop/wave"
	"aesop/wave/review"
)

// In a wave the engine makes the Change, and Dispatch gives the driver a checkout of the commit.
func Example() {
	played, err := script.Parse("judge.json", []byte(`{"greet": [{"say": "{\"verdict\": \"reject\", \"evidence\": [\"greeting.txt:1 says bye\"], \"confidence\": 0.9, \"summary\": \"It does not greet.\"}"}]}`))
	if err != nil {
		log.Fatal(err)
	}
	reviewer, err := review.New(played, review.Options{})
	if err != nil {
		log.Fatal(err)
	}
	judgement, err := reviewer.Review(context.Background(), wave.Change{
		Dispatch: func(ctx context.Context, d driver.Driver, t driver.Task) (driver.Result, error) {
			t.Slug = "greet"
			return d.Run(ctx, t, nil)
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(judgement.OK)
	fmt.Println(judgement.Reason)
	// Output:
	// false
	// It does not greet. (confidence 0.9)
	// - greeting.txt:1 says bye
}
