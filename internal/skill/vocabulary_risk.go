package skill

// What risky content is made of. All in lower case.
var (
	securityWords = set(`security malware vulnerability vulnerabilities pentest pentesting penetration exploit exploits
		injection attack
		attacks threat threats forensic forensics prompt-injection privilege redteam xss csrf cve ctf`)

	decoders = []string{
		"base64 -d", "base64 --decode", "base64 -decode", "b64decode", "atob(", "xxd -r",
		"-encodedcommand", "-enc ", "frombase64string",
	}
	evaluators = []string{"invoke-expression"}
	shells     = set("sh bash zsh dash ksh fish python python3 perl ruby node iex php")
	fetchWords = []string{
		"curl", "wget", "invoke-webrequest", "iwr ", "irm ", "invoke-restmethod", "urlopen",
		"requests.get", "fetch(",
	}
	startsResult = []string{"chmod +x", "&& ./", "; ./", "&& bash", "&& sh", "start-process"}

	substitutions     = []string{"<(curl", "<(wget", "$(curl", "$(wget", "eval \"$(curl"}
	documentationNets = []string{"192.0.2.", "198.51.100.", "203.0.113.", "1.2.3.4", "0.0.0.0", "8.8.8.8", "1.1.1.1"}

	hiddenTalk = []string{
		"ignore previous", "ignore all", "ignore the above", "you must", "you are ", "do not tell",
		"don't tell", "do not mention",
		"secretly", "system prompt", "without asking", "without telling", "assistant:", "dear agent", "ai agent", "curl ",
		"send the", "exfiltrat", "run the",
	}

	passwordWords = []string{
		"password:", "with password", "password is", "pass:", "password `", "passphrase", "using pass",
		"(password",
	}
	archiveWords = []string{".zip", ".rar", ".7z", "archive", "unzip", "extract"}
	obtainWords  = []string{"download", "extract", "unzip", "install", "unpack", "get "}

	dropHosts = []string{
		"webhook.site", "requestbin", "pipedream.net", "ngrok.io", "ngrok-free", "ngrok.app",
		"pastebin.com", "paste.ee", "rentry.co",
		"hastebin", "ghostbin", "transfer.sh", "file.io", "0x0.st", "glot.io", "termbin.com", "interact.sh", "oast.",
		"burpcollaborator",
		"trycloudflare.com", "discord.com/api/webhooks", "discordapp.com/api/webhooks", "hooks.slack.com/services",
		"api.telegram.org/bot", "beeceptor.com", "requestcatcher",
	}

	agentTexts = []string{
		"skill.md", "heartbeat.md", "agents.md", "claude.md", "instructions.md", "instructions.txt",
		"command.md", "commands.md",
		"rules.md", "prompt.md", "prompt.txt", "messaging.md", "llms.txt", "system.md",
	}
	readWordsOfAgents = []string{
		"fetch", "curl", "read http", "follow ", "load ", "check http", "re-read", "every ",
		"download", "webfetch",
	}

	agentFiles = []string{
		"claude.md", "agents.md", "memory.md", "soul.md", "heartbeat.md", "gemini.md", ".cursorrules",
		".claude/settings", ".claude.json",
		"~/.claude/", ".codex/config", ".openclaw/", ".clawdbot/", ".bashrc", ".zshrc", ".profile", "crontab",
		"launchagents", "systemd/user", "copilot-instructions",
	}
	writeSigns = []string{">> ", ">>~", "> ~", "tee ", "crontab -", "echo "}
	writeVerbs = set("write append add update edit save create insert modify put store register")
)
