package skill

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"gopkg.in/yaml.v3"
)

// jsonValue turns YAML into what encoding/json writes. Integers keep their digits, so that one too large is refused
// and not rounded. On error bad is the node that has no JSON.
func jsonValue(n *yaml.Node) (v any, bad *yaml.Node, err error) {
	switch n.Kind {
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			item, bad, err := jsonValue(n.Content[i+1])
			if err != nil {
				return nil, bad, err
			}
			m[n.Content[i].Value] = item
		}
		return m, nil, nil
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			item, bad, err := jsonValue(c)
			if err != nil {
				return nil, bad, err
			}
			list[i] = item
		}
		return list, nil, nil
	default:
		v, err := jsonScalar(n)
		return v, n, err
	}
}

func jsonScalar(n *yaml.Node) (any, error) {
	switch n.Tag {
	case "!!null":
		return nil, nil
	case "!!bool":
		var b bool
		err := n.Decode(&b)
		return b, err
	case "!!int":
		var i int64 // takes 0x and 0o forms as YAML means them
		if err := n.Decode(&i); err != nil {
			return nil, fmt.Errorf("number %.40s is too large: write it as a string", n.Value)
		}
		return json.Number(strconv.FormatInt(i, 10)), nil
	case "!!float":
		var f float64
		if err := n.Decode(&f); err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("number %.40s has no place in JSON", n.Value)
		}
		return f, nil
	default:
		return n.Value, nil
	}
}
