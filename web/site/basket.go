package site

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
)

// Basket is what a visitor wants to order. It lives in the visitor's cookie and nowhere else.
type Basket []domain.Item

// Count is the number of articles.
func (b Basket) Count() (n int64) {
	for _, item := range b {
		n += item.Quantity
	}
	return n
}

// Of is how many of one article are in it.
func (b Basket) Of(sku string) int64 {
	for _, item := range b {
		if item.SKU == sku {
			return item.Quantity
		}
	}
	return 0
}

// With is the basket with another number of one article. None removes it; setting it twice is setting
// it once.
func (b Basket) With(sku string, quantity int64) Basket {
	quantity = min(quantity, domain.MaxQuantity)
	changed := slices.Clone(b)
	at := slices.IndexFunc(changed, func(i domain.Item) bool { return i.SKU == sku })
	switch {
	case at >= 0 && quantity <= 0:
		return slices.Delete(changed, at, at+1)
	case at >= 0:
		changed[at].Quantity = quantity
	case quantity > 0 && len(changed) < domain.MaxLines:
		changed = append(changed, domain.Item{SKU: sku, Quantity: quantity})
	}
	return changed
}

// Print tells baskets with other contents apart.
func (b Basket) Print() string {
	sum := sha256.Sum256([]byte(b.text()))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// text writes a basket in one way, whatever order it was filled in: "mug:2,vase:1".
func (b Basket) text() string {
	parts := make([]string, len(b))
	for i, item := range b {
		parts[i] = item.SKU + ":" + strconv.FormatInt(item.Quantity, 10)
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

func parseBasket(s string) Basket {
	var b Basket
	for part := range strings.SplitSeq(s, ",") {
		sku, number, ok := strings.Cut(part, ":")
		n, err := strconv.ParseInt(number, 10, 64)
		if !ok || err != nil || n < 1 || n > domain.MaxQuantity || sku == "" || b.Of(sku) > 0 || len(b) == domain.MaxLines {
			continue
		}
		b = append(b, domain.Item{SKU: sku, Quantity: n})
	}
	return b
}

const month = 30 * 24 * time.Hour

// Basket reads the visitor's basket. A cookie that this site did not sign is an empty basket. What
// SetBasket wrote during this request is read back.
func (s *Site) Basket(c *gin.Context) Basket {
	if b, ok := c.Get("basket"); ok {
		return b.(Basket)
	}
	text, _ := s.SignedCookie(c, "basket")
	return parseBasket(text)
}

// SetBasket gives the visitor another basket.
func (s *Site) SetBasket(c *gin.Context, b Basket) {
	c.Set("basket", b)
	s.SetSignedCookie(c, "basket", b.text(), month)
}

// SignedCookie reads what SetSignedCookie wrote under this name.
func (s *Site) SignedCookie(c *gin.Context, name string) (value string, ok bool) {
	cookie, err := c.Request.Cookie(s.cookieName(name))
	if err != nil {
		return "", false
	}
	encoded, mac, ok := strings.Cut(cookie.Value, ".")
	if !ok || !hmac.Equal([]byte(mac), []byte(s.mac(name, encoded))) {
		return "", false
	}
	text, err := base64.RawURLEncoding.DecodeString(encoded)
	return string(text), err == nil
}

// SetSignedCookie writes a cookie that scripts cannot read and nobody can change unseen. An empty value
// removes it.
func (s *Site) SetSignedCookie(c *gin.Context, name, value string, life time.Duration) {
	encoded := base64.RawURLEncoding.EncodeToString([]byte(value))
	cookie := s.cookie(name, encoded+"."+s.mac(name, encoded), life)
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(c.Writer, cookie)
}

func (s *Site) cookie(name, value string, life time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: s.cookieName(name), Value: value, Path: "/", MaxAge: int(life.Seconds()),
		HttpOnly: true, Secure: s.Secure, SameSite: http.SameSiteLaxMode,
	}
}

func (s *Site) cookieName(name string) string {
	if s.Secure {
		return "__Host-" + name
	}
	return name
}

// mac signs a value for one cookie name, so that the value of one cookie is worth nothing in another.
func (s *Site) mac(name, encoded string) string {
	h := hmac.New(sha256.New, s.Secret)
	h.Write([]byte("cookie\x00" + name + "\x00" + encoded))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}
