package build

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Exact versions, as each runner spells them.
var (
	npmSpec   = regexp.MustCompile(`^((?:@[a-z0-9._~-]+/)?[A-Za-z0-9._~-]+)(?:@(.*))?$`)
	npmExact  = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`) // https://semver.org
	pySpec    = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._-]*(?:\[[A-Za-z0-9._,-]+\])?)(?:(?:==|@)(.*))?$`)
	pyExact   = regexp.MustCompile(`^\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?(\+[a-z0-9.]+)?$`) // https://peps.python.org/pep-0440/
	imageSpec = regexp.MustCompile(`^[a-z0-9][A-Za-z0-9._:/-]*@sha256:[0-9a-f]{64}$`)
)

// runner is a program that fetches another one and starts it.
type runner struct {
	words    []string // its name, and the word that makes it run something
	packages []string // flags whose value is a package too
	command  bool     // with one of packages, the first word is a command and no package
	boolean  []string // flags without a value
	valued   []string // flags with one, in the next word
	exact    func(spec string) error
}

var (
	npmFlags = []string{"-y", "--yes", "-q", "--quiet", "-s", "--silent", "--no", "--no-install", "--ignore-existing", "--prefer-offline", "--offline"}
	uvFlags  = []string{"-q", "--quiet", "-v", "--verbose", "--isolated", "-n", "--no-cache", "--offline", "--no-config", "--no-progress", "--refresh"}
	npm      = runner{
		packages: []string{"-p", "--package"}, command: true, boolean: npmFlags,
		valued: []string{"--registry", "--cache", "--prefix", "--loglevel"}, exact: exactNPM,
	}
	uv = runner{
		packages: []string{"--from", "--with"}, command: true, boolean: uvFlags,
		valued: []string{"--python", "--index-url", "-i", "--default-index", "--index", "--cache-dir"}, exact: exactPython,
	}
	runners = []runner{
		npm.as("npx"), npm.as("npm", "exec"), npm.as("npm", "x"), npm.as("pnpm", "dlx"), npm.as("pnpx"), npm.as("bunx"), npm.as("yarn", "dlx"),
		uv.as("uvx"), uv.as("uv", "tool", "run"),
		{
			words: []string{"pipx", "run"}, packages: []string{"--spec"}, command: true, exact: exactPython,
			boolean: []string{"-q", "--quiet", "-v", "--verbose", "--no-cache"}, valued: []string{"--python", "--index-url", "-i", "--pip-args"},
		},
		engine("docker"), engine("podman"), engine("nerdctl"),
	}
	engines = []string{"docker", "podman", "nerdctl"}
)

func (r runner) as(words ...string) runner {
	r.words = words
	return r
}

// engine is a runner of images (https://docs.docker.com/reference/cli/docker/container/run/).
func engine(program string) runner {
	return runner{
		words: []string{program, "run"}, exact: exactImage,
		boolean: []string{
			"-i", "--interactive", "-t", "--tty", "-it", "-ti", "-d", "--detach", "--rm", "--init", "--privileged", "--read-only", "-P", "--publish-all",
			"--no-healthcheck", "-q", "--quiet", "--oom-kill-disable",
		},
		valued: []string{
			"-e", "--env", "--env-file", "-v", "--volume", "--mount", "-w", "--workdir", "--name", "--network", "--net", "-u", "--user", "-p", "--publish",
			"-l", "--label", "--entrypoint", "--platform", "-h", "--hostname", "--cpus", "-m", "--memory", "--cap-add", "--cap-drop", "--security-opt",
			"--tmpfs", "--add-host", "--pull", "--ulimit", "--pids-limit", "--log-driver", "--shm-size", "--device", "--gpus", "--dns",
		},
	}
}

// pinned holds that a command which fetches what it starts names one version of it. The error says what to write. A flag
// that is not known is refused, for what follows it could be its value or the package.
func pinned(argv []string) error {
	if len(argv) == 0 {
		return nil
	}
	program := strings.TrimSuffix(strings.TrimSuffix(path.Base(strings.ReplaceAll(argv[0], `\`, "/")), ".exe"), ".cmd")
	for _, r := range runners {
		if after := len(r.words) - 1; r.words[0] == program && len(argv) > after && slices.Equal(argv[1:1+after], r.words[1:]) {
			return r.check(argv[1+after:])
		}
	}
	if slices.Contains(engines, program) {
		return fmt.Errorf("joy cannot tell which image this starts; write %s run IMAGE@sha256:…", program)
	}
	return nil
}

// check goes through what follows the runner's own words.
func (r runner) check(args []string) error {
	named := false
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		flag, value, joined := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			if len(args) == 0 {
				return errors.New("it names no package")
			}
			return r.word(args[0], named)
		case !strings.HasPrefix(arg, "-"):
			return r.word(arg, named)
		case slices.Contains(r.packages, flag):
			if !joined {
				if len(args) == 0 {
					return fmt.Errorf("%s names no package", flag)
				}
				value, args = args[0], args[1:]
			}
			if err := r.exact(value); err != nil {
				return err
			}
			named = named || flag != "--with" // which adds to what is started
		case slices.Contains(r.boolean, arg), joined && slices.Contains(r.valued, flag):
		case slices.Contains(r.valued, flag) && len(args) > 0:
			args = args[1:]
		default:
			return fmt.Errorf("joy does not know the flag %s of %s, so it cannot tell which package is started", flag, strings.Join(r.words, " "))
		}
	}
	if named {
		return nil
	}
	return errors.New("it names no package")
}

// word judges the first word that is no flag.
func (r runner) word(word string, named bool) error {
	if named && r.command {
		return nil
	}
	return r.exact(word)
}

func exactNPM(spec string) error {
	m := npmSpec.FindStringSubmatch(spec)
	switch {
	case m == nil:
		return fmt.Errorf("%q is no name and exact version of a package; write NAME@1.2.3", spec)
	case m[2] == "":
		return fmt.Errorf("%s has no version, so it may be another program tomorrow; write npx -y %s@1.2.3 with the version you mean", spec, m[1])
	case !npmExact.MatchString(m[2]):
		return fmt.Errorf("%s is no exact version, so it may be another program tomorrow; write npx -y %s@1.2.3 with the version you mean", spec, m[1])
	}
	return nil
}

func exactPython(spec string) error {
	m := pySpec.FindStringSubmatch(spec)
	switch {
	case m == nil:
		return fmt.Errorf("%q is no name and exact version of a package; write NAME==1.2.3", spec)
	case !pyExact.MatchString(m[2]):
		return fmt.Errorf("%s is no exact version, so it may be another program tomorrow; write %s==1.2.3 with the version you mean", spec, m[1])
	}
	return nil
}

func exactImage(spec string) error {
	if imageSpec.MatchString(spec) {
		return nil
	}
	name, _, _ := strings.Cut(spec, "@")
	return fmt.Errorf("%s is no digest, and a tag may be another image tomorrow; write %s@sha256:… (docker image inspect shows it)", spec, name)
}
