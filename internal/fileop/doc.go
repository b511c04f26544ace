// Package fileop is file operations as data: what is to be done, and what came of it.
//
// An [Op] can be done by whoever has an engine for it: by system calls that block the
// thread ([Op.Do]), or by a ring of the kernel, which reports each transfer to
// [Op.Took]. So what a short transfer, the end of a file or an error means is said
// here, once, and does not depend on the engine.
//
// # Who owns what
//
// From the moment an Op is given to an engine until that says it has ended, the Op, its
// buffers and what More points to belong to the engine. The file must stay open for as
// long; that is its owner's part (package pool holds a lease).
package fileop
