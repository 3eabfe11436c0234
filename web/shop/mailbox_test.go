package shop

import (
	"slices"
	"testing"
)

func TestAMailsLinksAreTheShopsOwn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]part{
		"":                   {{"", false}},
		"no link":            {{"no link", false}},
		"http://other.test/": {{"http://other.test/", false}},
		"See: http://shop.test/orders/EM-1?t=x\nhttp://shop.test/": {
			{"See: ", false}, {"http://shop.test/orders/EM-1?t=x", true}, {"\n", false}, {"http://shop.test/", true}, {"", false},
		},
		"http://shop.test.evil.test/": {{"http://shop.test.evil.test/", false}},
	} {
		if got := linked(text, "http://shop.test"); !slices.Equal(got, want) {
			t.Errorf("%q becomes %v, want %v", text, got, want)
		}
	}
}
