module github.com/iolane/iolane

go 1.26
