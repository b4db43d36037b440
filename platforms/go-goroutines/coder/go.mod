module klatch/coder

go 1.19

// The last version for Debian 12's Go.
require github.com/coder/websocket v1.8.12

require klatch/goroutines v0.0.0

replace klatch/goroutines => ../
