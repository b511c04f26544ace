// Package block blocks a thread, as a slow device does.
package block
