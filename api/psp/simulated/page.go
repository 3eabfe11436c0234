package simulated

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/text/language"

	"example.com/eenmaal/domain"
)

//go:embed page.html
var pageSource string

var pageTemplate = template.Must(template.New("page").Parse(pageSource))

// page is what a hosted page says. Without a charge it says Notice only.
type page struct {
	Notice    string // the name of a sentence; "" while the customer must choose
	Reference string
	Back      string // the way back to the shop, "" when there is none
	Troubles  []string

	charge    charge
	returnURL string
}

func pageOf(e entry) page {
	p := page{Reference: e.Reference, Troubles: troubles, charge: e.charge, returnURL: e.returnURL}
	if !e.is(domain.ChargePending) {
		p.Notice = noticeOf(e.charge)
		if e.returnURL != "" {
			p.Back = withCharge(e.returnURL, e.ID)
		}
	}
	return p
}

func noticeOf(c charge) string {
	switch domain.ChargeStatus(c.Status) {
	case domain.ChargeDeclined:
		return "declined"
	case domain.ChargeCanceled:
		return "canceled"
	default:
		return "approved" // what the shop did to it afterwards is not the customer's to read here
	}
}

// view is a page in one language.
type view struct {
	page
	Lang      string
	OtherLang string
	Amount    string
	Nonce     string
	Address   string // of this page, for its form
	Other     string // of this page in the other language
}

// T gives a sentence by its name.
func (v view) T(name string) string { return words[v.Lang][name] }

func (s *Server) showPage(w http.ResponseWriter, r *http.Request, status int, p page) {
	lang := pageLang(r)
	v := view{
		page: p, Lang: lang, OtherLang: otherLang[lang], Amount: amountText(p.charge, lang), Nonce: rand.Text(),
		Address: inLang(r.URL, lang), Other: inLang(r.URL, otherLang[lang]),
	}
	var html bytes.Buffer
	if err := pageTemplate.Execute(&html, v); err != nil {
		s.log.Error("hosted page", "error", err)
		http.Error(w, "The page cannot be shown.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", lang)
	h.Set("Content-Security-Policy", pagePolicy(v.Nonce, p.returnURL))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // the address holds the page's token
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(html.Bytes())
}

// pagePolicy names the shop as a place for the form: browsers apply form-action to the redirect that
// answers it as well.
func pagePolicy(nonce, returnURL string) string {
	shop := ""
	if u, err := url.Parse(returnURL); err == nil && u.Host != "" {
		shop = " " + u.Scheme + "://" + u.Host
	}
	return "default-src 'none'; style-src 'nonce-" + nonce + "'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'" + shop
}

var (
	otherLang   = map[string]string{"en": "nl", "nl": "en"}
	pageMatcher = language.NewMatcher([]language.Tag{language.English, language.Dutch})
)

func pageLang(r *http.Request) string {
	if lang := r.URL.Query().Get("lang"); otherLang[lang] != "" {
		return lang
	}
	if _, index := language.MatchStrings(pageMatcher, r.Header.Get("Accept-Language")); index == 1 {
		return "nl"
	}
	return "en"
}

// inLang is the page's own address, relative to itself.
func inLang(page *url.URL, lang string) string {
	return "?" + url.Values{"s": {page.Query().Get("s")}, "lang": {lang}}.Encode()
}

// amountText writes an amount of a currency that has cents, as all those do that this bank knows.
func amountText(c charge, lang string) string {
	point, sign := ".", c.Currency+" "
	if lang == "nl" {
		point = ","
	}
	if c.Currency == "EUR" {
		sign = map[string]string{"en": "€", "nl": "€\u00a0"}[lang]
	}
	return fmt.Sprintf("%s%d%s%02d", sign, c.Amount/100, point, c.Amount%100)
}

// words of the pages, by language.
var words = map[string]map[string]string{
	"en": readWords(`
title: Testbank
pretend: This is a pretend bank. No money moves.
asks: The shop asks you to pay
order: for order
approve: Approve
decline: Decline
cancel: Cancel and go back
approved: You approved this payment.
declined: This payment was declined.
canceled: This payment was canceled.
missing: There is no such page. Go back to the shop and start the payment again.
problem: The bank has a problem. Load this page again in a moment.
back: Back to the shop
done: You can close this page.
trouble: Trouble, for a lesson
trouble_hint: Each of these approves the payment. What differs is how the shop hears of it, and whether you go back.
late: Tell the shop 5 seconds late
thrice: Tell the shop three times
early: Tell the shop before you are back
disorder: Send older news after the newer
never: Do not tell the shop
stay: Do not go back to the shop
language: Nederlands`),
	"nl": readWords(`
title: Testbank
pretend: Dit is een nepbank. Er gaat geen geld om.
asks: De winkel vraagt je te betalen
order: voor bestelling
approve: Goedkeuren
decline: Weigeren
cancel: Annuleren en terug
approved: Je hebt deze betaling goedgekeurd.
declined: Deze betaling is geweigerd.
canceled: Deze betaling is geannuleerd.
missing: Deze pagina bestaat niet. Ga terug naar de winkel en begin opnieuw met betalen.
problem: De bank heeft een storing. Laad deze pagina over een ogenblik opnieuw.
back: Terug naar de winkel
done: Je kunt deze pagina sluiten.
trouble: Pech, voor een les
trouble_hint: Elk van deze knoppen keurt de betaling goed. Wat verschilt is hoe de winkel het hoort, en of je teruggaat.
late: Vertel het de winkel 5 seconden later
thrice: Vertel het de winkel drie keer
early: Vertel het de winkel voordat je terug bent
disorder: Stuur ouder nieuws na het nieuwere
never: Vertel het de winkel niet
stay: Ga niet terug naar de winkel
language: English`),
}

// readWords reads lines of "name: sentence".
func readWords(text string) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		name, sentence, _ := strings.Cut(line, ": ")
		m[name] = strings.TrimSpace(sentence)
	}
	return m
}
