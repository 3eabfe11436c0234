package main

import (
	"github.com/gin-gonic/gin"
)

// consolePath is where the console of the jobs is.
const consolePath = "/admin/river"

// consoleRoutes adds the console of the jobs behind the desk's sign-in, if there is a desk.
func (a *app) consoleRoutes(engine *gin.Engine) {
	if a.desk() == nil {
		return
	}
	console, err := a.jobs.Console(a.closing, consolePath, quiet(a.log))
	if err != nil {
		a.log.Error("console of the jobs", "error", err)
		return
	}
	staff := engine.Group(consolePath, a.web.StaffOnly, consolePolicy)
	staff.GET("/*path", gin.WrapH(console))
	staff.HEAD("/*path", gin.WrapH(console))
	staff.POST("/api/jobs/retry", gin.WrapH(console))
}

// consolePolicy lets the console's own scripts write styles, which nothing else here does.
func consolePolicy(c *gin.Context) {
	c.Header("Content-Security-Policy", "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "+
		"object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'")
}
