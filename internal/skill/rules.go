package skill

// RulesVersion is the version of the tables of rules. It goes into every lock: raise it with every change to a rule
// that can change a determination.
const RulesVersion = 1

// rule is one row of a table: rules_sandbox.go, rules_tool.go, rules_network.go. To add one: write the match, add the
// row, add a small bundle to the table's test, raise RulesVersion.
type rule struct {
	id     string // stable, JOY-…; it is in locks
	means  string // what a match says about the skill; opens the detail of its evidence
	reason string // why that bears on the question, for joy plan show --why and the docs

	points int // what one match counts; below zero it speaks against
	most   int // how many matches of one name count, at least 1
	least  int // of one name it takes before they count; for rules of tools and hosts

	shared bool // matches for several names count one more for each of them

	line  func(*judge, *line) []hit // asked of every line of SKILL.md's text; words are in judge
	whole func(*judge) []hit        // asked once
}

// enough points settle a question with yes. For the sandbox one point less is unsure, which is taken as yes and said;
// a tool or host that stays below is not needed.
const enough = 3

// maxHits bounds the evidence that one rule gives for one name: a reviewer needs the first places, not all of them.
const maxHits = 3

// hit is where a rule matched and what was seen there.
type hit struct {
	need     Need   // of tool and network rules
	file     string // path in the bundle; empty is SKILL.md
	line     int
	seen     string
	optional bool // the text says that it can be done without
}

// sees is the one hit of a rule without a name.
func sees(ok bool, l *line) []hit {
	if !ok {
		return nil
	}
	return []hit{{line: l.no, seen: l.text}}
}
