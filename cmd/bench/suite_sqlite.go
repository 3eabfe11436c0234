package main

import "database/sql"

// sqlite compares new orders over HTTP, on the embedded database, with a bare loop of the same
// statements under synchronous=FULL. One writer at a time is all that SQLite has, so the loop has one
// connection too.
func (b *bench) sqlite() error {
	g, err := b.sqliteGround("sqlite-shop")
	if err != nil {
		return err
	}
	defer g.close()
	below, err := b.sqliteGround("sqlite-floor")
	if err != nil {
		return err
	}
	defer below.close()
	shop, err := b.spawn("shop", append(g.database(), "-provider", noProvider)...)
	if err != nil {
		return err
	}
	defer shop.stop()
	sample, err := takeSample(b.ctx, g, shop.address)
	if err != nil {
		return err
	}
	if err := copyEndpoints(b, g, below); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", sqliteAddress(below.dir))
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, c := range []int{1, 8} {
		results, err := b.compare(
			b.counted(g, b.calling("shop", shop, c, newOrder, expect(201, false))),
			b.counted(below, b.bare("floor", 1, &loop{b.ctx, db, sample})))
		if err != nil {
			return err
		}
		b.report.add(row{Suite: "sqlite", What: "new order / bare database/sql loop", Clients: c,
			Value: ratio(results["shop"], results["floor"], slice.perSecond), Goal: atLeast(0.5),
			Ours: summary(results["shop"]), Theirs: summary(results["floor"])})
	}
	return nil
}

// copyEndpoints gives the floor's database the numbers that the sample's key row refers to.
func copyEndpoints(b *bench, from, to *ground) error {
	rows, err := from.witness.QueryContext(b.ctx, "SELECT id, pattern FROM endpoints")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int
		var pattern string
		if err := rows.Scan(&id, &pattern); err != nil {
			return err
		}
		if _, err := to.witness.ExecContext(b.ctx, "INSERT INTO endpoints (id, pattern) VALUES (?, ?)", id, pattern); err != nil {
			return err
		}
	}
	return rows.Err()
}
