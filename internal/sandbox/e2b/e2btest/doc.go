// Package e2btest is an E2B for tests: a server on loopback with the control plane (sandboxes are created, listed, leased
// and killed) and, behind it, one machine for each sandbox with a daemon that runs commands and moves files (envd, in the
// directory of that name). What it says on the wire is E2B's public API; the official SDK for JavaScript converses with it
// in a test here, so whoever passes against it has met more than the author's own idea of that API.
//
// The one rule: nothing runs on the host. A command runs in a machine that its runner made, out of namespaces or as a VM,
// with no network but its own loopback, and nothing of it is left when Close returns.
//
// It is stricter than E2B where joy must never go: it does not pause, fork, snapshot or mount volumes, and says so. It
// knows less: no binary form of the daemon's calls (415), no signed URLs, no joining of files, no logs or metrics of the
// control plane, no way to a port but the daemon's, and no addresses with a sandbox's id in the host name. A user of its
// machines has no sudo. What it says in an error is its own wording where no client reads it; the codes are E2B's.
package e2btest
