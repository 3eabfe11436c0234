package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"example.com/eenmaal/domain"
)

func contactForm(b *bundle) (path string, form url.Values) {
	path, form = b.get("/contact").form(b.t, strings.TrimPrefix(b.last.path, "/"))
	form.Set("email", "sanne@example.nl")
	form.Set("message", "Is the teapot heavy?\r\nRegards")
	return path, form
}

func TestAMessageSentTwiceIsReceivedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path, form := contactForm(b)
	b.contactFails = domain.Errorf(domain.Unavailable, "retry_same_key", "Trouble.")
	b.post(path, form)
	b.want(503, path, "contact-again", "contact-form")
	if !strings.Contains(b.last.body, "Is the teapot heavy?") {
		t.Error("what was typed is lost")
	}
	for range 3 {
		b.post(path, form)
		b.want(200, path+"/received", "received", "reference")
	}
	if len(b.messages) != 1 || !strings.Contains(b.last.body, "C-58") {
		t.Errorf("%d messages", len(b.messages))
	}
	b.get(path)
	b.want(200, path+"/received")
}

func TestAKeyMadeByTheScriptCountsOnceToo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path, form := contactForm(b)
	form.Set("key", "019e2f00-0000-7000-8000-00000000000a")
	for range 2 {
		b.do(http.MethodPost, path, form, http.Header{"Idempotency-Key": form["key"]})
		b.want(200, path+"/received")
	}
	form.Set("key", strings.TrimPrefix(path, "/contact/")) // the same form with scripts off
	b.post(path, form)
	b.want(200, path+"/received")
	if len(b.messages) != 1 {
		t.Errorf("%d messages", len(b.messages))
	}
}

func TestAnotherTextInAUsedFormBecomesANewMessage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path, form := contactForm(b)
	b.post(path, form)
	form.Set("message", "Another question <script>alert(1)</script>")
	b.post(path, form)
	b.want(409, path, "contact-again", "see-earlier", "send")
	if !strings.Contains(b.last.body, "Another question &lt;script&gt;") || len(b.messages) != 1 {
		t.Error("the new text is lost, or was sent")
	}
	next := regexp.MustCompile(`action="(/contact/[^"]+)"`).FindStringSubmatch(b.last.body)[1]
	if next == path {
		t.Fatal("the new message would be sent by the used form")
	}
	_, again := b.last.form(t, next)
	again.Set("email", form.Get("email"))
	again.Set("message", form.Get("message"))
	for range 2 {
		b.post(next, again)
		b.want(200, next+"/received")
	}
	if len(b.messages) != 2 {
		t.Errorf("%d messages, want 2", len(b.messages))
	}
}

func TestAContactFormThatIsTooOldKeepsItsText(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path, form := contactForm(b)
	b.contactFails = domain.Errorf(domain.Expired, "idempotency_key_expired", "Too old.")
	b.post(path, form)
	b.want(410, path, "contact-again", "send")
	if !strings.Contains(b.last.body, "Is the teapot heavy?") || strings.Contains(b.last.body, `action="`+path+`"`) {
		t.Error("the text is lost or would be sent by the old form")
	}
}
