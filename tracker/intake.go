package tracker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"aesop/internal/document"
)

// IntakeOptions say what a wave may take.
type IntakeOptions struct {
	Now         time.Time // leases are judged by it
	Max         int       // of items; 0: no limit
	MaxAttempts int       // an item with as many attempts is exhausted; 0: no limit
	// Order names the only items to consider, in this order; nil: all, by priority and age. With it, Max does not count.
	Order []string
	// Exclude says which items are not to be taken by this wave, for reasons of the caller's; nil: none. They occupy their paths, and
	// others can depend on them, all the same.
	Exclude func(id string) bool
	// Unavailable says why nothing of an item's repository can be worked on, or is empty; nil: nothing is in the way.
	Unavailable func(item Item) string
	// Spent says that the item has used up what may be spent on it, and how much that is, or is empty; nil: nothing is limited.
	Spent func(item Item) string
	// Unnameable says that an item's id or repository is a secret, or holds one; nil: none is.
	Unnameable func(item Item) bool
	// InBase says whether the shipped commit of an item is in the base of its repository. An error counts as no. Nil: nothing is in
	// the base.
	InBase func(item Item) (bool, error)
}

// Selection is what a wave would take.
type Selection struct {
	Items   []Item
	Skipped []Skip
	Open    int // items of the backlog that are not done
}

// Intake selects the items of a wave, by priority, then age, then place in the file. No two selected items own overlapping
// paths, and none overlaps a claim or shipped work outside the base. What was left out is in Skipped with the reason, except
// items that are done, failed or blocked, and items that only found the wave full. It is pure.
func Intake(backlog Backlog, options IntakeOptions) Selection {
	in := intake{IntakeOptions: options, byID: make(map[string]Item, len(backlog.Items)), known: map[string]baseAnswer{}}
	for _, item := range backlog.Items {
		in.byID[item.ID] = item
		if item.Status != Done {
			in.Open++
		}
		in.occupy(item)
	}
	for _, item := range in.order(backlog.Items) {
		in.consider(item)
	}
	return in.Selection
}

// order are the items to consider.
func (in *intake) order(items []Item) []Item {
	if in.Order == nil {
		return inOrder(items)
	}
	in.Max = 0
	named := make([]Item, 0, len(in.Order))
	for _, id := range in.Order {
		if item, ok := in.byID[id]; ok {
			named = append(named, item)
		}
	}
	return named
}

// inOrder sorts stably, so that file order decides last.
func inOrder(items []Item) []Item {
	return slices.SortedStableFunc(slices.Values(items), func(a, b Item) int {
		if c := strings.Compare(cmp.Or(a.Priority, "P3"), cmp.Or(b.Priority, "P3")); c != 0 {
			return c
		}
		if a.CreatedAt.IsZero() != b.CreatedAt.IsZero() {
			if a.CreatedAt.IsZero() {
				return 1
			}
			return -1
		}
		return a.CreatedAt.Compare(b.CreatedAt)
	})
}

type intake struct {
	IntakeOptions
	Selection
	byID  map[string]Item
	taken []occupied
	known map[string]baseAnswer
}

// occupied is a set of paths that is not free.
type occupied struct {
	item   Item
	owned  Ownership
	reason Reason
}

type baseAnswer struct {
	yes bool
	err error
}

func (in *intake) inBase(item Item) (bool, error) {
	answer, asked := in.known[item.ID]
	if !asked {
		if in.InBase != nil {
			answer.yes, answer.err = in.InBase(item)
		}
		in.known[item.ID] = answer
	}
	return answer.yes && answer.err == nil, answer.err
}

// occupy notes the paths of an item that somebody works on or whose work is shipped but not in the base.
func (in *intake) occupy(item Item) {
	if in.busy(item) != "" {
		in.take(item, OverlapsClaimed)
	}
	if item.Shipped != nil {
		if merged, _ := in.inBase(item); !merged {
			in.take(item, OverlapsUnmerged)
		}
	}
}

func (in *intake) take(item Item, reason Reason) {
	owned, err := ParseOwnership(item.OwnsFiles)
	if err != nil {
		owned, _ = ParseOwnership([]string{"**"}) // whatever it holds, it cannot be told apart from anything
	}
	in.taken = append(in.taken, occupied{item: item, owned: owned, reason: reason})
}

// busy says in words who works on the item, or is empty. A person may set an item to in_progress without a claim.
func (in *intake) busy(item Item) string {
	switch {
	case item.Claim.Live(in.Now):
		return fmt.Sprintf("by %s until %s", cmp.Or(item.Claim.Owner, "somebody"), item.Claim.LeaseUntil.UTC().Format(time.RFC3339))
	case item.Status == InProgress && item.Claim == nil:
		return "in_progress without a claim; set it to todo to give it to a wave"
	}
	return ""
}

func (in *intake) consider(item Item) {
	if item.Status == Done || item.Status == Failed || item.Status == Blocked || in.Exclude != nil && in.Exclude(item.ID) {
		return
	}
	if defect := item.Defect(); defect != nil && in.busy(item) == "" {
		in.Skipped = append(in.Skipped, *defect)
		return
	}
	reason, detail := in.obstacle(item)
	if reason != "" {
		in.Skipped = append(in.Skipped, Skip{ID: item.ID, Slug: item.Slug, Reason: reason, Detail: detail})
		return
	}
	if in.Max > 0 && len(in.Items) >= in.Max {
		return
	}
	in.Items = append(in.Items, item)
	in.take(item, OverlapsSelected)
}

// obstacle is the first reason against an item without defects, or empty.
func (in *intake) obstacle(item Item) (Reason, string) {
	if who := in.busy(item); who != "" {
		return Claimed, who
	}
	if in.Unnameable != nil && in.Unnameable(item) {
		return SecretInName, "its id or its repository's name is taken for a secret, which no report or ref could show; rename it"
	}
	if in.Unavailable != nil {
		if why := in.Unavailable(item); why != "" {
			return RepositoryFailed, why
		}
	}
	if in.Spent != nil {
		if why := in.Spent(item); why != "" {
			return Ceiling, why
		}
	}
	if in.MaxAttempts > 0 && item.Attempts >= in.MaxAttempts {
		return AttemptsExhausted, fmt.Sprintf("%d of %d attempts are used; reopen the item to try again", item.Attempts, in.MaxAttempts)
	}
	if in.dependsOn(item, item.ID, map[string]bool{}) {
		return BlockedBy, fmt.Sprintf("%s depends on itself, through dependsOn", item.ID)
	}
	for _, id := range item.DependsOn {
		if why := in.unmet(id); why != "" {
			return BlockedBy, why
		}
	}
	owned, _ := ParseOwnership(item.OwnsFiles) // sound, or the item would have a defect
	for _, other := range in.taken {
		if other.item.ID == item.ID || other.item.Repository() != item.Repository() {
			continue
		}
		if pair, overlap := owned.Overlaps(other.owned); overlap {
			detail := fmt.Sprintf("%s of %s", pair, other.item.ID)
			if other.reason == OverlapsUnmerged {
				detail += mergeFirst(*other.item.Shipped)
			}
			return other.reason, detail
		}
	}
	return "", ""
}

// mergeFirst is what to do about shipped work outside the base.
func mergeFirst(s Shipped) string {
	if s.Branch == "" {
		return ""
	}
	return "; merge " + s.Branch
}

// dependsOn says whether item needs the item id, also through others. seen keeps circles from being walked twice.
func (in *intake) dependsOn(item Item, id string, seen map[string]bool) bool {
	for _, next := range item.DependsOn {
		if next == id {
			return true
		}
		if !seen[next] {
			seen[next] = true
			if in.dependsOn(in.byID[next], id, seen) {
				return true
			}
		}
	}
	return false
}

// unmet says why a dependency does not hold, or is empty. Done without a record of shipping is a person's word, and holds.
func (in *intake) unmet(id string) string {
	dependency, exists := in.byID[id]
	switch {
	case !exists:
		ids := make([]string, 0, len(in.byID))
		for known := range in.byID {
			ids = append(ids, known)
		}
		slices.Sort(ids)
		if near := document.Nearest(id, ids); near != "" {
			return fmt.Sprintf("there is no item %s; did you mean %s?", id, near)
		}
		return fmt.Sprintf("there is no item %s", id)
	case dependency.Shipped != nil:
		merged, err := in.inBase(dependency)
		if err != nil {
			return fmt.Sprintf("whether %s is in the base is not known: %v", id, err)
		}
		if !merged {
			return fmt.Sprintf("%s is not in the base", id) + mergeFirst(*dependency.Shipped)
		}
		return ""
	case dependency.Status != Done:
		return fmt.Sprintf("%s is %s", id, cmp.Or(dependency.Status, Todo))
	}
	return ""
}
