package main

import (
	"bytes"
	"context"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"
)

// replayed is how many answers the replay suite asks for again and again.
const replayed = 500

func bareName(i int) string { return "bare:" + strconv.Itoa(i) }

// newBare is what replays are compared with: gin, and one Redis GET of 1 KB. It checks, decodes,
// logs and counts nothing.
func newBare(cfg serveConfig) (served, error) {
	options, err := redis.ParseURL(cfg.redis)
	if err != nil {
		return served{}, err
	}
	client := redis.NewClient(options)
	for i := range replayed {
		if err := client.Set(context.Background(), bareName(i), bytes.Repeat([]byte("x"), 1024), 0).Err(); err != nil {
			return served{}, err
		}
	}
	engine := gin.New()
	engine.GET("/:name", func(c *gin.Context) {
		body, err := client.Get(c.Request.Context(), c.Param("name")).Bytes()
		if err != nil {
			c.AbortWithStatus(http.StatusNotFound)
			return
		}
		c.Data(http.StatusOK, "application/json", body)
	})
	return served{engine, func() { _ = client.Close() }}, nil
}
