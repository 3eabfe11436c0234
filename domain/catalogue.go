package domain

// articleNames by SKU, in the languages of the shop. Pages and mails call an article by the same name.
var articleNames = map[string]struct{ en, nl string }{
	"mug":      {"Early Mug", "Mok Vroeg"},
	"teapot":   {"Patience Teapot", "Theepot Geduld"},
	"bowl":     {"Sharing Bowl", "Schaal Samen"},
	"vase":     {"Single Vase", "Vaas Enkel"},
	"lamp":     {"Evening Lamp", "Lamp Avond"},
	"notebook": {"Notebook Once", "Notitieboek Eens"},
	"candle":   {"Quiet Candle", "Kaars Stil"},
	"plate":    {"Daily Plate", "Bord Dagelijks"},
}

// ArticleName is what an article is called in a language, "en" or "nl". One without names here is called
// what the catalogue calls it.
func ArticleName(language, sku, catalogueName string) string {
	names, known := articleNames[sku]
	switch {
	case !known:
		return catalogueName
	case language == "nl":
		return names.nl
	default:
		return names.en
	}
}

// DemoCatalogue is the collection that demo mode and the tests sell. Of the lamp there are only a
// few, so that selling out can be seen.
func DemoCatalogue() []Product {
	article := func(sku string, cents, stock int64) Product {
		return Product{SKU: sku, Name: articleNames[sku].en, Price: EUR(cents), Stock: stock}
	}
	return []Product{
		article("mug", 1850, 1000),
		article("teapot", 5400, 1000),
		article("bowl", 3200, 1000),
		article("vase", 4100, 1000),
		article("lamp", 8900, 3),
		article("notebook", 1450, 1000),
		article("candle", 1250, 1000),
		article("plate", 2400, 1000),
	}
}
