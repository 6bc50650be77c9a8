package export

import (
	"encoding/base64"
	"fmt"

	"github.com/joystream-ai/joy/internal/notekey"
)

// payloadType says that a payload is an in-toto statement in JSON
// (https://github.com/in-toto/attestation/blob/main/spec/v1/envelope.md).
const payloadType = "application/vnd.in-toto+json"

// envelope is that of DSSE v1 (https://github.com/secure-systems-lab/dsse/blob/v1.0.2/envelope.md).
type envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     string      `json:"payload"` // standard base64
	Signatures  []signature `json:"signatures"`
}

// signature has no keyid, which DSSE leaves open: verifiers that compute one disagree on how, and take a signature
// that names none.
type signature struct {
	Sig string `json:"sig"` // standard base64
}

// pae is what DSSE signs: the pre-authentication encoding of a payload and its type
// (https://github.com/secure-systems-lab/dsse/blob/v1.0.2/protocol.md). It begins with "DSSEv1 " where the text of a
// seal begins with "joy-ledger/", so that neither signature stands for the other.
func pae(typ string, payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(typ), typ, len(payload), payload)
}

func enclose(payload []byte, key notekey.Key) (envelope, error) {
	sig, err := key.Signer.Sign(pae(payloadType, payload))
	if err != nil {
		return envelope{}, fmt.Errorf("sign the statement: %w", err)
	}
	return envelope{payloadType, base64.StdEncoding.EncodeToString(payload), []signature{{base64.StdEncoding.EncodeToString(sig)}}}, nil
}
