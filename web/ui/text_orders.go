package ui

// Sentences about finding an order again, and of its receipt.
var (
	TOrders         = Text{"Your orders", "Je bestellingen"}
	TOrdersHere     = Text{"Orders on this device", "Bestellingen op dit apparaat"}
	TOrdersHereTo   = Text{"The last orders that were made or looked up in this browser.", "De laatste bestellingen die in deze browser zijn gedaan of opgezocht."}
	TForgetOrders   = Text{"Forget these orders on this device", "Vergeet deze bestellingen op dit apparaat"}
	TFindOrder      = Text{"Find an order", "Zoek een bestelling"}
	TFindOrderTo    = Text{"The number is on the page of your order, and in every mail about it.", "Het nummer staat op de pagina van je bestelling en in elke mail erover."}
	TFindButton     = Text{"Find this order", "Zoek deze bestelling"}
	TNumberHint     = Text{"Such as EM-7K4Q-2M9B", "Bijvoorbeeld EM-7K4Q-2M9B"}
	TErrNumber      = Text{"Enter your order number", "Vul je bestelnummer in"}
	TOrderUnknown   = Text{"No order found", "Geen bestelling gevonden"}
	TOrderUnknownTo = Text{"There is no order with this number and this email address. Check both.", "Er is geen bestelling met dit nummer en dit e-mailadres. Controleer ze allebei."}
	TOrderAgain     = Text{"Order it again", "Bestel het nog een keer"}

	TReceipt  = Text{"Receipt", "Bon"}
	TCard     = Text{"Card", "Kaart"}
	TPaidWith = Text{"Paid with", "Betaald met"}
)
