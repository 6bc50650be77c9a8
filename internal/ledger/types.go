package ledger

import "slices"

// Type says what an entry records: dotted, and past tense where something happened.
type Type string

// Every type there is. An entry of another type is refused.
const (
	RunStarted  Type = "run.started" // always the first entry
	RunWaiting  Type = "run.waiting"
	RunResumed  Type = "run.resumed"
	RunFinished Type = "run.finished" // after it come only ledger.recovered and run.sealed
	RunSealed   Type = "run.sealed"   // always the last entry

	StepStarted  Type = "step.started"
	StepFinished Type = "step.finished"
	StepSkipped  Type = "step.skipped"

	SandboxRequested Type = "sandbox.requested"
	SandboxCreated   Type = "sandbox.created"
	SandboxDestroyed Type = "sandbox.destroyed"
	SandboxLost      Type = "sandbox.lost"

	CommandStarted  Type = "command.started"
	CommandFinished Type = "command.finished"
	FileWritten     Type = "file.written"
	FileRead        Type = "file.read"

	ModelRequested Type = "model.requested"
	ModelReplied   Type = "model.replied"

	ToolRequested Type = "tool.requested"
	ToolReturned  Type = "tool.returned"
	ToolDenied    Type = "tool.denied"
	ToolDrifted   Type = "tool.drifted"

	EgressAllowed Type = "egress.allowed"
	EgressClosed  Type = "egress.closed"
	EgressDenied  Type = "egress.denied"

	ArtifactStored      Type = "artifact.stored"
	ArtifactSkipped     Type = "artifact.skipped"
	ArtifactQuarantined Type = "artifact.quarantined"
	ScrubFound          Type = "scrub.found"

	TokenIssued  Type = "token.issued"
	TokenRevoked Type = "token.revoked"

	ApprovalRequested Type = "approval.requested"
	ApprovalGranted   Type = "approval.granted"
	ApprovalDenied    Type = "approval.denied"

	LedgerRecovered Type = "ledger.recovered"
)

var types = []Type{
	RunStarted, RunWaiting, RunResumed, RunFinished, RunSealed,
	StepStarted, StepFinished, StepSkipped,
	SandboxRequested, SandboxCreated, SandboxDestroyed, SandboxLost,
	CommandStarted, CommandFinished, FileWritten, FileRead,
	ModelRequested, ModelReplied,
	ToolRequested, ToolReturned, ToolDenied, ToolDrifted,
	EgressAllowed, EgressClosed, EgressDenied,
	ArtifactStored, ArtifactSkipped, ArtifactQuarantined, ScrubFound,
	TokenIssued, TokenRevoked,
	ApprovalRequested, ApprovalGranted, ApprovalDenied,
	LedgerRecovered,
}

// allowed says why an entry of type t may not come next, or "".
func (w *Writer) allowed(t Type) string {
	switch last := w.last; {
	case w.beside && slices.Contains(maintenanceTypes, t):
		return ""
	case w.beside:
		return "no type of maintenance"
	case !slices.Contains(types, t):
		return "unknown type"
	case last == "" && t != RunStarted:
		return "the first entry is run.started"
	case last != "" && t == RunStarted:
		return "the run has started already"
	case last == RunSealed:
		return "the ledger is sealed"
	case w.finished && t != RunSealed && t != LedgerRecovered:
		return "the run has finished"
	case t == RunSealed && !w.finished && !w.reopened:
		return "only a finished run is sealed"
	}
	return ""
}
