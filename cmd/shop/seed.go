package main

import (
	"context"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/store"
)

// seed makes the configured API consumers, and in the demo something to sell.
func seed(ctx context.Context, cfg Config, db *store.DB) error {
	consumers, err := cfg.consumers()
	if err != nil {
		return err
	}
	var products []domain.Product
	if cfg.demo() {
		products = domain.DemoCatalogue()
	}
	if len(products) == 0 && len(consumers) == 0 {
		return nil
	}
	return db.Seed(ctx, products, consumers)
}
