package skill

// Rules about the network while the skill works, on top of the tools that are not on the user's machine. Points are
// added up for each host; the empty name is a host that the text does not name.
var networkRules = []rule{
	{
		id: "JOY-NET-REQUEST", means: "it contacts the host",
		reason: "a request that is made while the skill works, not for installing something first",
		points: 3, line: matchRequest,
	},
	{
		id: "JOY-NET-WEB", means: "it searches or reads the web",
		reason: "which hosts that will be is known only at run time",
		points: 3, line: matchWeb,
	},
	{
		id: "JOY-NET-ADDRESS", means: "the text tells to fetch the address",
		reason: "the page is part of what the skill works with",
		points: 3, line: matchAddress,
	},
	{
		id: "JOY-NET-REGISTRY", means: "it asks a registry of packages",
		reason: "what a registry knows of packages changes and is asked while the skill works; one place may be an aside",
		points: 2, most: 2, line: matchRegistry,
	},
	{
		id: "JOY-NET-TARGET", means: "it runs a program that looks into other machines",
		reason: "such a program has a target, and which one is known only at run time",
		points: 3, line: matchTarget,
	},
	{
		id: "JOY-NET-DOWNLOAD", means: "the text tells to download data",
		reason: "data, models and media come from elsewhere while the skill works; programs and libraries are installed before",
		points: 3, line: matchDownload,
	},
	{
		id: "JOY-NET-ABOUT", means: "the description is about searching or reading the web",
		reason: "what a skill is for it cannot do without",
		points: 3, whole: matchAboutWeb,
	},
	{
		id: "JOY-NET-LIBRARY", means: "it calls a library that fetches from the host",
		reason: "the library downloads models or data when it is called, not when it is installed",
		points: 3, line: matchLibrary,
	},
	{
		id: "JOY-NET-SCRIPT", means: "a script that the text runs opens connections",
		reason: "the skill does what its script does",
		points: 3, whole: matchScripts,
	},
}
