// Package account tells runs from their ledgers: which entries answer a question, what was under way at a moment, what
// differs between two runs, and why one failed.
//
// The one rule: it says only what entries say. Whether a ledger is what was written is for package verify; what no
// entry says is called unknown here, and never guessed.
package account
