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
	p := k.page(c, v, ui.TStatusTitle, "status-"+string(v.State))
	p.Path, p.Refresh = v.path("/status"), 2
	return k.Site.Render(c, http.StatusOK, statusPage(p, view))
}
