package web_test

import (
	"context"
	"time"

	"example.com/eenmaal/domain"
)

// keysFake is what the desk knows of keys. A test fills it.
type keysFake struct {
	keys       []domain.KeyRecord
	search     domain.KeySearch // the last one
	cursor     domain.Cursor    // its
	older      string
	timeline   domain.KeyTimeline
	mismatches []domain.KeyMismatch
	listing    domain.Listing // the last one of mismatches
	counts     []domain.KeyCount
	since      time.Time // for which they were asked last
}

func (f *keysFake) Keys(_ context.Context, search domain.KeySearch, cursor domain.Cursor) (domain.Part[domain.KeyRecord], error) {
	f.search, f.cursor = search, cursor
	return domain.Part[domain.KeyRecord]{Items: f.keys, Older: f.older}, nil
}

func (f *keysFake) KeyRecord(_ context.Context, s domain.Scope) (domain.KeyRecord, error) {
	for _, k := range f.keys {
		if k.Scope.Key.ID() == s.Key.ID() && k.Scope.Consumer == s.Consumer && k.Scope.Endpoint == s.Endpoint {
			return k, nil
		}
	}
	return domain.KeyRecord{}, domain.Errorf(domain.NotFound, "key_not_found", "none")
}

func (f *keysFake) KeyTimeline(context.Context, domain.Scope) (domain.KeyTimeline, error) {
	return f.timeline, nil
}

func (f *keysFake) MismatchesOf(context.Context, domain.Scope) ([]domain.KeyMismatch, error) {
	return f.mismatches, nil
}

func (f *keysFake) ListMismatches(_ context.Context, l domain.Listing) (part domain.Part[domain.KeyMismatch], err error) {
	f.listing = l
	for _, m := range f.mismatches {
		if m.ExplainedAt.IsZero() == (l.State == "") {
			part.Items = append(part.Items, m)
		}
	}
	if len(part.Items) == l.Limit {
		part.Older, part.Newer = "5_3", "7_9"
	}
	return part, nil
}

func (f *keysFake) Mismatch(_ context.Context, id int64) (domain.KeyMismatch, error) {
	for _, m := range f.mismatches {
		if m.ID == id {
			return m, nil
		}
	}
	return domain.KeyMismatch{}, domain.Errorf(domain.NotFound, "mismatch_not_found", "none")
}

func (f *keysFake) ExplainMismatch(_ context.Context, id int64, by, note string) error {
	for i, m := range f.mismatches {
		if m.ID == id && m.ExplainedAt.IsZero() {
			f.mismatches[i].ExplainedBy, f.mismatches[i].Note, f.mismatches[i].ExplainedAt = by, note, time.Now()
		}
	}
	return nil
}

func (f *keysFake) KeyCounts(_ context.Context, since time.Time) ([]domain.KeyCount, error) {
	f.since = since
	return f.counts, nil
}
