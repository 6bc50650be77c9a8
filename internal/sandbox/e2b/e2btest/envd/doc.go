// envd is the daemon inside a machine of e2btest: it speaks what E2B's own daemon speaks (the services process.Process
// and filesystem.Filesystem over the Connect protocol, in its JSON form, and /files), and behaves as that one was seen to
// behave, in its faults too. It is also the machine's first process, in a namespace or in a VM.
//
// The one rule: it answers as the real daemon answers. Where that one refuses, this one refuses; where that one kills
// only the leader, or dies of a header, so does this one. What it does not offer is "unimplemented", never made up.
//
// The protocol: https://connectrpc.com/docs/protocol; the names are those of E2B's public API.
package main
