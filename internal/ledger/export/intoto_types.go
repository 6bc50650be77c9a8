package export

// The part of the in-toto statement v1 (https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md) and of SLSA
// provenance v1 (https://slsa.dev/spec/v1.0/provenance) that joy writes.
type (
	statement struct {
		Type          string     `json:"_type"`
		Subject       []resource `json:"subject"`
		PredicateType string     `json:"predicateType"`
		Predicate     provenance `json:"predicate"`
	}
	provenance struct {
		Definition definition `json:"buildDefinition"`
		Details    details    `json:"runDetails"`
	}
	definition struct {
		BuildType    string         `json:"buildType"`
		External     map[string]any `json:"externalParameters"`
		Internal     map[string]any `json:"internalParameters"`
		Dependencies []resource     `json:"resolvedDependencies"`
	}
	details struct {
		Builder    builder    `json:"builder"`
		Metadata   metadata   `json:"metadata"`
		Byproducts []resource `json:"byproducts"`
	}
	builder struct {
		ID           string            `json:"id"`
		Version      map[string]string `json:"version,omitempty"`
		Dependencies []resource        `json:"builderDependencies,omitempty"`
	}
	metadata struct {
		Invocation string `json:"invocationId"`
		Started    string `json:"startedOn"`
		Finished   string `json:"finishedOn"`
	}
	resource struct {
		Name        string            `json:"name,omitempty"`
		Digest      map[string]string `json:"digest,omitempty"`
		Annotations map[string]any    `json:"annotations,omitempty"`
	}
)

// The URIs of a statement by joy. BuildType names what the parameters mean, and is told on docs/ledger.md.
const (
	statementType = "https://in-toto.io/Statement/v1"
	slsaType      = "https://slsa.dev/provenance/v1"
	BuildType     = "https://github.com/joystream-ai/joy/run/v1"
	BuilderID     = "https://github.com/joystream-ai/joy"
)

// Names of digests that are SHA-256 of something else than a file's bytes; in-toto lets a producer name its own.
const (
	algBundle = "joyTree1"  // of a bundle: over the list of its files
	algPlan   = "joyPlan1"  // of a plan: over the lock without this digest, in canonical form
	algImage  = "joyImage1" // of an image: over its architecture, profile and files
)
