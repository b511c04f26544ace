module github.com/iolane/iolane/bench/fileio

go 1.26.0

require (
	github.com/iolane/iolane v0.0.0
	go.uber.org/goleak v1.3.0
)

replace github.com/iolane/iolane => ../../
