module github.com/iolane/iolane/examples

go 1.26

require github.com/iolane/iolane v0.0.0

replace github.com/iolane/iolane => ../
