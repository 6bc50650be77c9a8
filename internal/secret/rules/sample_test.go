package rules_test

import (
	"math/rand/v2"
	"strings"
)

// alphabets of tokens.
const (
	hexa   = "0123456789abcdef"
	upperA = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	alnum  = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lowerA = "0123456789abcdefghijklmnopqrstuvwxyz"
	digits = "0123456789"
)

// random is n characters, the same ones for one seed. Tokens are made when the tests run: no scanner that reads this file
// finds one.
func random(seed uint64, n int, alphabet string) string {
	rng := rand.New(rand.NewPCG(seed, 11))
	var b strings.Builder
	for range n {
		b.WriteByte(alphabet[rng.IntN(len(alphabet))])
	}
	return b.String()
}

// sample is a text with one token in it, and the rule that finds it.
type sample struct{ rule, before, token, after string }

func (s sample) text() string { return s.before + s.token + s.after }

// samples has a token of each of many kinds, as programs print them.
func samples() []sample {
	quote := func(rule, name, token string) sample { return sample{rule, name + ` = "`, token, "\"\n"} }
	pem := "-----BEGIN RSA " + "PRIVATE KEY-----\n" + strings.Repeat(random(1, 64, alnum)+"\n", 24) + "-----END RSA " + "PRIVATE KEY-----"
	return []sample{
		{"aws-access-token", "id ", "AKI" + "A" + random(1, 16, upperA), " seen\n"},
		{"github-pat", "remote: ", "gh" + "p_" + random(2, 36, alnum), "\n"},
		{"github-oauth", "", "gh" + "o_" + random(3, 36, alnum), ""},
		{"github-app-token", "Authorization: token ", "gh" + "s_" + random(4, 36, alnum), "\r\n"},
		{"github-fine-grained-pat", "x=", "github" + "_pat_" + random(5, 82, alnum), "&y"},
		{"gitlab-pat", "", "glp" + "at-" + random(6, 20, alnum), "\n"},
		{"gitlab-deploy-token", "", "gl" + "dt-" + random(7, 20, alnum), "\n"},
		{"gcp-api-key", "key=", "AI" + "za" + random(8, 35, alnum), "\n"},
		{"slack-bot-token", "", "xo" + "xb-" + random(9, 12, digits) + "-" + random(10, 12, digits) + "-" + random(11, 24, alnum), "\n"},
		{"slack-user-token", "", "xo" + "xp-" + random(12, 12, digits) + "-" + random(13, 12, digits) + "-" + random(14, 12, digits) + "-" + random(15, 32, alnum), "\n"},
		{"slack-webhook-url", "POST ", "https://hooks.slack" + ".com/services/T" + random(16, 10, upperA) + "/B" + random(17, 10, upperA) + "/" + random(18, 24, alnum), "\n"},
		{"stripe-access-token", "", "sk" + "_live_" + random(19, 24, alnum), " \n"},
		{"sendgrid-api-token", "", "S" + "G." + random(20, 66, lowerA), "\n"},
		{"npm-access-token", "//registry.npmjs.org/:_authToken=", "np" + "m_" + random(21, 36, lowerA), "\n"},
		{"pypi-upload-token", "password: ", "py" + "pi-AgEIcHlwaS5vcmc" + random(22, 60, alnum), "\n"},
		{"anthropic-api-key", "", "sk-a" + "nt-api03-" + random(23, 93, alnum) + "AA", "\n"},
		{"openai-api-key", "", "sk-pr" + "oj-" + random(24, 58, alnum) + "T3BlbkFJ" + random(25, 58, alnum), "\n"},
		{"huggingface-access-token", "", "h" + "f_" + random(26, 34, "abcdefghijklmnopqrstuvwxyz"), "\n"},
		{"digitalocean-pat", "", "do" + "p_v1_" + random(27, 64, hexa), "\n"},
		{"shopify-access-token", "", "shp" + "at_" + random(28, 32, hexa), "\n"},
		{"databricks-api-token", "", "da" + "pi" + random(29, 32, hexa), "\n"},
		{"postman-api-token", "", "PM" + "AK-" + random(30, 24, hexa) + "-" + random(31, 34, hexa), "\n"},
		{"linear-api-key", "", "lin_" + "api_" + random(32, 40, lowerA), "\n"},
		{"grafana-service-account-token", "", "gl" + "sa_" + random(33, 32, alnum) + "_" + random(34, 8, hexa), "\n"},
		{"age-secret-key", "", "AGE-SECRET" + "-KEY-1" + random(35, 58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"), "\n"},
		{"twilio-api-key", "", "S" + "K" + random(36, 32, hexa), "\n"},
		{"vault-batch-token", "", "hv" + "b." + random(37, 150, alnum), "\n"},
		{"jwt", "Bearer ", "ey" + "J" + random(38, 33, alnum) + ".ey" + "J" + random(39, 60, alnum) + "." + random(40, 43, alnum), "\n"},
		{"azure-ad-client-secret", "secret '", random(41, 3, alnum) + "8Q" + "~" + random(42, 32, alnum), "'\n"},
		{"private-key", "writing key\n", pem, "\n"},
		quote("discord-api-token", "discord_token", random(43, 64, hexa)),
		quote("heroku-api-key", "heroku_api_key", random(44, 8, hexa)+"-"+random(45, 4, hexa)+"-"+random(46, 4, hexa)+"-"+random(47, 4, hexa)+"-"+random(48, 12, hexa)),
		quote("okta-access-token", "okta_token", "00"+random(49, 40, alnum)),
		quote("generic-api-key", "db_password", random(50, 24, alnum)),
	}
}
