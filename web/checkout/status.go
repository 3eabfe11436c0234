package checkout

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/web/ui"
)

// statusView is the waiting page. It never guesses how a payment ended.
type statusView struct {
	visit
	Waited time.Duration
	Total  domain.Money
}

// patience is how long a bank may take before the page says that it is long.
const patience = 10 * time.Minute

func (k *Checkout) status(c *gin.Context, v visit) error {
	summary, err := k.summary(c, v)
	if err != nil {
		return err
	}
	view := statusView{visit: v, Total: summary.Total}
	if last, ok := v.last(); ok {
		view.Waited = max(0, k.Site.Now().Sub(last.CreatedAt)).Truncate(time.Second)
	}
	if bank, ok := v.waiting(); ok && v.State != Paying {
		p := k.page(c, v, ui.TBankTitle, "status-"+string(v.State))
		p.Path, p.Refresh = v.path("/status"), 5
		return k.Site.Render(c, http.StatusOK, bankPage(p, view, bank.RedirectURL))
	}
	p := k.page(c, v, view.title(), "status-"+string(v.State))
	p.Path, p.Refresh = v.path("/status"), 2
	return k.Site.Render(c, http.StatusOK, statusPage(p, view))
}

// title and what follows say what is known: until an order is seen none may exist, and until a payment is
// seen nobody may have asked for one. The button then does what the review page's does, so it says that.
func (v statusView) title() ui.Text {
	if v.State == Ready {
		return ui.TOrderTitle
	}
	return ui.TStatusTitle
}

func (v statusView) known() ui.Text {
	switch v.State {
	case Ready:
		return ui.TUnknownOrder
	case Placed:
		return ui.TUnpaidYet
	default:
		return ui.TUnknown
	}
}

func (v statusView) kept() ui.Text {
	if v.State == Ready {
		return ui.TFormKept
	}
	return ui.TCanLeave
}

func (v statusView) waitsFor() ui.Text {
	if v.State == Ready || v.State == Placed {
		return ui.TWaitingForWord
	}
	return ui.TWaitingFor
}

func (v statusView) button(p ui.Page) string {
	if v.State == Ready || v.State == Placed {
		return p.T(ui.TOrderAndPay, p.Money(v.Total))
	}
	return p.T(ui.TCheckNow)
}
