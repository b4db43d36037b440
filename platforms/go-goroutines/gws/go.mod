module klatch/gws

go 1.19

// The last version for Debian 12's Go.
require github.com/lxzan/gws v1.8.5

require klatch/goroutines v0.0.0

require (
	github.com/dolthub/maphash v0.1.0 // indirect
	github.com/klauspost/compress v1.17.5 // indirect
)

replace klatch/goroutines => ../
