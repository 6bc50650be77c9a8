package skill

// What instructions about services and the network are made of.
var (
	usingWords = set(`use uses using via through call calls require requires required connected connect query tools tool
		server servers available with from invoke needs`)
	plainWords = set("the an a any your this that via use using of for with through and or to each all no remote other server as if available required supported key primary core which when if these following")
	callVerbs  = set(`pull fetch search query post send create update read get list lookup look upload download publish
		push sync retrieve call use manage managing automate interact access control track add comment close assign reply notify
		via through export import match capture connects integrate consult`)
	makeVerbs      = set("generate generates generating build builds building develop developing implement implementing write writing create creates creating design test testing debug debugging scaffold package bundle ship distribute review optimize integrate integrating")
	referenceWords = set("reference references documentation docs")
	serverNouns    = set("mcp server servers plugin plugins hook hooks subagent")

	fetchers      = set("curl wget http https httpie xh yt-dlp youtube-dl gallery-dl")
	pipedToShell  = []string{"| sh", "| bash", "|sh", "|bash", "| sudo", "| iex"}
	pythonFetches = []string{"requests.", "httpx.", "urlopen(", "urlretrieve(", "aiohttp", "read_csv(\"http", "read_json(\"http"}
	baseAddresses = []string{"base_url", "api_url", "baseurl", "endpoint", "url ="}
	noHosts       = []string{"example.", "localhost", "your-", "yourdomain", "your.", "my-", "mysite", "domain.com", "company.com", "acme",
		"test.com", ".local", ".internal", "foo.", "bar.com", "evil", "attacker", "raw.githubusercontent.com", "pythonhosted.org", "pypi.org", "registry.npmjs.org", "schemas.", "www.w3.org", "json-schema.org", "xxx"}
	pageHosts = []string{"www.github.com", "docs.", "readthedocs", "stackoverflow", "wikipedia.org", "fonts.", "cdn", "unpkg", "jsdelivr",
		"openxmlformats", "apache.org", "creativecommons", "purl.org", "ns.adobe"}
	connectingCalls = []string{"import requests", "from requests", "urllib.request", "import httpx", "aiohttp", "await fetch(", "axios",
		"curl ", "http.client", "websocket", "https.request", "wget ", "import openai", "import anthropic"}
	httpMethods = []string{"get https://", "post https://", "put https://", "delete https://", "patch https://"}
	downloaders = set("yt-dlp youtube-dl gallery-dl")

	searchVerbs  = set("search browse google fetch research")
	fetchVerbs   = set("fetch webfetch")
	pageNouns    = set("docs documentation guidelines url page pages sitemap article articles changelog website")
	makingWords  = set("build building develop development developing package bundle bundled create write writing implement author patterns builder")
	searchNouns  = set("search searches research browsing access")
	webNouns     = set("web internet online webpage website url urls websites web-page webpages")
	webTools     = set("webfetch websearch web_search web_fetch google_web_search web-search")
	negations    = set("no not without never")
	requiring    = []string{"require", "must be set", "need", "set the environment", "set your"}
	signingIn    = []string{"auth", "login", "signin", "sign-in", "set-appkey", "set-key", "set-token", "set-api", "connect", "pair", "register"}
	throughWords = set("via through using with orchestrates from")
	aboutWords   = set("via through using use uses with from to in on orchestrates manage automate search query pull fetch post create")
)

// fetchingLibraries are calls, in lower case, that fetch from a host when they are made.
var fetchingLibraries = []struct{ call, host string }{
	{"from_pretrained(", "huggingface.co"},
	{"load_dataset(", "huggingface.co"},
	{"hf_hub_download(", "huggingface.co"},
	{"snapshot_download(", "huggingface.co"},
	{"entrez.", "eutils.ncbi.nlm.nih.gov"},
	{"yf.ticker(", "query1.finance.yahoo.com"},
	{"yf.download(", "query1.finance.yahoo.com"},
	{"gget.", ""},
	{"boto3.client(", "amazonaws.com"},
	{"openai(", "api.openai.com"},
	{"anthropic(", "api.anthropic.com"},
}
