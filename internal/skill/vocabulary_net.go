package skill

// Words of sentences about MCP servers and services.
var (
	// usingWords near "mcp" say that a server is used; makingWords that one is made.
	usingWords = set(`use uses using via through call calls require requires required connected connect query tools tool server
		servers available with from invoke needs`)
	makingWords = set(`build building develop development developing package bundle bundled create write writing implement author
		patterns builder generator`)
	// plainWords stand before "MCP" and name no server.
	plainWords = set(`the an a any your this that via use using of for with through and or to each all no remote other server as if
		available required supported key primary core which when these following add call setup audit flag scan configure install
		create build run check document knowledge email chat custom local uses used what which their our these those how
		project other existing new external configured connected it its not is are`)
	// serverStarts before "mcp" say that the skill starts the server itself.
	serverStarts   = set("start starts run runs launch launches")
	withoutServers = []string{"without mcp", "mcp is not available", "mcp is unavailable", "mcp unavailab", "mcp isn't available"}
	placeholders   = set("servername server myserver example your-server serviceid")
	// inWords stand before a product that is worked with; notProducts are what people work with and is no service.
	inWords     = []string{"in ", "from ", "via ", "through ", "using "}
	notProducts = set(`python javascript typescript java rust react node excel word powerpoint markdown claude codex copilot gemini
		english git docker bash linux windows latex unicode series ios android api use when the`)
	// callVerbs before a service's name tell to work with it.
	callVerbs = set(`pull fetch search query post send create update read get list lookup look upload download publish push sync
		retrieve call use manage managing automate interact access control track add comment close assign reply notify via through
		export import match capture connects integrate consult`)
	// aboutWords and throughWords before a name in the description say that it is worked with, or worked through.
	aboutWords = set(`via across through using use uses with from to in on orchestrates manage automate search query pull fetch post
		create`)
	usingOnly    = set("using via")
	throughWords = set("via through using with orchestrates from")
	// makeVerbs with devNouns or serverNouns in the description: what is called there is called by what is made.
	makeVerbs = set(`generate generates generating build builds building develop developing implement implementing write writing
		create creates creating design test testing debug debugging scaffold package bundle ship distribute review optimize
		integrate integrating audit audits auditing`)
	deploying   = set("deploy deploys deploying")
	serverNouns = set("mcp server servers plugin plugins hook hooks subagent subagents commands skills")
	// integrating begins the description of a skill for software that shows code, whatever its other words are.
	integrating    = set("implement implements implementing integrate integrating embedding")
	referenceWords = set("reference references documentation docs")
	// requiring words say that a key has to be there; signingIn begin the second word of a command that signs in.
	requiring = []string{"require", "must be set", "need", "set the environment", "set your"}
	signingIn = []string{
		"auth", "login", "signin", "sign-in", "set-appkey", "set-key", "set-token", "set-api", "connect", "pair",
		"register", "reconfigure", "configure",
	}
)

// What contacts hosts, and hosts that are no need.
var (
	fetchers      = set("curl wget http https httpie xh yt-dlp youtube-dl gallery-dl")
	downloaders   = set("yt-dlp youtube-dl gallery-dl")                                       // take from anywhere: the address is the user's
	aboutCurl     = []string{"in curl ", "man curl", "which curl", "-v curl", "install curl"} // curl is looked at and not run
	intoFiles     = []string{" -o ", "wget ", " --output ", " --remote-name"}
	programFiles  = []string{".deb", ".rpm", ".jar", ".appimage", ".msi", ".dmg", ".whl", "/releases/", "install.sh", "setup.sh"} // are installed
	targeting     = set("nmap masscan nikto sqlmap hydra medusa gobuster ffuf dirb wfuzz feroxbuster nuclei crackmapexec netexec wpscan amass subfinder httpx-toolkit msfconsole evil-winrm impacket-secretsdump impacket-getuserspns bloodhound-python ssh-audit testssl.sh")
	pipedToShell  = []string{"| sh", "| bash", "|sh", "|bash", "| sudo", "| iex"}
	httpMethods   = []string{"get https://", "post https://", "put https://", "delete https://", "patch https://"}
	pythonFetches = []string{"requests.", "httpx.", "urlopen(", "urlretrieve(", "aiohttp", `read_csv("http`, `read_json("http`}
	baseAddresses = []string{"base_url", "api_url", "baseurl", "endpoint", "url ="}
	// connectingCalls are in a script that opens connections.
	connectingCalls = []string{
		"import requests", "from requests", "urllib.request", "import httpx", "aiohttp", "await fetch(",
		"axios.", "axios(", "from 'axios'", "require('axios')", "curl ", "http.client", "websocket", "https.request",
		"https.get(", "http.get(", "require('https')", "wget ", "import openai", "import anthropic", "import yfinance",
	}
	// noHosts are parts of names that are examples, one's own machines, sources of installations, or names of formats.
	noHosts = []string{
		"example.", "your-", "yourdomain", "your.", "my-", "mysite", "domain.com", "company.com", "acme", "test.com", "foo.",
		"bar.com", "xxx", "evil", "attacker", "target.", "victim",
		"localhost", ".local", ".internal",
		"raw.githubusercontent.com", "pythonhosted.org", "pypi.org", "registry.npmjs.org",
		"schemas.", "www.w3.org", "json-schema.org",
	}
	// documentAddresses begin the addresses that stand for any (RFC 5737, RFC 3849), and the best-known example.
	documentAddresses = []string{"192.0.2.", "198.51.100.", "203.0.113.", "1.2.3.4", "2001:db8:"}
	// forReaders are on a line of a script whose address is there to be read.
	forReaders = []string{"reference", "homepage", "docs", "documentation", "license", "print(", "help=", "description", "see http"}
	// pageHosts in a script are for its readers.
	pageHosts = []string{
		"www.github.com", "docs.", "readthedocs", "stackoverflow", "wikipedia.org", "fonts.", "cdn", "unpkg",
		"jsdelivr", "openxmlformats", "apache.org", "creativecommons", "purl.org", "ns.adobe",
	}
	// registries are labels under which names are registered in some countries, as in co.uk.
	registries = set("co com org gov go ac net edu or")
)

// Words about the web.
var (
	searchVerbs   = set("search browse fetch research")
	webNouns      = set("web internet online webpage website url urls websites web-page webpages")
	fetchVerbs    = set("fetch webfetch")
	pageNouns     = set("docs documentation guidelines url page pages sitemap article articles changelog website")
	searchNouns   = set("search searches research browsing access") // after "web"
	webTools      = set("webfetch websearch web_search web_fetch google_web_search web-search")
	talking       = set("talk talks contact contacts")
	downloadVerbs = set("download downloads fetch")
	downloadNouns = set(`firmware weights checkpoint checkpoints dataset datasets paper papers video videos audio transcript
		transcripts images sequences structures attachments`)
	webUsing  = set("use uses using via through with run do perform from")
	ifNeeded  = []string{"on demand", "as needed", "if needed", "when needed"}
	negations = set("no not without never")
)

// fetchingLibraries are calls, in lower case, that fetch from a host when they are made. An empty host is one of many.
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
}
