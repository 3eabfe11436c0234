package web_test

import (
	"strings"
	"testing"

	"example.com/eenmaal/domain"
)

// TestAnArticleWithoutTextsHasNoEmptyPlaces: a shop's own articles begin as rows of the catalogue, and
// nothing more is known of them than there.
func TestAnArticleWithoutTextsHasNoEmptyPlaces(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.products = append(b.products, domain.Product{SKU: "fork", Name: "Fork", Price: domain.EUR(500), Stock: 9})
	for sku, texts := range map[string]bool{"fork": false, "mug": true} {
		b.get("/p/" + sku)
		b.want(200, "/p/"+sku, "price", "add-to-basket")
		for _, place := range []string{"<dt>Details</dt>", `<p class="lead">`} {
			if strings.Contains(b.last.body, place) != texts {
				t.Errorf("%s has texts: %t, but %s is on its page: %t", sku, texts, place, !texts)
			}
		}
		if strings.Contains(b.last.body, "<p></p>") || strings.Contains(b.last.body, "<dd></dd>") {
			t.Errorf("%s has an empty place", sku)
		}
	}
}
