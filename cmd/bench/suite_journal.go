package main

// journal compares a shop that keeps a journal of keys with one that keeps none: new orders, of which each
// leaves a line, and repeats from memory, which come faster than anything else that leaves one.
func (b *bench) journal() error {
	g, err := b.postgresGround("journal")
	if err != nil {
		return err
	}
	defer g.close()
	var all children
	defer all.stop()
	args := append(g.database(), "-provider", noProvider)
	without, err := all.add(b.spawn("shop", args...))
	if err != nil {
		return err
	}
	with, err := all.add(b.spawn("shop", append(args, "-journal")...))
	if err != nil {
		return err
	}
	orders, err := b.placeOrders(without.address, replayed)
	if err != nil {
		return err
	}
	if err := g.count(b.ctx, replayed); err != nil {
		return err
	}
	for _, c := range []int{8, 32} {
		placed, err := b.compare(
			b.counted(g, b.calling("with", with, c, newOrder, expect(201, false))),
			b.counted(g, b.calling("without", without, c, newOrder, expect(201, false))))
		if err != nil {
			return err
		}
		repeated, err := b.compare(b.repeating("with", with, c, orders), b.repeating("without", without, c, orders))
		if err != nil {
			return err
		}
		b.reportJournal("new order", c, placed)
		b.reportJournal("replay from memory", c, repeated)
	}
	return nil
}

func (b *bench) reportJournal(what string, c int, results map[string][]slice) {
	b.report.add(row{Suite: "journal", What: what + " with a journal of keys / without", Clients: c,
		Value: ratio(results["with"], results["without"], slice.perSecond), Goal: atLeast(0.9),
		Ours: summary(results["with"]), Theirs: summary(results["without"])})
}
