// Package fileop is file operations as data: what is to be done, and what came of it.
//
// An [Op] can be done by whoever has an engine for it: by system calls that block the
// thread ([Op.Do]), or by a ring of the kernel, which reports each transfer to
// [Op.Took]. So what a short transfer, the end of a file or an error means is said
// here, once, and does not depend on the engine.
//
// # What an engine does
//
// It may ask [Op.TryCached] first. Then it makes one transfer after another until [Op.Took]
// says that the operation has ended: of [Op.Rest] or [Op.Vectors], at [Op.Offset]. Before
// each it asks [Op.NeedsBounce], and if so transfers what [Op.Bounce] says instead, and tells
// [Bounce.Took]. Whatever is no transfer is one system call, and Took is told its result.
// Before each transfer it looks whether the context has ended, and tells Took ErrCancelled
// if so.
//
// # Who owns what
//
// From the moment an Op is given to an engine until that says it has ended, the Op, its
// buffers and what More points to belong to the engine. The file must stay open for as
// long; that is its owner's part (package pool holds a lease).
package fileop
