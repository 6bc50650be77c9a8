package skill

// Rules about outside tools: services and programs of the user's machine that a skill calls while it works. Points are
// added up for each name. Code that the skill teaches to write is not a call; what is said to be optional is told apart.
var toolRules = []rule{
	{
		id: "JOY-TOOL-ACTION", means: "it asks for an action of the connection",
		reason: "allowed_tools names what the step calls",
		points: 3, whole: matchActions,
	},
	{
		id: "JOY-TOOL-NONE", means: "the skill says that it calls no tool",
		reason: "the calls that it speaks of are made around it, by somebody else",
		points: -3, line: matchNoCalls,
	},
	{
		id: "JOY-TOOL-SERVER", means: "it declares to need an MCP server",
		reason: "a declared requirement is the best evidence there is",
		points: 3, whole: matchDeclaredServers,
	},
	{
		id: "JOY-TOOL-COMPATIBILITY", means: "compatibility or the description requires a program of the service",
		reason: "a declared requirement is the best evidence there is",
		points: 3, whole: matchRequiredService,
	},
	{
		id: "JOY-TOOL-ACCOUNT", means: "compatibility or the description requires an account or a key of the service",
		reason: "a declared requirement is the best evidence there is",
		points: 3, whole: matchRequiredAccount,
	},
	{
		id: "JOY-TOOL-ALLOWED", means: "the allowed tools run a program of the service",
		reason: "one program by its name is there on purpose; it takes more than that",
		points: 2, whole: matchAllowed,
	},
	{
		id: "JOY-TOOL-CONNECTED", means: "it needs at least one connection, whichever it is",
		reason: "the author says so",
		points: 3, line: matchConnected,
	},
	{
		id: "JOY-TOOL-NEVER", means: "the skill says that it does not talk to the service",
		reason: "what is done for a service, on files of its own, is no call",
		points: -3, line: matchNeverTalks,
	},
	{
		id: "JOY-TOOL-MCP", means: "it names a tool of an MCP server",
		reason: "mcp__server__tool and Server:tool are how agents spell such calls",
		points: 3, line: matchServerTool,
	},
	{
		id: "JOY-TOOL-MCP-CONFIG", means: "it shows the configuration of an MCP server to connect",
		reason: "the author says which server has to be there",
		points: 3, whole: matchServerConfig,
	},
	{
		id: "JOY-TOOL-MCP-PROSE", means: "it works through an MCP server",
		reason: "a sentence that uses, calls or requires an MCP server; one about building a server does not count",
		points: 2, most: 2, line: matchServerProse,
	},
	{
		id: "JOY-TOOL-COMMAND", means: "it runs a program of the service",
		reason: "such programs do nothing without the service; a mention in passing is not enough",
		points: 1, most: 4, line: matchServiceCommand,
	},
	{
		id: "JOY-TOOL-API", means: "it calls the service's address",
		reason: "a request that is made while the skill works; downloads for installation and the skill's own examples are left out",
		points: 3, line: matchCall,
	},
	{
		id: "JOY-TOOL-SCRIPT", means: "a script that the text runs calls the address",
		reason: "the skill does what its script does",
		points: 3, whole: matchScriptHosts,
	},
	{
		id: "JOY-TOOL-SCRIPT-COMMAND", means: "a script that the text runs calls a program of the service",
		reason: "the skill does what its script does",
		points: 2, most: 2, whole: matchScriptCommands,
	},
	{
		id: "JOY-TOOL-SECRET", means: "it declares to need a credential",
		reason: "a key is there for a service",
		points: 3, whole: matchDeclaredSecrets,
	},
	{
		id: "JOY-TOOL-KEY", means: "it asks for the service's key in the environment",
		reason: "an API key that the user has to provide is for calls of the skill itself; keys in code that it teaches to write do not count",
		points: 2, most: 2, line: matchKey,
	},
	{
		id: "JOY-TOOL-KEY-SAID", means: "it says that the service's key is required",
		reason: "the author says so",
		points: 3, line: matchRequiredKey,
	},
	{
		id: "JOY-TOOL-PROGRAM", means: "it signs in with a program of its own",
		reason: "who signs in does so with a service",
		points: 3, line: matchOwnProgram,
	},
	{
		id: "JOY-TOOL-ASKS", means: "it works with the service",
		reason: "an instruction to fetch from or post to a service; one sentence may be an example, two are not, of one service or of several",
		points: 2, most: 2, shared: true, line: matchServiceProse,
	},
	{
		id: "JOY-TOOL-CATEGORY", means: "it works with a connector of this kind",
		reason: "~~crm stands for whichever product is connected; an instruction to use it, where it is not said to be optional",
		points: 2, most: 2, line: matchCategory,
	},
	{
		id: "JOY-TOOL-NAMED", means: "it speaks of the service again and again",
		reason: "what a text keeps coming back to is seldom an example",
		points: 1, least: 3, line: matchNamed,
	},
	{
		id: "JOY-TOOL-ABOUT", means: "the description is about working with the service",
		reason: "what a skill is for it cannot do without",
		points: 2, whole: matchAbout,
	},
	{
		id: "JOY-TOOL-ABOUT-API", means: "the description is about working through the product's API or CLI",
		reason: "what a skill is for it cannot do without; an API may be one to write code for, so it takes more than that",
		points: 2, whole: matchAboutAPI,
	},
	{
		id: "JOY-TOOL-TOLD", means: "it says that it works with the product's API",
		reason: "the author says what the skill's own program does",
		points: 3, line: matchTellsAPI,
	},
	{
		id: "JOY-TOOL-NAMES", means: "it calls tools by their names",
		reason: "a text without program code that has several tools called by name has them from a connection",
		points: 3, least: 3, whole: matchNamedTools,
	},
	{
		id: "JOY-TOOL-PRODUCT", means: "it works with the product that the description names",
		reason: "a product by and in which the work is done, in a text without program code, is a service; one place may be an example",
		points: 2, most: 2, whole: matchProduct,
	},
	{
		id: "JOY-TOOL-ABOUT-MCP", means: "the description is about working through an MCP server",
		reason: "what a skill is for it cannot do without",
		points: 3, whole: matchAboutServer,
	},
	{
		id: "JOY-TOOL-ABOUT-DATA", means: "the description is about data or things of the product",
		reason: "what a skill is for it cannot do without; a name may be a method or a library, so it takes more than that",
		points: 2, whole: matchAboutData,
	},
	{
		id: "JOY-TOOL-CREDENTIAL", means: "it has the user get a key or sign in",
		reason: "who signs in does so with a service; in a text about others' keys it is no need, so it takes more than that",
		points: 2, line: matchCredential,
	},
	{
		id: "JOY-TOOL-VARIABLE", means: "it reads a variable of its own for an account",
		reason: "an address, an account or a client's id under the skill's own name is for a service of that name",
		points: 2, line: matchOwnVariable,
	},
	{
		id: "JOY-TOOL-SHIPPED", means: "a script that it ships opens connections",
		reason: "a script that the text does not name may be the skill's own program",
		points: 1, whole: matchShipped,
	},
	{
		id: "JOY-TOOL-SCRIPT-CALLS", means: "a script that the text runs opens connections",
		reason: "the skill does what its script does; which service that is the rest of the text says",
		points: 2, whole: matchScriptCalls,
	},
}
