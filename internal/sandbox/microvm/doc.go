// Package microvm is the provider of local VMs: QEMU with no network device, one process a run.
//
// The one rule: the VM's only way out is one byte stream to joy. There is no device, socket path or shared directory
// through which it could reach anything else, and it dies with the joy that started it.
package microvm

// Name is what plans and ledgers call this provider.
const Name = "microvm"
