package admin

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/ui"
)

func (d *Desk) mountDuplicates(r gin.IRouter) { r.GET("/duplicates", d.handle(d.duplicates)) }

// aFewPercent is where a duplicate rate begins to ask for attention.
const aFewPercent = 0.05

// window is a stretch of time that a person may look at. Counts are kept by the hour, so it begins with one.
type window struct {
	choice
	long time.Duration
}

// windows are the choices; the second is shown when none is chosen.
var windows = []window{
	{choice{"hour", tLastHour}, time.Hour},
	{choice{"day", tLastDay}, 24 * time.Hour},
	{choice{"week", tLastWeek}, 7 * 24 * time.Hour},
	{choice{"quarter", tLastQuarter}, 90 * 24 * time.Hour},
}

// duplicateRow counts the requests of one endpoint, or of one hour.
type duplicateRow struct {
	Endpoint   string
	Hour       time.Time
	Requests   int64
	Replays    int64 // answered with the answer of an earlier request, at once or after a wait
	InProgress int64
	Mismatches int64
}

// rate is the share of requests that repeat an earlier one.
func (r duplicateRow) rate() float64 {
	if r.Requests == 0 {
		return 0
	}
	return float64(r.Replays+r.InProgress) / float64(r.Requests)
}

func (r *duplicateRow) add(c domain.KeyCount) {
	r.Requests += c.Requests
	switch c.Outcome {
	case domain.KeyReplayed, domain.KeyWaited:
		r.Replays += c.Requests
	case domain.KeyInProgress:
		r.InProgress += c.Requests
	case domain.KeyMismatched:
		r.Mismatches += c.Requests
	}
}

// duplicatesView is the page: endpoints with most requests first, and hour by hour.
type duplicatesView struct {
	Chosen string
	All    duplicateRow
	Rows   []duplicateRow
	Hours  []duplicateRow // none for a single hour
}

func (d *Desk) duplicates(c *gin.Context) error {
	chosen := windows[1]
	for _, w := range windows {
		if w.Value == c.Query("window") {
			chosen = w
		}
	}
	now := d.Site.Now()
	counts, err := d.cfg.Reader.KeyCounts(c.Request.Context(), now.Add(-chosen.long))
	if err != nil {
		return err
	}
	v := duplicatesView{Chosen: chosen.Value, Rows: byEndpoint(counts)}
	for _, count := range counts {
		v.All.add(count)
	}
	if chosen.long > time.Hour && chosen.long <= 7*24*time.Hour {
		v.Hours = byHour(counts, now, chosen.long)
	}
	return d.Site.Render(c, http.StatusOK, duplicatesPage(d.page(c, "/admin/duplicates", tDuplicates), v))
}

func byEndpoint(counts []domain.KeyCount) (rows []duplicateRow) {
	for _, count := range counts {
		at := slices.IndexFunc(rows, func(r duplicateRow) bool { return r.Endpoint == count.Endpoint })
		if at < 0 {
			at, rows = len(rows), append(rows, duplicateRow{Endpoint: count.Endpoint})
		}
		rows[at].add(count)
	}
	slices.SortFunc(rows, func(a, b duplicateRow) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Endpoint, b.Endpoint))
	})
	return rows
}

// byHour gives every hour of the window its row, those without a request too.
func byHour(counts []domain.KeyCount, now time.Time, long time.Duration) (rows []duplicateRow) {
	first := now.Add(-long).Truncate(time.Hour)
	for at := first; !at.After(now); at = at.Add(time.Hour) {
		rows = append(rows, duplicateRow{Hour: at})
	}
	for _, count := range counts {
		if i := int(count.Hour.Sub(first) / time.Hour); i >= 0 && i < len(rows) {
			rows[i].add(count)
		}
	}
	return rows
}

// highest is the hour with the largest share of duplicates.
func highest(rows []duplicateRow) (top float64) {
	for _, r := range rows {
		top = max(top, r.rate())
	}
	return top
}

// percent writes a share as people read it.
func percent(p Page, share float64) string {
	text := fmt.Sprintf("%.1f", 100*share)
	if p.Lang == ui.Dutch {
		return strings.Replace(text, ".", ",", 1) + "%"
	}
	return text + "%"
}

// Bars are drawn in an area of 100 by 100. The scale is such that the line of a few percent and the
// longest bar are both seen.
func scaleOf(top float64) float64 { return 100 / max(top, 2*aFewPercent) }

func units(n float64) string { return fmt.Sprintf("%.2f", n) }

// columns places the bars of a row of hours side by side.
type column struct{ X, Y, Width, Height string }

func columnsOf(rows []duplicateRow) (list []column) {
	scale, width := scaleOf(highest(rows)), 100/float64(len(rows))
	for i, r := range rows {
		high := r.rate() * scale
		list = append(list, column{units(float64(i)*width + width/10), units(100 - high), units(width * 0.8), units(high)})
	}
	return list
}
