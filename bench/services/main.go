// Command services measures GET /cyber/services and POST /cyber/password-check through the whole stack (key check,
// limits, metrics, a log line to a file) against a bare net/http handler that writes the same bytes: same client, same
// run, server in a process of its own.
package main

import (
	"context"
	"crypto/sha1"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/password"
)

var (
	rounds  = flag.Int("rounds", 15, "rounds of each side, taken in turns")
	conns   = flag.Int("c", 32, "connections")
	each    = flag.Duration("d", time.Second, "length of a round")
	profile = flag.String("cpuprofile", "", "write the server's profile here")
	child   = flag.String("child", "", "internal: serve from this folder")
)

const (
	servicesPath = "/v1/cyber/services"
	passwordPath = "/v1/cyber/password-check"
	passwordBody = `{"passwordHashPrefix":"5BAA61E4C9"}`
)

func main() {
	load.Main(func(ctx context.Context) {
		if *child != "" {
			serve(ctx)
			return
		}
		measure(ctx)
	})
}

// serve is the child: the service on one port and the bare handler on another.
func serve(ctx context.Context) {
	defer load.Profile(*profile)()
	s := site.NewService(ctx, *child, "sqlite")
	defer s.Close()
	importPasswords(ctx, s)
	s.Listen(ctx, "api", 8)
	body, checked := s.Ask("GET", servicesPath, nil), s.Ask("POST", passwordPath, []byte(passwordBody))
	bare := load.Must(net.Listen("tcp", "127.0.0.1:0"))
	go func() {
		_ = http.Serve(bare, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body := body
			if r.Method == http.MethodPost {
				body = checked
			}
			w.Header().Set("content-type", "application/json; charset=utf-8")
			w.Header().Set("content-length", strconv.Itoa(len(body)))
			_, _ = w.Write(body)
		}))
	}()
	fmt.Println(s.API, bare.Addr(), s.Credentials.APIKey, len(body))
	_, _ = os.Stdin.Read(make([]byte, 1)) // until the parent goes
}

func measure(ctx context.Context) {
	folder, remove := load.Folder()
	defer remove()
	cmd := load.Self("-child", filepath.Join(folder, "data"), "-cpuprofile", *profile)
	stdin, stdout := load.Must(cmd.StdinPipe()), load.Must(cmd.StdoutPipe())
	load.Check(cmd.Start())
	var api, bare, header string
	var size int
	load.Must(fmt.Fscan(stdout, &api, &bare, &header, &size))
	header = "X-Api-Key: " + header
	side := func(method, address, path string, body []byte) func() load.Result {
		request := load.Request(method, address, path, header, body)
		return func() load.Result { return load.Run(ctx, address, *conns, *each, func() []byte { return request }) }
	}
	client, get := "wrk", func(address string) func() load.Result {
		return func() load.Result { return load.Wrk(address, servicesPath, header, *conns, *each) }
	}
	if _, err := exec.LookPath("wrk"); err != nil {
		client = "our own client (wrk is not installed: scripts/install-tools --bench)"
		get = func(address string) func() load.Result { return side("GET", address, servicesPath, nil) }
	}
	gets := load.Turns(*rounds, get(api), get(bare))
	posts := load.Turns(*rounds, side("POST", api, passwordPath, []byte(passwordBody)), side("POST", bare, passwordPath, []byte(passwordBody)))
	memory := load.Memory(cmd.Process.Pid, "VmRSS")
	load.Check(stdin.Close(), cmd.Wait())
	fmt.Printf("GET /cyber/services, %d bytes, %d connections of %s, best of %d rounds of %v, ratio the median of rounds\n", size, *conns, client, *rounds, *each)
	tell(gets, 75)
	fmt.Printf("POST /cyber/password-check, our own client\n")
	tell(posts, 60)
	fmt.Printf("  server memory      %d kB\n", memory>>10)
}

func tell(sides []load.Rounds, bar int) {
	whole, bare, ratios := sides[0].Best(), sides[1].Best(), load.Ratios(sides[0], sides[1])
	fmt.Printf("  bare net/http      %8.0f requests/s  p50 %v\n", bare.Rate(), bare.P50)
	fmt.Printf("  whole stack        %8.0f requests/s  p50 %v\n", whole.Rate(), whole.P50)
	fmt.Printf("  ratio              %8.1f %%  (bar: %d %%; rounds %.2f)\n", 100*load.Median(ratios), bar, ratios)
}

// importPasswords loads a small corpus: the built-in sample is no corpus for a live partner. What is measured is the
// stack around the look-up.
func importPasswords(ctx context.Context, s *site.Service) {
	var lines []byte
	for i := range 100_000 {
		lines = fmt.Appendf(lines, "%X:1\n", sha1.Sum(strconv.AppendInt(nil, int64(i), 10)))
	}
	lines = fmt.Appendf(lines, "%X:5000\n", sha1.Sum([]byte("password")))
	file := filepath.Join(s.Data, "hashes.txt")
	load.Check(os.WriteFile(file, lines, 0o600))
	load.Must(s.Passwords.Import(ctx, password.Import{Algorithm: password.SHA1, Inputs: load.Must(password.Files(file)), Source: "made up"}))
}
