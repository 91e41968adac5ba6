package config

import "time"

// Generations are the options of rows that are built beside those that serve.
type Generations struct {
	Switch       string        `help:"When rows that were built beside those that serve are to serve: auto, as soon as they are up to date, or manual, when somebody runs 'server rebuild switch'." enum:"auto,manual" default:"auto" group:"Rebuilds"`
	ReadyWhen    string        `help:"When a server that rebuilds rows is ready: serving, while the former rows serve, or rebuilt, once its own do." enum:"serving,rebuilt" default:"serving" group:"Rebuilds"`
	KeepFormer   time.Duration `help:"Time that former rows are kept after others have followed them, for 'server rebuild rollback'." default:"24h" group:"Rebuilds"`
	RebuildShare float64       `help:"Part of the processors that all rebuilds may take together while queries are answered, above 0 and up to 1; up to four times as much while nobody has asked for a quarter of a second." default:"0.1" group:"Rebuilds"`
}

// Validate checks all that can be checked before anything is opened.
func (g *Generations) Validate() error {
	if g.KeepFormer < 0 {
		return Wrong("keep-former", "a time must not be negative")
	}
	if !(g.RebuildShare > 0 && g.RebuildShare <= 1) {
		return Wrong("rebuild-share", "give a number above 0 and up to 1, such as 0.1")
	}
	return nil
}

// IdleShare is RebuildShare while nobody asks for anything.
func (g *Generations) IdleShare() float64 { return min(1, 4*g.RebuildShare) }
