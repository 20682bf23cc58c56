package webhook

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// names is a DNS server in memory. Each name has a list of answers, one for each question, the last one for ever: a
// name whose list has more than one is rebound.
type names struct {
	t  *testing.T
	mu sync.Mutex
	// answers hold addresses, or "CNAME other".
	answers map[string][]string
	asked   map[string]int
}

func newNames(t *testing.T, answers map[string][]string) *names {
	return &names{t: t, answers: answers, asked: map[string]int{}}
}

// resolver speaks to the server through a pipe, as the Go resolver does to a DNS server over TCP.
func (n *names) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go n.serve(there)
		return here, nil
	}}
}

func (n *names) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		reply := n.reply(query)
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
			return
		}
	}
}

func (n *names) reply(query []byte) []byte {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil || len(m.Questions) != 1 {
		n.t.Errorf("bad DNS query: %v", err)
		return nil
	}
	q := m.Questions[0]
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	found := n.add(&m, q, strings.ToLower(strings.TrimSuffix(q.Name.String(), ".")), 0)
	if !found {
		m.RCode = dnsmessage.RCodeNameError
	}
	packed, err := m.Pack()
	if err != nil {
		n.t.Error(err)
	}
	return packed
}

func (n *names) add(m *dnsmessage.Message, q dnsmessage.Question, name string, depth int) bool {
	records, ok := n.next(name, q.Type)
	if !ok || depth > 8 {
		return false
	}
	header := dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName(name + "."), Class: dnsmessage.ClassINET}
	for _, r := range strings.Fields(strings.ReplaceAll(records, "CNAME ", "CNAME:")) {
		if alias, isAlias := strings.CutPrefix(r, "CNAME:"); isAlias {
			m.Answers = append(
				m.Answers,
				dnsmessage.Resource{
					Header: header,
					Body:   &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName(alias + ".")},
				},
			)
			n.add(m, q, alias, depth+1)
			continue
		}
		addr := netip.MustParseAddr(r)
		switch {
		case addr.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = append(
				m.Answers,
				dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: addr.As4()}},
			)
		case addr.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = append(
				m.Answers,
				dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}},
			)
		}
	}
	return true
}

// next counts the questions for each type apart, as a look-up asks for A and AAAA together.
func (n *names) next(name string, kind dnsmessage.Type) (string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := n.answers[name]
	if len(list) == 0 {
		return "", false
	}
	key := name + kind.String()
	i := min(n.asked[key], len(list)-1)
	n.asked[key]++
	return list[i], true
}
