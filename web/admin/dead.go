package admin

import (
	"context"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
)

// Dead is what the page of dead letters looks up beside the lists.
type Dead interface {
	// DeskCounts counts what waits for a person, up to domain.MaxDeskCount of each.
	DeskCounts(ctx context.Context) (domain.DeskCounts, error)
}

// Jobs is what the desk looks up of the jobs.
type Jobs interface {
	Counts(ctx context.Context) (domain.JobCounts, error)
	// Dead reads the newest jobs that were given up.
	Dead(ctx context.Context, limit int) ([]domain.DeadJob, error)
}

func (d *Desk) mountDead(r gin.IRouter) {
	r.GET("/dead", d.handle(d.dead))
	r.GET("/jobs", d.handle(d.jobs))
}

// The newest few of each kind; its own list has the rest.
const fewDead = 5

// deadView is all that was given up.
type deadView struct {
	Counts     domain.DeskCounts
	JobCounts  domain.JobCounts
	Mails      []domain.Mail
	Deliveries []domain.Delivery
	Events     []domain.InboxEvent
	Jobs       []domain.DeadJob
}

// Nothing reports that nothing was given up.
func (v deadView) Nothing() bool {
	return len(v.Mails)+len(v.Deliveries)+len(v.Events)+len(v.Jobs) == 0
}

func (d *Desk) dead(c *gin.Context) error {
	ctx, read, v := c.Request.Context(), d.cfg.Reader, deadView{}
	var err error
	if v.Counts, err = read.DeskCounts(ctx); err != nil {
		return err
	}
	if v.JobCounts, err = d.cfg.Jobs.Counts(ctx); err != nil {
		return err
	}
	mails, err := read.ListMails(ctx, domain.Listing{State: string(domain.MailGivenUp), Limit: fewDead})
	if err != nil {
		return err
	}
	deliveries, err := read.ListDeliveries(ctx, domain.Listing{State: string(domain.DeliveryDead), Limit: fewDead})
	if err != nil {
		return err
	}
	events, err := read.ListInbox(ctx, domain.Listing{State: string(domain.EventPoison), Limit: fewDead})
	if err != nil {
		return err
	}
	if v.Jobs, err = d.cfg.Jobs.Dead(ctx, fewDead); err != nil {
		return err
	}
	v.Mails, v.Deliveries, v.Events = mails.Items, deliveries.Items, events.Items
	return d.Site.Render(c, http.StatusOK, deadPage(d.page(c, "/admin/dead", tDeadLetters), v))
}

// manyDead is how many jobs that were given up the page of jobs shows.
const manyDead = 50

func (d *Desk) jobs(c *gin.Context) error {
	counts, err := d.cfg.Jobs.Counts(c.Request.Context())
	if err != nil {
		return err
	}
	dead, err := d.cfg.Jobs.Dead(c.Request.Context(), manyDead)
	if err != nil {
		return err
	}
	return d.Site.Render(c, http.StatusOK, jobsPage(d.page(c, "/admin/jobs", tJobs), counts, dead))
}

// counted writes a count that stops at domain.MaxDeskCount.
func counted(n int) string {
	if n >= domain.MaxDeskCount {
		return strconv.Itoa(domain.MaxDeskCount) + "+"
	}
	return strconv.Itoa(n)
}
