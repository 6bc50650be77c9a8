package skill

// What texts say of requests, and what programs call.
var (
	// fetchingWords before an address tell to fetch it; reportingVerbs are what a skill says of its own program.
	fetchingWords  = []string{"fetch ", "webfetch ", "retrieve ", "query ", "browse to "}
	reportingVerbs = set("fetches pulls queries retrieves calls uses polls fetch query call")
	kindsOfAPI     = set("intl rest restful http https json soap rpc grpc llm xml dom mcp sdk cli graphql fetch public web native admin internal")
	toModels       = []string{"to an ai model", "to an llm", "to openai", "to anthropic"}
	// programSources are the extensions of sources of programs that npm installs.
	programSources = []string{".ts", ".js", ".mjs", ".cjs", ".tsx"}
	// toolVerbs begin the names of tools that agents call; speaksOfTools is in texts that have such tools called.
	toolVerbs     = set("get list search query fetch find lookup send create update")
	speaksOfTools = []string{" tools", "tool call", "mcp"}
)

// serviceClients are what programs make to call a service, in lower case, and the service's host.
var serviceClients = []struct{ call, host string }{
	{"new openai(", "api.openai.com"},
	{"openai.openai(", "api.openai.com"},
	{"= openai(", "api.openai.com"},
	{"new anthropic(", "api.anthropic.com"},
	{"anthropic.anthropic(", "api.anthropic.com"},
	{"= anthropic(", "api.anthropic.com"},
	{"yf.ticker(", "query1.finance.yahoo.com"},
	{"yf.download(", "query1.finance.yahoo.com"},
	{"genai.client(", "generativelanguage.googleapis.com"},
}

// otherBases are in programs whose client calls something else than its service.
var otherBases = []string{"base_url", "baseurl", "localhost", "127.0.0.1"}

// registryQueries are the beginnings of commands that ask a registry, and the registry.
var registryQueries = []struct{ command, host string }{
	{"npm audit ", "registry.npmjs.org"},
	{"npm outdated ", "registry.npmjs.org"},
	{"npm view ", "registry.npmjs.org"},
	{"npm search ", "registry.npmjs.org"},
	{"npm publish ", "registry.npmjs.org"},
	{"npm-check-updates ", "registry.npmjs.org"},
	{"pnpm audit ", "registry.npmjs.org"},
	{"yarn audit ", "registry.npmjs.org"},
	{"yarn npm audit ", "registry.npmjs.org"},
	{"pip index ", "pypi.org"},
	{"pip list --outdated ", "pypi.org"},
	{"pip-audit ", "pypi.org"},
	{"twine upload ", "upload.pypi.org"},
	{"cargo search ", "crates.io"},
	{"cargo publish ", "crates.io"},
}
