package main

import (
	"strings"

	"github.com/alecthomas/kong"
)

// examples are command lines for the commands whose own help shows none: most do one thing, and a line says it all. A
// test parses every example, and asks for one where there is none.
var examples = map[string]string{
	"migrate":               "vigia migrate --data /var/lib/vigia",
	"partner list":          "vigia partner list --json",
	"partner show":          "vigia partner show pt_0198c0de7a00",
	"partner suspend":       "vigia partner suspend pt_0198c0de7a00",
	"partner resume":        "vigia partner resume pt_0198c0de7a00",
	"partner grant-looks":   "vigia partner grant-looks pt_0198c0de7a00 --count 300000",
	"partner release-looks": "vigia partner release-looks pt_0198c0de7a00",
	"partner theme show":    "vigia partner theme show pt_0198c0de7a00",
	"key list":              "vigia key list --partner pt_0198c0de7a00",
	"key roll":              "vigia key roll --partner pt_0198c0de7a00 --key k_0198c0de7a01 --overlap 24h",
	"key revoke":            "vigia key revoke --partner pt_0198c0de7a00 --key k_0198c0de7a01",
	"keys rotate":           "vigia keys rotate --data /var/lib/vigia",
	"keys status":           "vigia keys status --json",
	"service list":          "vigia service list --json",
	"service edit":          "vigia service edit sv_0198c0de7a02 --name 'Backup na nuvem' --position 3",
	"service retire":        "vigia service retire sv_0198c0de7a02",
	"passwords status":      "vigia passwords status --json",
	"passwords verify":      "vigia passwords verify --data /var/lib/vigia",
	"webhook list":          "vigia webhook list --partner pt_0198c0de7a00",
	"webhook show":          "vigia webhook show we_0198c0de7a03",
	"webhook rotate":        "vigia webhook rotate we_0198c0de7a03",
	"webhook enable":        "vigia webhook enable we_0198c0de7a03",
	"webhook disable":       "vigia webhook disable we_0198c0de7a03",
	"webhook delete":        "vigia webhook delete we_0198c0de7a03",
	"operator list":         "vigia operator list --json",
	"operator role":         "vigia operator role --email ana@exemplo.com.br --role support",
	"operator reset":        "vigia operator reset --email ana@exemplo.com.br",
	"operator disable":      "vigia operator disable --email ana@exemplo.com.br",
	"operator enable":       "vigia operator enable --email ana@exemplo.com.br",
	"operator logout":       "vigia operator logout --email ana@exemplo.com.br",
	"breach list":           "vigia breach list --json",
	"breach show":           "vigia breach show --name loja-exemplo",
	"breach verify":         "vigia breach verify --name loja-exemplo",
	"breach retract":        "vigia breach retract --name loja-exemplo",
	"feed list":             "vigia feed list --json",
	"feed pause":            "vigia feed pause parceiro-sftp",
	"feed resume":           "vigia feed resume parceiro-sftp",
	"feed run":              "vigia feed run parceiro-sftp",
	"feed show":             "vigia feed show nimbo --json",
	"feed rotate":           "vigia feed rotate nimbo",
	"feed remove":           "vigia feed remove nimbo",
	"asset list":            "vigia asset list --partner pt_0198c0de7a00 --user-hash e3d5a09299b744db",
	"plan list":             "vigia plan list --partner pt_0198c0de7a00",
	"plan show":             "vigia plan show protecao-familia --partner pt_0198c0de7a00",
	"plan retire":           "vigia plan retire protecao-familia --partner pt_0198c0de7a00",
	"version":               "vigia version --json",
}

// addExamples puts them where --help and the manual page look.
func addExamples(node *kong.Node) {
	for _, child := range node.Children {
		if line, ok := examples[child.Path()]; ok {
			child.Detail = strings.TrimSpace(child.Detail + "\n\nExample:\n  " + line)
		}
		addExamples(child)
	}
}
