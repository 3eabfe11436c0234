package domain_test

import (
	"testing"

	"example.com/eenmaal/domain"
)

func TestEveryArticleHasANameInEveryLanguage(t *testing.T) {
	t.Parallel()
	for _, p := range domain.DemoCatalogue() {
		en, nl := domain.ArticleName("en", p.SKU, ""), domain.ArticleName("nl", p.SKU, "")
		if p.Name == "" || en != p.Name || nl == "" || nl == en {
			t.Errorf("%s: %q in the catalogue, %q in English, %q in Dutch", p.SKU, p.Name, en, nl)
		}
	}
	if got := domain.ArticleName("nl", "hat", "Hat"); got != "Hat" {
		t.Errorf("an article without names is called %q", got)
	}
}
