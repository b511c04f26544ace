//go:build !linux

package main

func child() {}
