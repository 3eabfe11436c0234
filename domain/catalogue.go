package domain

// DemoCatalogue is the collection that demo mode and the tests sell. Of the lamp there are only a
// few, so that selling out can be seen.
func DemoCatalogue() []Product {
	article := func(sku, name string, cents, stock int64) Product {
		return Product{SKU: sku, Name: name, Price: EUR(cents), Stock: stock}
	}
	return []Product{
		article("mug", "Early Mug", 1850, 1000),
		article("teapot", "Patience Teapot", 5400, 1000),
		article("bowl", "Sharing Bowl", 3200, 1000),
		article("vase", "Single Vase", 4100, 1000),
		article("lamp", "Evening Lamp", 8900, 3),
		article("notebook", "Notebook Once", 1450, 1000),
		article("candle", "Quiet Candle", 1250, 1000),
		article("plate", "Daily Plate", 2400, 1000),
	}
}
