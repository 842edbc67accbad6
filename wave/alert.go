package wave

import (
	"context"
	"slices"
	"time"

	"go.uber.org/zap"

	"aesop/cost"
	"aesop/wave/journal"
)

// alert tells people how near the limits are, after something was spent: of what was spent, and of what the wave's open items will
// bring it to. What could not be told is in the report, and is tried again the next time; it stops nothing.
func (r *run) alert() {
	if len(r.s.config.Budget.Limits) == 0 {
		return
	}
	r.alerting.Lock()
	defer r.alerting.Unlock()
	ctx, cancel := r.bookkeeping()
	defer cancel()
	gauges, err := r.gauges(ctx)
	if err != nil {
		r.s.config.Logger.Error("how near the limits are cannot be read", zap.String("wave", r.id), zap.Error(err))
		return
	}
	var event journal.Alerted
	for _, g := range gauges {
		results, err := r.s.alerts.Check(ctx, g.Gauge)
		if err != nil {
			r.s.config.Logger.Error("an alert was not given, or not marked", zap.String("wave", r.id), zap.Error(err))
		}
		for _, a := range results {
			event.Alerts = append(event.Alerts, journal.AlertState{Limit: g.name, Item: g.item, Kind: string(a.Kind), Threshold: a.Threshold, State: string(a.State), Error: r.s.redact(a.Error)})
		}
	}
	if event.Alerts = r.news(event.Alerts); len(event.Alerts) == 0 {
		return
	}
	if err := r.record(event); err != nil {
		r.s.config.Logger.Error("alerts were not written down", zap.String("wave", r.id), zap.Error(err))
	}
}

// news are the alerts that the wave does not have yet, or has as failed.
func (r *run) news(all []journal.AlertState) []journal.AlertState {
	known := r.journal.Wave().Alerts
	return slices.DeleteFunc(all, func(a journal.AlertState) bool {
		return slices.ContainsFunc(known, func(k journal.AlertState) bool { return k.Same(a) && (k.State != string(cost.AlertFailed) || k == a) })
	})
}

// likeWindow is how old work may be that open items are judged by.
const likeWindow = 30 * 24 * time.Hour

// gauge is how near a limit is, of one item where each has its own.
type gauge struct {
	cost.Gauge
	name, item string
}

// gauges are all limits of the wave and of its items, at one moment.
func (r *run) gauges(ctx context.Context) ([]gauge, error) {
	var all []gauge
	err := r.s.judged(ctx, func(judge cost.Judge, book *cost.Book) {
		all = nil
		projector := cost.Projector{Book: book, Now: judge.Now}
		aim := cost.Aim{Open: r.openItems(), Like: &cost.Query{Window: cost.Last(judge.Now, likeWindow), Backend: r.s.config.Driver.Info().Name}}
		for _, c := range r.ceilings(judge) {
			if c.Subject.Item == "" {
				c.Subject.Wave = r.id
			}
			g := gauge{c.Gauge(projector, r.id, aim), c.Limit.Name(), c.Subject.Item}
			g.Limit = r.s.redact(g.Limit) // it goes to the sink, and names the mark
			all = append(all, g)
		}
	})
	return all, err
}

// openItems are the items that an agent is needed for, or at work on.
func (r *run) openItems() []string {
	open, wave := []string{}, r.journal.Wave()
	for _, i := range wave.Select(func(i *journal.ItemState) bool { return next(i, wave.Plan) == stepDispatch }) {
		open = append(open, i.ID)
	}
	return open
}
