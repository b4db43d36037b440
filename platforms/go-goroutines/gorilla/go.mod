module klatch/gorilla

go 1.19

// The last version for Debian 12's Go.
require github.com/gorilla/websocket v1.5.0

require klatch/goroutines v0.0.0

replace klatch/goroutines => ../
