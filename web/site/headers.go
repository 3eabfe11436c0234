package site

import (
	"strings"

	"github.com/gin-gonic/gin"
)

// policy lets forms lead to the payment provider's pages: browsers apply form-action to the redirect that
// answers a form as well.
func (s *Site) policy() string {
	return strings.TrimSpace("default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self' " + s.PaymentPages)
}

// Headers keeps pages out of frames and foreign scripts out of pages. Pages are private unless a
// handler says otherwise: the header shows the visitor's basket.
func (s *Site) Headers(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", s.policy())
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // an order's address holds its token
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()")
	h.Set("Cache-Control", "private, no-cache")
	if s.Secure {
		h.Set("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
	}
}
