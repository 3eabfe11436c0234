package api

import (
	"crypto/sha256"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/api/limit"
	"example.com/eenmaal/domain"
)

const consumerKey = "consumer"

// authenticate finds the consumer of the bearer key and holds him to his limit. It comes before the
// key is looked at, so that a stranger neither spends a key nor sees an answer.
func (a *API) authenticate(c *gin.Context) {
	consumer, err := a.identify(c)
	if err == nil {
		c.Set(consumerKey, consumer)
		idempotent.TraceOf(c.Request.Context()).Consumer = consumer.Name
		err = a.limits.Requests.Take(c.Request.Context(), limit.Consumer(consumer))
	}
	if err != nil {
		a.fail(c, err)
	}
}

// identify looks a bearer key up. Whoever guesses does it here, so the address pays for each one that
// is not known in this process.
func (a *API) identify(c *gin.Context) (domain.Consumer, error) {
	scheme, secret, _ := strings.Cut(c.GetHeader("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || secret == "" {
		return domain.Consumer{}, domain.Errorf(domain.Unauthenticated, "unauthenticated", "Send your API key as Authorization: Bearer <key>.")
	}
	hash := sha256.Sum256([]byte(secret))
	if consumer, known := a.callers.get(hash); known {
		return consumer, nil
	}
	if err := a.limits.Strangers.Take(c.Request.Context(), limit.Address(c.ClientIP())); err != nil {
		return domain.Consumer{}, err
	}
	consumer, err := a.db.ConsumerBySecret(c.Request.Context(), secret)
	if err == nil {
		a.callers.put(hash, consumer)
	}
	return consumer, err
}

func caller(c *gin.Context) domain.Consumer { return c.MustGet(consumerKey).(domain.Consumer) }

// callers remembers consumers for a moment, so that a busy one is not looked up for every request. A
// key that is revoked stops working within callerAge.
type callers struct {
	mu    sync.Mutex
	known map[[32]byte]knownCaller
}

type knownCaller struct {
	consumer domain.Consumer
	until    time.Time
}

const (
	callerAge  = 5 * time.Second
	maxCallers = 10_000
)

func (m *callers) get(hash [32]byte) (domain.Consumer, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.known[hash]
	return k.consumer, ok && time.Now().Before(k.until)
}

func (m *callers) put(hash [32]byte, c domain.Consumer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil || len(m.known) >= maxCallers {
		m.known = map[[32]byte]knownCaller{}
	}
	m.known[hash] = knownCaller{c, time.Now().Add(callerAge)}
}
