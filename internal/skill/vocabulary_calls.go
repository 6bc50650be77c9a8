package skill

// What texts say of requests, and what programs call.
var (
	// fetchingWords before an address tell to fetch it; reportingVerbs are what a skill says of its own program.
	fetchingWords  = []string{"fetch ", "webfetch ", "retrieve ", "query ", "browse to ", "navigate to "}
	reportingVerbs = set("fetches pulls queries retrieves calls uses polls fetch query call")
	kindsOfAPI     = set("intl rest restful http https json soap rpc grpc llm xml dom mcp sdk cli graphql fetch public web native admin internal")
	toModels       = []string{"to an ai model", "to an llm", "to openai", "to anthropic"}
	// starting are calls of scripts that run a command line.
	starting = []string{"exec", "run(", "run_", "spawn", "system(", "popen", "check_output", "sh(", "$`"}
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

// Words of descriptions and sentences about a service that the skill signs in to.
var (
	dataVerbs = set(`fetch fetches query queries get gets access accesses search searches control controls manage manages interact
		monitor monitors sync syncs send sends post posts retrieve retrieves lookup check checks read reads pull pulls list track
		tracks look download publish schedule research`)
	dataPrepositions = set("from with on via through using in to")
	programWords     = set("cli client api integration")
	integrationWords = set("integration api cli account skill")

	// credentials, with one of getting on the line, are what a user has to have; noCredentials are lines about others'.
	credentials = []string{
		"api key", "api token", "access token", "app password", "auth token", "api-key", "bot token", "refresh token", "an account", "account login", " account with",
		"oauth session", "oauth token", "oauth client", "oauth credential", "oauth auth", "oauth flow",
	}
	signs   = []string{"key", "token", "passw", "account", "oauth", "bearer"} // one is in each of credentials
	getting = []string{
		"get your", "get an", "get a ", "your api", "generate", "create an", "create a", "set the", "set your", "obtain", "export ",
		"sign up", "one-time", "authenticate", "requires a", "needs ", "need a", "register", "configure your", "stored in", "go to",
		"prompt for", "permissions", "get one", "401", "using access token", "authentication",
	}
	// talkedAbout are on lines that speak of a key's rights or of finding keys, and ask for none.
	talkedAbout = []string{"question", "permission", "scope", "privilege", "hardcoded", "leak", "credential access", "exfiltrat", "grep"}
	// worksAlone in a description says that no service is behind it.
	worksAlone    = []string{"local speech", "locally", "offline", "no api key", "without an api"}
	noCredentials = []string{
		"no api key", "without an api key", "hardcoded", "hard-coded", "leak", "expose", "never ", "do not", "don't", "sensitive",
		"redact", "detect", "scan",
	}
)
