// Package file is files as resources of a pool.
package file
