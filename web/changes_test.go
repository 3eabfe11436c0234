package web_test

import (
	"net/url"
	"strings"
	"testing"

	"example.com/eenmaal/domain"
)

func TestSoldOutNamesTheItemAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.post("/basket", url.Values{"sku": {"lamp"}, "quantity": {"3"}})
	attempt := b.review("/nl", "tok_ok")
	page := b.last
	b.products[4].Stock = 0
	b.pay()
	b.want(422, "/nl/checkout/"+attempt+"/pay", "sold-out", "order-rest")
	if !strings.Contains(b.last.body, "Lamp Avond is uitverkocht") || !strings.Contains(b.last.body, "<title>Fout: ") {
		t.Error("the item is not named")
	}
	b.wantEffects(0, 0, 0)
	path, form := b.last.form(t, "/checkout")
	b.post(path, form)
	b.want(200, "/nl/checkout/"+form.Get("attempt"), "line-mug")
	if b.last.has("line-lamp") || !strings.Contains(b.last.body, `value="Damrak 1"`) {
		t.Error("the rest is not kept")
	}
	b.products[4].Stock = 9 // the refusal stays the answer of its key
	b.last = page
	b.pay()
	b.want(422, "/nl/checkout/"+attempt+"/pay", "basket-changed") // by the button above
	b.pay()
	b.want(422, "/nl/checkout/"+attempt+"/pay", "sold-out")
	b.wantEffects(0, 0, 0)
}

func TestAnotherPriceIsAskedAbout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.review("", "tok_ok")
	b.products[0].Price = domain.EUR(2000)
	b.pay()
	b.want(422, "/checkout/", "price-changed", "pay")
	if !strings.Contains(b.last.body, "€41.95") || !strings.Contains(b.last.body, "Order and pay €44.95") {
		t.Error("old and new total are not shown")
	}
	b.wantEffects(0, 0, 0)
	b.pay()
	b.want(200, "/orders/EM-7K4Q-1M")
	b.wantEffects(1, 1, 1)
}

func TestAPriceThatChangesInTheMomentOfOrderingIsAskedAbout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.review("", "tok_ok")
	b.onPlace = func(f *fake) { f.products[0].Price = domain.EUR(2000) }
	b.pay()
	b.want(422, "/checkout/", "price-changed", "pay")
	b.wantEffects(1, 0, 0)
	b.pay()
	b.want(200, "/orders/EM-7K4Q-1M")
	b.wantEffects(1, 1, 1)
}

func TestABasketChangedInAnotherTabIsAskedAbout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.review("", "tok_ok")
	page := b.last
	b.post("/basket", url.Values{"sku": {"vase"}, "quantity": {"1"}})
	b.last = page
	b.pay()
	b.want(422, "/checkout/", "basket-changed", "use-new-basket", "pay")
	b.wantEffects(0, 0, 0)
	b.pay() // order what is shown after all
	b.want(200, "/orders/EM-7K4Q-1M")
	if b.get("/basket"); !b.last.has("basket-vase") {
		t.Error("the new basket was thrown away")
	}
}
