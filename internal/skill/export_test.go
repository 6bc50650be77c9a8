package skill

// RuleIDs are the ids of all rules of needs, for the test that none is without a bundle of its own.
func RuleIDs() (ids []string) {
	for _, table := range [][]rule{sandboxRules, toolRules, networkRules} {
		for _, r := range table {
			ids = append(ids, r.id)
		}
	}
	return ids
}
