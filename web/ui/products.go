package ui

import "example.com/eenmaal/domain"

// Article is what the pages say about one article of the catalogue.
type Article struct {
	About
	Name Text
}

// About is what an article is, besides its name.
type About struct {
	Line  Text // what it is, in a few words
	Story Text
	Facts Text
}

// articles by SKU. One that is not here is shown with its name alone.
var articles = map[string]About{
	"mug": {
		Text{"Stoneware mug, 30 cl", "Mok van steengoed, 30 cl"},
		Text{"For the first cup of the day. The handle fits three fingers and the thick wall keeps coffee warm while you wake up.",
			"Voor de eerste kop van de dag. Het oor past om drie vingers en de dikke wand houdt koffie warm terwijl jij wakker wordt."},
		Text{"Stoneware, glazed inside and out. Dishwasher safe.", "Steengoed, binnen en buiten geglazuurd. Kan in de vaatwasser."},
	},
	"teapot": {
		Text{"Teapot with strainer, 1.1 l", "Theepot met zeef, 1,1 l"},
		Text{"Good tea takes four minutes, whatever you press. The spout pours without a drip and the lid stays on.",
			"Goede thee duurt vier minuten, waar je ook op drukt. De tuit schenkt zonder druppel en het deksel blijft zitten."},
		Text{"Glazed stoneware with a steel strainer.", "Geglazuurd steengoed met een stalen zeef."},
	},
	"bowl": {
		Text{"Serving bowl, 26 cm", "Serveerschaal, 26 cm"},
		Text{"Wide enough for a salad for six and calm enough to stay on the table afterwards, with three lemons in it.",
			"Breed genoeg voor salade voor zes, en rustig genoeg om daarna op tafel te blijven staan met drie citroenen."},
		Text{"Turned by hand. No two rims are the same.", "Met de hand gedraaid. Geen twee randen zijn gelijk."},
	},
	"vase": {
		Text{"Vase for one branch, 24 cm", "Vaas voor één tak, 24 cm"},
		Text{"One branch is enough. The narrow neck holds it where you put it, and the heavy foot does not fall over.",
			"Eén tak is genoeg. De smalle hals houdt hem waar je hem zet, en de zware voet valt niet om."},
		Text{"Stoneware, waterproof glaze.", "Steengoed, waterdicht geglazuurd."},
	},
	"lamp": {
		Text{"Table lamp, 38 cm", "Tafellamp, 38 cm"},
		Text{"A warm circle on the table and nothing else. One switch, on the cord, that you can find in the dark.",
			"Een warme cirkel op tafel en verder niets. Eén schakelaar, in het snoer, die je in het donker vindt."},
		Text{"Linen shade, ash foot. Made in small numbers.", "Kap van linnen, voet van essen. Gemaakt in kleine aantallen."},
	},
	"notebook": {
		Text{"Sewn notebook, 160 pages", "Genaaid notitieboek, 160 pagina’s"},
		Text{"Write it down once and you can forget it. Lies flat on every page, with a ribbon for where you were.",
			"Schrijf het één keer op en je mag het vergeten. Ligt op elke bladzijde plat, met een lint voor waar je was."},
		Text{"Linen cover, 100 g paper, A5.", "Linnen omslag, 100-grams papier, A5."},
	},
	"candle": {
		Text{"Rapeseed wax, 40 hours", "Koolzaadwas, 40 uur"},
		Text{"Burns forty hours and smells of nothing, so that dinner smells of dinner.",
			"Brandt veertig uur en ruikt naar niets, zodat het eten naar eten ruikt."},
		Text{"In a glazed holder that stays when the candle is gone.", "In een geglazuurde houder die blijft als de kaars op is."},
	},
	"plate": {
		Text{"Dinner plate, 27 cm", "Eetbord, 27 cm"},
		Text{"For Monday and for Christmas. The raised rim keeps the sauce where it belongs.",
			"Voor maandag en voor kerst. De opstaande rand houdt de saus waar die hoort."},
		Text{"Stoneware. Oven and dishwasher safe, and it stacks.", "Steengoed. Kan in oven en vaatwasser, en het stapelt."},
	},
}

// ArticleOf gives the texts of an article. catalogueName is for one that has no name in our languages.
func ArticleOf(sku, catalogueName string) Article {
	name := func(l Lang) string { return domain.ArticleName(string(l), sku, catalogueName) }
	return Article{About: articles[sku], Name: Text{name(English), name(Dutch)}}
}

// Product is one article as the pages show it.
type Product struct {
	SKU   string
	Price domain.Money
	Stock int64
	Article
}

// ProductOf joins an article of the catalogue with its texts.
func ProductOf(p domain.Product) Product {
	return Product{SKU: p.SKU, Price: p.Price, Stock: p.Stock, Article: ArticleOf(p.SKU, p.Name)}
}

// PriceLine is one line of a basket or an order.
type PriceLine struct {
	SKU      string
	Name     string
	Quantity int64
	Unit     domain.Money
	Total    domain.Money
}

// Summary is what is bought and what it costs.
type Summary struct {
	Lines    []PriceLine
	Shipping domain.Money
	Total    domain.Money
}

// SummaryOf is an order at the prices that it was made with.
func SummaryOf(l Lang, o domain.Order) Summary {
	sum := Summary{Shipping: o.Shipping, Total: o.Total}
	for _, line := range o.Lines {
		sum.Lines = append(sum.Lines, PriceLine{
			SKU: line.SKU, Name: ArticleOf(line.SKU, line.Name).Name.In(l), Quantity: line.Quantity, Unit: line.UnitPrice, Total: line.Total(),
		})
	}
	return sum
}

// Priced gives items today's prices. Articles that the shop no longer has are left out.
func Priced(l Lang, items []domain.Item, products []domain.Product) Summary {
	sum := Summary{Shipping: domain.EUR(domain.ShippingCost), Total: domain.EUR(domain.ShippingCost)}
	for _, item := range items {
		for _, product := range products {
			if product.SKU != item.SKU {
				continue
			}
			total, _ := product.Price.Times(item.Quantity) // the numbers of a basket are small
			sum.Total, _ = sum.Total.Plus(total)
			sum.Lines = append(sum.Lines, PriceLine{
				SKU: item.SKU, Name: ArticleOf(item.SKU, product.Name).Name.In(l), Quantity: item.Quantity, Unit: product.Price, Total: total,
			})
		}
	}
	return sum
}
