//go:build linux

package connection

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// A server of the tests is this test's own program under another argument: the environment is the connection's to set.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "server:") {
		serve(strings.TrimPrefix(os.Args[1], "server:"))
		return
	}
	m.Run()
}

// serve speaks just enough of the protocol to misbehave in one way.
func serve(how string) {
	in := bufio.NewReader(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	calls := 0
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var req struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Cursor    string          `json:"cursor"`
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(line, &req) != nil || req.ID == nil {
			continue
		}
		reply := func(format string, args ...any) {
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":`+format+"}\n", append([]any{req.ID}, args...)...)
			out.Flush()
		}
		switch req.Method {
		case "initialize":
			reply(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"test","version":"7"}}`)
		case "tools/list":
			list(how, req.Params.Cursor, reply)
		case "tools/call":
			calls++
			answer(how, calls, req.Params.Arguments, reply)
		default:
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no %s"}}`+"\n", req.ID, req.Method)
			out.Flush()
		}
	}
}

const plainTool = `{"name":"act","inputSchema":{"type":"object"}}`

func list(how, cursor string, reply func(string, ...any)) {
	switch how {
	case "pages":
		page := 0
		_, _ = fmt.Sscanf(cursor, "p%d", &page)
		var tools []string
		for i := range 50 {
			tools = append(tools, fmt.Sprintf(`{"name":"tool%d","inputSchema":{"type":"object"}}`, page*50+i))
		}
		next := ""
		if page == 0 {
			next = `,"nextCursor":"p1"`
		}
		reply(`{"tools":[%s]%s}`, strings.Join(tools, ","), next)
	case "same cursor":
		reply(`{"tools":[],"nextCursor":"again"}`)
	case "one tool too many":
		tools := make([]string, MaxTools+1)
		for i := range tools {
			tools[i] = fmt.Sprintf(`{"name":"tool%d","inputSchema":{"type":"object"}}`, i)
		}
		reply(`{"tools":[%s]}`, strings.Join(tools, ","))
	case "two of a name":
		reply(`{"tools":[%s,%s]}`, plainTool, plainTool)
	case "no name":
		reply(`{"tools":[{"inputSchema":{}}]}`)
	case "odd definition":
		reply(`{"tools":[{"x-custom":{"b":1.0,"a":18446744073709551615},"name":"act","inputSchema":{"type":"object","maximum":9007199254740993}}]}`)
	case "noise":
		_, _ = os.Stdout.WriteString("npm warn deprecated x@1\n{ this is no JSON\n")
		reply(`{"tools":[%s]}`, plainTool)
	default:
		reply(`{"tools":[%s]}`, plainTool)
	}
}

func answer(how string, calls int, args json.RawMessage, reply func(string, ...any)) {
	switch how {
	case "20 MB":
		reply(`{"content":[{"type":"text","text":"%s"}]}`, strings.Repeat("x", 20<<20))
	case "dies once":
		marker := os.Args[2]
		if _, err := os.Stat(marker); err != nil {
			_ = os.WriteFile(marker, nil, 0o600)
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		reply(`{"content":[]}`)
	case "never":
	case "verbatim":
		reply(`{"z":1,"structuredContent":{"n":9007199254740993,"f":1.0,"got":%s},"content":[{"type":"zzz"}],"x":1e400}`, args)
	case "asks":
		reply(`{"resultType":"input_required","inputRequests":{}}`)
	default:
		reply(`{"content":[{"type":"text","text":"call %d"}],"isError":%t}`, calls, how == "fails")
	}
}
