package console

import (
	"strings"

	"github.com/vigiahq/vigia/internal/operator"
)

// section is a line of the menu.
type section struct{ path, label, icon string }

// sectionGroup is a part of the menu: sections of the console under one label.
type sectionGroup struct {
	label    string
	sections []section
}

// menu is the console's table of contents. What an operator may not open is left out.
var menu = []sectionGroup{
	{"", []section{{"/", "Visão geral", "chart"}}},
	{"Clientes", []section{
		{"/partners", "Parceiros", "building"},
		{"/plans", "Planos", "plan"},
		{"/subscriptions", "Assinaturas", "card"},
	}},
	{"Proteção", []section{
		{"/findings", "Ocorrências", "warn"},
		{"/monitoring", "Dados monitorados", "eye"},
		{"/breaches", "Vazamentos", "leak"},
		{"/feeds", "Fontes", "feed"},
		{"/passwords", "Senhas vazadas", "key"},
		{"/cases", "Casos", "board"},
		{"/services", "Serviços", "lifebuoy"},
		{"/devices", "Dispositivos", "phone"},
		{"/content", "Conteúdo", "text"},
	}},
	{"Avisos", []section{
		{"/deliveries", "Entregas", "send"},
		{"/events", "Eventos", "bell"},
		{"/messages", "Mensagens", "text"},
	}},
	{"Privacidade", []section{
		{"/subjects", "Titulares", "person"},
		{"/incidents", "Incidentes", "siren"},
		{"/keys", "Chaves de cifra", "lock"},
	}},
	{"Sistema", []section{
		{"/jobs", "Tarefas", "gear"},
		{"/exports", "Exportações", "out"},
		{"/audit", "Auditoria", "list"},
		{"/operators", "Operadores", "people"},
	}},
}

// isMenuAllowed reports whether the operator may open a page of the menu.
func isMenuAllowed(who operator.Operator, path string) bool {
	if path == "/" {
		path = "/{$}"
	}
	rt := findRoute("GET " + path)
	return rt != nil && rt.isOpenTo(who)
}

// portalMenu is the table of contents for a partner's people; {id} is the partner's.
var portalMenu = []sectionGroup{
	{"", []section{{"/", "Visão geral", "chart"}}},
	{"Pessoas", []section{
		{"/subscriptions", "Assinaturas", "card"},
		{"/findings", "Ocorrências", "warn"},
		{"/monitoring", "Dados monitorados", "eye"},
		{"/cases", "Casos", "board"},
		{"/devices", "Dispositivos", "phone"},
	}},
	{"Privacidade", []section{
		{"/subjects", "Titulares", "person"},
		{"/incidents", "Incidentes", "siren"},
	}},
	{"Integração", []section{
		{"/partners/{id}", "Chaves e webhooks", "key"},
		{"/deliveries", "Entregas", "send"},
		{"/events", "Eventos", "bell"},
		{"/partners/{id}/requests", "Requisições", "list"},
		{"/partners/{id}/usage", "Uso e limites", "chart"},
	}},
	{
		"Empresa",
		[]section{
			{"/exports", "Exportações", "out"},
			{"/operators", "Equipe", "people"},
			{"/audit", "Auditoria", "list"},
		},
	},
}

// menuForOperator returns the menu, reduced to the pages that the operator may open.
func menuForOperator(r *request) []menuGroup {
	table := menu
	if r.who.Partner != "" {
		table = portalMenu
	}
	var groups []menuGroup
	for _, g := range table {
		group := menuGroup{Label: g.label}
		for _, s := range g.sections {
			if !isMenuAllowed(r.who, s.path) {
				continue
			}
			path := strings.ReplaceAll(s.path, "{id}", string(r.scope.at.ID))
			current := path == r.URL.Path || path != "/" && strings.HasPrefix(r.URL.Path, path+"/")
			group.Items = append(group.Items, menuItem{path, s.label, s.icon, current})
		}
		if len(group.Items) > 0 {
			groups = append(groups, group)
		}
	}
	return groups
}
