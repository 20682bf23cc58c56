package feed_test

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// hibpService is a stand-in for the account API of Have I Been Pwned, version 3, as its documentation tells it: what is
// asked with which headers, what is answered, and how calls beyond the rate are refused. Its fields are set before it
// is asked.
type hibpService struct {
	// Key is the one that it takes.
	Key string
	// Rpm is how many calls it takes before it says to wait; 0: any number. Block is for how long: a minute, shorter in
	// tests. It does not look at how long the calls before took, because a busy machine never makes so many in a time.
	Rpm   int
	Block time.Duration
	// KAnon says that the plan has searches by range.
	KAnon bool
	// Accounts are the breaches of addresses, by name.
	Accounts map[string][]string
	// Catalogue is what is told of breaches.
	Catalogue []catalogued
	// Others is how many hashes of other people a range has.
	Others int

	once   sync.Once
	ranges map[string][]suffix
	filler []byte // as JSON, without the brackets of its list

	mu    sync.Mutex
	until time.Time // when it takes calls again
	taken int

	// What it was asked by range, and how often it said to wait.
	Ranges, Refused atomic.Int64
}

// catalogued is a breach of the catalogue.
type catalogued struct {
	Name        string   `json:"Name"`
	Title       string   `json:"Title"`
	BreachDate  string   `json:"BreachDate"`
	DataClasses []string `json:"DataClasses"`
	IsVerified  bool     `json:"IsVerified"`
	IsSensitive bool     `json:"IsSensitive"`
}

type suffix struct {
	HashSuffix string   `json:"hashSuffix"`
	Websites   []string `json:"websites"`
}

// prefixLength is what of a hash is told.
const prefixLength = 6

func (s *hibpService) index() {
	s.ranges = map[string][]suffix{}
	for address, names := range s.Accounts {
		sum := sha1.Sum([]byte(strings.ToLower(address)))
		hash := strings.ToUpper(hex.EncodeToString(sum[:]))
		s.ranges[hash[:prefixLength]] = append(s.ranges[hash[:prefixLength]], suffix{hash[prefixLength:], names})
	}
	var list []string
	for i := range s.Others {
		sum := sha1.Sum(fmt.Appendf(nil, "somebody else %d", i))
		list = append(
			list,
			fmt.Sprintf(`{"hashSuffix":"%X","websites":["Elsewhere","Elsewhere Again"]}`, sum[prefixLength/2:]),
		)
	}
	s.filler = []byte(strings.Join(list, ","))
}

// ServeHTTP answers below /api/v3.
func (s *hibpService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.once.Do(s.index)
	path, ok := strings.CutPrefix(r.URL.Path, "/api/v3")
	switch {
	case r.Method != http.MethodGet || !ok:
		w.WriteHeader(http.StatusNotFound)
		return
	case r.Header.Get("User-Agent") == "":
		w.WriteHeader(http.StatusForbidden)
		return
	case path == "/breaches":
		answer(w, s.Catalogue)
		return
	case r.Header.Get("hibp-api-key") != s.Key:
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if wait := s.limit(); wait > 0 {
		s.Refused.Add(1)
		w.Header().Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	s.keyed(w, path)
}

// limit takes a call, or says for how long it takes none.
func (s *hibpService) limit() time.Duration {
	if s.Rpm == 0 {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	block := s.Block
	if block == 0 {
		block = time.Minute
	}
	now := time.Now()
	if s.taken++; s.taken <= s.Rpm {
		return 0
	}
	if s.taken == s.Rpm+1 {
		s.until = now.Add(block)
	}
	if now.Before(s.until) {
		return s.until.Sub(now)
	}
	s.taken = 1
	return 0
}

func (s *hibpService) keyed(w http.ResponseWriter, path string) {
	if prefix, ok := strings.CutPrefix(path, "/breachedaccount/range/"); ok {
		s.Ranges.Add(1)
		s.byRange(w, prefix)
		return
	}
	switch path {
	case "/subscription/status":
		answer(w, map[string]any{"SubscriptionName": "Pro 1", "Rpm": s.Rpm, "IncludesKAnon": s.KAnon})
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (s *hibpService) byRange(w http.ResponseWriter, prefix string) {
	if _, err := hex.DecodeString(prefix); err != nil || len(prefix) != prefixLength {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if !s.KAnon {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	found := s.ranges[strings.ToUpper(prefix)]
	if len(found)+len(s.filler) == 0 {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	text, err := json.Marshal(found)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	text = bytes.TrimSuffix(bytes.TrimPrefix(text, []byte("[")), []byte("]"))
	if len(found) == 0 {
		text = nil
	}
	parts := [][]byte{s.filler, text}
	if len(s.filler) == 0 || len(text) == 0 {
		parts = [][]byte{append(slices.Clip(s.filler), text...)}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(slices.Concat([]byte("["), bytes.Join(parts, []byte(",")), []byte("]"))) // whoever asked has gone
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // whoever asked has gone
}
