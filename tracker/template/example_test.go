package template_test

import (
	"fmt"
	"log"

	"aesop/tracker"
	"aesop/tracker/template"
)

func Example() {
	preset, err := template.Find("service")
	if err != nil {
		log.Fatal(err)
	}
	text, err := preset.Instantiate(template.Values{ProjectName: "shop", BaseDir: "services/shop"})
	if err != nil {
		log.Fatal(err)
	}
	backlog, err := tracker.Parse("tracker.json", text)
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range tracker.Intake(backlog, tracker.IntakeOptions{}).Items {
		fmt.Println(item.Slug, item.OwnsFiles[0])
	}
	// Output: shop-skeleton services/shop/go.mod
}
