module klatch/goroutines

go 1.19
