package main

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"example.com/eenmaal/api"
)

// The rival in this file is what tutorials teach: a middleware that claims the key in Redis, runs
// the handler and stores its answer, around a handler that reads and writes row by row. It is here
// to be measured and must not be copied: a process that dies between claim and answer leaves a key
// that is refused until it expires, a Redis that forgets makes a second order, and one consumer gets
// the answer of another.

type textbookShop struct {
	db    *gorm.DB
	redis *redis.Client
}

func newTextbook(cfg serveConfig) (served, error) {
	options, err := redis.ParseURL(cfg.redis)
	if err != nil {
		return served{}, err
	}
	db, err := gorm.Open(postgres.Open(cfg.database), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		return served{}, err
	}
	pool, err := db.DB()
	if err != nil {
		return served{}, err
	}
	pool.SetMaxOpenConns(poolSize)
	pool.SetMaxIdleConns(poolSize)
	s := textbookShop{db: db, redis: redis.NewClient(options)}
	engine := gin.New()
	engine.POST("/v1/orders", s.once, s.placeOrder)
	return served{engine, func() { _ = s.redis.Close(); _ = pool.Close() }}, nil
}

// recorder keeps a copy of the answer.
type recorder struct {
	gin.ResponseWriter
	body []byte
}

func (r *recorder) Write(b []byte) (int, error) {
	r.body = append(r.body, b...)
	return r.ResponseWriter.Write(b)
}

func (s textbookShop) once(c *gin.Context) {
	ctx, name := c.Request.Context(), "textbook:"+c.GetHeader("Idempotency-Key")
	fresh, err := s.redis.SetNX(ctx, name, "running", 24*time.Hour).Result() //nolint:staticcheck // what is taught
	if err != nil {
		c.AbortWithStatus(http.StatusServiceUnavailable)
		return
	}
	if !fresh {
		s.replay(c, name)
		return
	}
	r := &recorder{ResponseWriter: c.Writer}
	c.Writer = r
	c.Next()
	s.redis.Set(ctx, name, r.body, 24*time.Hour)
}

func (s textbookShop) replay(c *gin.Context, name string) {
	body, err := s.redis.Get(c.Request.Context(), name).Result()
	if err != nil || body == "running" {
		c.AbortWithStatus(http.StatusConflict)
		return
	}
	c.Header("Idempotent-Replayed", "true")
	c.Data(http.StatusCreated, "application/json", []byte(body))
	c.Abort()
}

type textbookOrder struct {
	ID, Number, Token, Status, Email, Name, Line1, PostalCode, City, Country, Language string
	Shipping, Total                                                                    int64
	Currency                                                                           string
	ConsumerID                                                                         int64
	Key                                                                                string
	CreatedAt                                                                          time.Time
}

func (textbookOrder) TableName() string { return "orders" }

type textbookLine struct {
	OrderID   string `gorm:"primaryKey"`
	Position  int    `gorm:"primaryKey;autoIncrement:false"`
	SKU       string `gorm:"column:sku"`
	Name      string
	Quantity  int64
	UnitPrice int64
}

func (textbookLine) TableName() string { return "order_lines" }

type textbookProduct struct {
	SKU   string `gorm:"column:sku;primaryKey"`
	Name  string
	Price int64
	Stock int64
}

func (textbookProduct) TableName() string { return "products" }

func (s textbookShop) placeOrder(c *gin.Context) {
	var in api.PlaceOrder
	if err := json.NewDecoder(c.Request.Body).Decode(&in); err != nil {
		c.AbortWithStatus(http.StatusBadRequest)
		return
	}
	order := textbookOrder{ID: newKey(), Number: "EM-" + newKey(), Token: newKey(), Status: "awaiting_payment", Email: in.Email, Name: in.Name,
		Line1: in.Address.Line1, PostalCode: in.Address.PostalCode, City: in.Address.City, Country: in.Address.Country,
		Language: "en", Shipping: 495, Total: 495, Currency: "EUR", ConsumerID: 1, Key: c.GetHeader("Idempotency-Key"), CreatedAt: time.Now()}
	lines, err := s.write(c.Request.Context(), &order, in)
	if err != nil {
		c.AbortWithStatusJSON(http.StatusInternalServerError, gin.H{"error": err.Error()})
		return
	}
	c.JSON(http.StatusCreated, gin.H{"id": order.ID, "number": order.Number, "status": order.Status, "items": lines,
		"shipping": order.Shipping, "total": order.Total, "created_at": order.CreatedAt})
}

// write takes a round trip for begin, two prices, the order, two lines, two stocks and commit.
func (s textbookShop) write(ctx context.Context, order *textbookOrder, in api.PlaceOrder) (lines []textbookLine, err error) {
	return lines, s.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		for i, item := range in.Items {
			var p textbookProduct
			if err := tx.First(&p, "sku = ?", item.SKU).Error; err != nil {
				return err
			}
			order.Total += p.Price * item.Quantity
			lines = append(lines, textbookLine{order.ID, i, p.SKU, p.Name, item.Quantity, p.Price})
		}
		if err := tx.Create(order).Error; err != nil {
			return err
		}
		for i := range lines {
			if err := tx.Create(&lines[i]).Error; err != nil {
				return err
			}
		}
		return takeStock(tx, lines)
	})
}

func takeStock(tx *gorm.DB, lines []textbookLine) error {
	for _, l := range sortedBySKU(lines) {
		err := tx.Model(&textbookProduct{}).Where("sku = ? AND stock >= ?", l.SKU, l.Quantity).
			Update("stock", gorm.Expr("stock - ?", l.Quantity)).Error
		if err != nil {
			return err
		}
	}
	return nil
}

// sortedBySKU gives the one order in which everybody locks articles.
func sortedBySKU(lines []textbookLine) []textbookLine {
	return slices.SortedFunc(slices.Values(lines), func(a, b textbookLine) int { return strings.Compare(a.SKU, b.SKU) })
}
