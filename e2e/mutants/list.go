package main

import "slices"

// mutant is the shop with one bug that somebody could have written.
type mutant struct {
	name   string
	breaks string   // what the bug is, in one phrase
	storm  []string // the troubles under which it shows soon; the customers of the harness bring more
	caught []string // the invariants of which one must be seen broken
	edits  []edit
}

// edit changes one place of one file: old must be there exactly once.
type edit struct{ file, old, new string }

// The tables of a shop that trusts something else than its unique constraints.
var noUniqueKeys = []edit{
	{"migrations/postgres/00001_shop.sql", "    key_text    text,\n    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (key, consumer_id, endpoint_id)\n", "    key_text    text\n"},
	{"migrations/postgres/00001_shop.sql", ",\n    CONSTRAINT orders_once_per_key UNIQUE (key, consumer_id)", ""},
	{"migrations/postgres/00001_shop.sql", ",\n    CONSTRAINT payments_once_per_key UNIQUE (key, consumer_id)", ""},
}

var mutants = []mutant{
	{
		name: "provider key per attempt", breaks: "every attempt asks the provider under a key of its own",
		storm: []string{"kill at after_charge"}, caught: []string{"I2", "I7"},
		edits: []edit{{"api/idempotent/run.go",
			`fn(ctx, outsideKey(run.key.Scope, name))`,
			`fn(ctx, outsideKey(run.key.Scope, fmt.Sprintf("%s%*s", name, int(run.attempt)-1, "")))`}},
	},
	{
		name: "no fencing", breaks: "an attempt that was taken over writes its answer all the same",
		storm: []string{"pause after_charge for longer than the lease", "freeze replica for 1.3 leases"}, caught: []string{"I4"},
		edits: []edit{{"store/keys.go",
			"input = NULL, steps = NULL, look_at = NULL, looks = NULL`+fence,",
			"input = NULL, steps = NULL, look_at = NULL, looks = NULL WHERE key = ? AND consumer_id = ? AND endpoint_id = ? AND CAST(? AS bigint) > 0`,"}},
	},
	{
		name: "fresh answer", breaks: "a repeat is answered anew instead of with the stored bytes",
		storm: []string{"rolling restart", "flush Redis"}, caught: []string{"I4"},
		edits: []edit{
			{"api/idempotent/run.go", "func (tx *Tx) commit(ctx context.Context) error {\n",
				"func (tx *Tx) commit(ctx context.Context) error {\n\tif ctx.Value(\"again\") != nil {\n\t\ttx.then()\n\t\treturn nil\n\t}\n"},
			{"api/idempotent/execute.go", "\t\tcase domain.Replay:\n\t\t\treturn Reply{Answer: claim.Answer, Replayed: true, waited: waited,",
				"\t\tcase domain.Replay:\n" +
					"\t\t\tagain := &Run{op: o.Described, registry: o.registry, key: o.newKey(cmd)}\n" +
					"\t\t\tif _, err := o.run(context.WithValue(ctx, \"again\", true), again, cmd.in); o.Kind == \"local\" && err == nil {\n" +
					"\t\t\t\tclaim.Answer = again.answer\n\t\t\t}\n" +
					"\t\t\treturn Reply{Answer: claim.Answer, Replayed: true, waited: waited,"},
		},
	},
	{
		name: "dedupe in Redis only", breaks: "only the copy in Redis knows which keys were used",
		storm: []string{"flush Redis", "kill Redis"}, caught: []string{"I1", "I5"},
		edits: slices.Concat(noUniqueKeys, []edit{
			{"api/idempotent/execute.go", "if o.registry.cfg.Answers == nil || !cmd.hints.Retry {", "if o.registry.cfg.Answers == nil {"},
			{"api/idempotent/execute.go", "look := cmd.hints.Retry || refused != nil", "look := refused != nil"},
		}),
	},
	{
		name: "check, then insert", breaks: "a key is looked up and then inserted, and no constraint stands behind it",
		caught: []string{"I1"},
		edits: slices.Concat(noUniqueKeys, []edit{
			{"api/idempotent/execute.go", "look := cmd.hints.Retry || refused != nil", "look := true"},
		}),
	},
	{
		name: "timeout is final", breaks: "a provider that does not answer is stored as a payment that failed",
		storm:  []string{"app-provider: lose reply", "app-provider: cut", "app-provider: reset", "app-provider: refuse"},
		caught: []string{"I3", "I7", "I13"},
		edits: []edit{{"api/payments.go",
			`return domain.Errorf(domain.Unknown, "outcome_unknown", "charge payment %s: %w", pay.ID, err)`,
			`return domain.Errorf(domain.Refused, "provider_timeout", "The provider did not answer: %v", err)`}},
	},
	{
		name: "mail in the request", breaks: "the mail is sent before the commit that it tells of",
		storm:  []string{"pause after_charge for longer than the lease", "kill at before_commit", "app-postgres: lose request", "app-postgres: refuse"},
		caught: []string{"I9"},
		edits: []edit{
			{"api/hear.go", "\t\"example.com/eenmaal/domain\"\n", "\t\"os\"\n\n\t\"example.com/eenmaal/api/smtp\"\n\t\"example.com/eenmaal/domain\"\n"},
			{"api/hear.go", "\ttx.InsertMail(m)\n\ta.jobs.Enqueue(tx, jobs.SendMail, m.ID)\n",
				"\ttx.InsertMail(m)\n\tif mailer, err := smtp.New(os.Getenv(\"SMTP_URL\"), \"shop@shop.example\"); err == nil {\n" +
					"\t\t_ = mailer.Send(context.Background(), m)\n\t}\n"},
			{"store/mails.go", "recipient, subject, body, created_at)\n\t\tVALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT",
				"recipient, subject, body, created_at, sent_at)\n\t\tVALUES (?, ?, ?, ?, ?, ?, ?, ?, now()) ON CONFLICT"},
		},
	},
	{
		name: "stock is read and written", breaks: "the stock is read, lowered in the program and written back",
		caught: []string{"I8"},
		edits: []edit{{"store/products.go",
			"\ttx.queue(`UPDATE products SET stock = stock - ? WHERE sku = ?`, line.Quantity, line.SKU).\n",
			"\tvar stock int64\n\ttx.Fail(tx.db.gorm.Table(\"products\").Select(\"stock\").Where(\"sku = ?\", line.SKU).Take(&stock).Error)\n" +
				"\ttx.queue(`UPDATE products SET stock = ? WHERE sku = ?`, stock-line.Quantity, line.SKU).\n"}},
	},
	{
		name: "answer before commit", breaks: "an order is answered while its commit is still under way",
		storm: []string{"kill at before_commit", "crash Postgres"}, caught: []string{"I3", "I4"},
		edits: []edit{{"api/idempotent/run.go",
			"\t\terr := fn(tx)\n\t\tif err == nil {\n\t\t\terr = tx.commit(ctx)\n\t\t}\n",
			"\t\terr := fn(tx)\n\t\tif err == nil && r.op.Kind == \"local\" {\n\t\t\ttx.then()\n" +
				"\t\t\tgo func() { _ = tx.timedCommit(context.WithoutCancel(ctx)) }()\n\t\t} else if err == nil {\n\t\t\terr = tx.commit(ctx)\n\t\t}\n"}},
	},
	{
		name: "lease without an end", breaks: "who died with a key keeps it",
		storm: []string{"kill at after_charge", "kill at after_claim", "kill replica"}, caught: []string{"I12"},
		edits: []edit{
			{"domain/idempotency.go", "case c.State == Running && c.LeaseLeft > 0 && c.LeaseLeft <= MaxLease:", "case c.State == Running:"},
			{"store/unfinished.go", "AND (state = 2 OR (state = 1 AND (lease_until <= NOW_MICROS OR", "AND (state = 2 OR (state = 1 AND (lease_until < 0 OR"},
		},
	},
	{
		name: "copy before commit", breaks: "an answer is copied for replays before it is committed",
		storm:  []string{"crash Postgres", "end all sessions of Postgres", "app-postgres: refuse", "app-postgres: reset", "app-postgres: lose request"},
		caught: []string{"I3", "I4"},
		edits: []edit{{"api/idempotent/run.go",
			"\tanswer.Request, answer.At = r.key.Request, tx.Now()\n",
			"\tanswer.Request, answer.At = r.key.Request, tx.Now()\n\tr.registry.cache.put(r.key.Scope, r.key.Fingerprint, answer)\n" +
				"\tif r.registry.cfg.Answers != nil {\n\t\tr.registry.cfg.Answers.Put(r.key.Scope, r.key.Fingerprint, answer, r.op.TTL)\n\t}\n"}},
	},
	{
		name: "key without its consumer", breaks: "two consumers with the same key are taken for one",
		caught: []string{"I6"},
		edits:  []edit{{"api/idempotent/flight.go", "flightID{s.Key.ID(), s.Consumer, s.Endpoint}", "flightID{s.Key.ID(), 0, s.Endpoint}"}},
	},
	{
		name: "webhook without dedupe", breaks: "an event of the provider that comes again is taken for another",
		storm: []string{"kill at after_webhook"}, caught: []string{"I11"},
		edits: []edit{{"migrations/postgres/00003_contract.sql", ",\n    CONSTRAINT inbox_once_per_event UNIQUE (provider, event_id)", ""}},
	},
	{
		name: "payload not compared", breaks: "another payload under a used key is answered as if it were the first",
		caught: []string{"I4", "I5"},
		edits: []edit{
			{"domain/idempotency.go", "case c.Fingerprint.Sum != f.Sum:", "case c.State == 0:"},
			{"api/idempotent/flight.go", "if fl.fingerprint.Sum != mine.fingerprint.Sum {", "if mine == nil {"},
		},
	},
	{
		name: "no cap on leases", breaks: "a lease written by a clock that ran ahead is believed",
		storm: []string{"leases of a wrong clock"}, caught: []string{"I12"},
		edits: []edit{
			{"domain/idempotency.go", " && c.LeaseLeft <= MaxLease:", ":"},
			{"store/keys.go", "(lease_until <= `+micros+` OR lease_until > `+micros+` + ?)", "(lease_until <= `+micros+` OR lease_until < -1 * CAST(? AS bigint))"},
			{"store/unfinished.go", "(look_at <= NOW_MICROS OR look_at > NOW_MICROS + CASE", "(look_at <= NOW_MICROS OR look_at < -1 * CASE"},
			{"store/unfinished.go", "(lease_until <= NOW_MICROS OR lease_until > NOW_MICROS + ?)", "(lease_until <= NOW_MICROS OR lease_until < -1 * CAST(? AS bigint))"},
		},
	},
	{
		name: "serialization failure not retried", breaks: "a transaction that lost to another one is given up at once",
		storm: []string{"serialization failures"}, caught: []string{"unforeseen"},
		edits: []edit{{"store/errors.go", `case "40001", "40P01",`, `case "40P01",`}},
	},
	{
		name: "jobs outside the transaction", breaks: "what is to be done later is noted in a transaction of its own",
		storm:  []string{"kill replica", "crash Postgres", "end all sessions of Postgres", "app-postgres: lose reply", "app-postgres: cut", "app-postgres: reset"},
		caught: []string{"I9", "I10", "I11"},
		edits: []edit{{"store/tx.go",
			"\tif len(tx.jobs) > 0 {\n\t\tif err := tx.insert(ctx, block, tx.jobs); err != nil {\n\t\t\treturn fmt.Errorf(\"enqueue jobs: %w\", err)\n\t\t}\n\t}\n\treturn lostOnTheWay(block.Commit())\n",
			"\tif err := block.Commit(); err != nil || len(tx.jobs) == 0 {\n\t\treturn lostOnTheWay(err)\n\t}\n" +
				"\tif later, err := tx.db.sql.BeginTx(ctx, nil); err == nil {\n\t\tif tx.insert(ctx, later, tx.jobs) == nil {\n\t\t\t_ = later.Commit()\n\t\t}\n\t\t_ = later.Rollback()\n\t}\n\treturn nil\n"}},
	},
	{
		name: "unfinished keys are deleted", breaks: "a clean-up deletes keys that have no answer yet",
		storm: []string{"kill at after_charge"}, caught: []string{"I3", "I7", "I12"},
		edits: []edit{{"store/unfinished.go",
			"\tvar rows []unfinishedRow\n",
			"\t_ = db.gorm.WithContext(ctx).Exec(\"DELETE FROM idempotency_keys WHERE state IN (1, 2) AND lease_until <= \" + db.dialect.micros).Error\n\tvar rows []unfinishedRow\n"}},
	},
}
