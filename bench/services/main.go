// Command services measures GET /cyber/services and POST /cyber/password-check through the whole stack (key check,
// limits, metrics, a log line to a file) against a bare net/http handler that writes the same bytes: same client, same
// run, server in a process of its own.
package main

import (
	"context"
	"crypto/sha1"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/password"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/telemetry"
)

func main() {
	rounds := flag.Int("rounds", 15, "rounds of each side, taken in turns")
	conns := flag.Int("c", 32, "connections")
	each := flag.Duration("d", time.Second, "length of a round")
	profile := flag.String("cpuprofile", "", "write the server's profile here")
	child := flag.String("child", "", "internal: serve from this folder")
	flag.Parse()
	var err error
	if *child != "" {
		err = serve(*child, *profile)
	} else {
		err = measure(*rounds, *conns, *each, *profile)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "services:", err)
		os.Exit(1)
	}
}

// serve is the child: the service on one port and the bare handler on another.
func serve(folder, profile string) error {
	ctx := context.Background()
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	a, err := app.Open(ctx, config.Common{Data: folder}, sqldb.Options{})
	if err != nil {
		return err
	}
	_, cred, err := a.Partners.Create(ctx, "bench", partner.Live, partner.Settings{RatePerSecond: 1_000_000, Burst: 1_000_000})
	if err != nil {
		return err
	}
	if err := importPasswords(ctx, a, folder); err != nil {
		return err
	}
	logFile, err := telemetry.OpenLogFile(filepath.Join(folder, "log"))
	if err != nil {
		return err
	}
	srv, err := app.NewServer(ctx, a, config.Serve{
		Listen: "127.0.0.1:0", ConsoleListen: "127.0.0.1:0", Roles: []string{"api"}, MaxConnections: 8, StopTime: time.Second,
	}, telemetry.NewLogger(logFile, telemetry.LogOptions{Format: "json"}), "bench")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	<-srv.Ready
	bare, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	body, err := firstAnswer(srv.APIAddr.String(), cred.APIKey, http.MethodGet, "/v1/cyber/services", "")
	if err != nil {
		return err
	}
	checked, err := firstAnswer(srv.APIAddr.String(), cred.APIKey, http.MethodPost, "/v1/cyber/password-check", passwordBody)
	if err != nil {
		return err
	}
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
	fmt.Println(srv.APIAddr, bare.Addr(), cred.APIKey, len(body))
	_, _ = os.Stdin.Read(make([]byte, 1)) // until the parent goes
	stop()
	return <-done
}

const passwordBody = `{"passwordHashPrefix":"5BAA61E4C9"}`

func firstAnswer(address, key, method, path, body string) ([]byte, error) {
	req, err := http.NewRequest(method, "http://"+address+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("x-api-key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	return io.ReadAll(res.Body)
}

func measure(rounds, conns int, each time.Duration, profile string) error {
	folder, err := os.MkdirTemp("", "vigia-bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "-child", filepath.Join(folder, "data"), "-cpuprofile", profile)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var api, bare, key string
	var size int
	if _, err := fmt.Fscan(stdout, &api, &bare, &key, &size); err != nil {
		return err
	}
	client := "wrk"
	if _, err := exec.LookPath("wrk"); err != nil {
		client = "our own client (wrk is not installed: scripts/install-tools --bench)"
	}
	ask := func(address string) func() (load.Result, error) {
		if client == "wrk" {
			return func() (load.Result, error) { return load.Wrk(address, "/v1/cyber/services", key, conns, each) }
		}
		request := load.Request("GET", address, "/v1/cyber/services", key, nil)
		return func() (load.Result, error) {
			return load.Run(context.Background(), address, conns, each, func(int) []byte { return request })
		}
	}
	whole, plain, ratio, err := load.Compare(rounds, ask(api), ask(bare))
	if err != nil {
		return err
	}
	post := func(address string) func() (load.Result, error) {
		request := load.Request("POST", address, "/v1/cyber/password-check", key, []byte(passwordBody))
		return func() (load.Result, error) {
			return load.Run(context.Background(), address, conns, each, func(int) []byte { return request })
		}
	}
	check, plainCheck, checkRatio, err := load.Compare(rounds, post(api), post(bare))
	if err != nil {
		return err
	}
	rss := memory(cmd.Process.Pid)
	_ = stdin.Close()
	if err := cmd.Wait(); err != nil {
		return err
	}
	fmt.Printf("GET /cyber/services, %d bytes, %d connections of %s, best of %d rounds of %v, ratio the median of rounds\n", size, conns, client, rounds, each)
	fmt.Printf("  bare net/http      %8.0f requests/s  p50 %v\n", plain.Rate(), plain.P50)
	fmt.Printf("  whole stack        %8.0f requests/s  p50 %v\n", whole.Rate(), whole.P50)
	fmt.Printf("  ratio              %8.1f %%  (bar: 75 %%)\n", 100*ratio)
	fmt.Printf("POST /cyber/password-check, our own client\n  bare net/http      %8.0f requests/s\n  whole stack        %8.0f requests/s\n  ratio              %8.1f %%  (bar: 60 %%)\n",
		plainCheck.Rate(), check.Rate(), 100*checkRatio)
	fmt.Printf("  server memory      %s\n", rss)
	return nil
}

// memory reads the resident size of a process.
func memory(pid int) string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return "unknown"
	}
	for _, line := range strings.Split(string(raw), "\n") {
		if v, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strings.TrimSpace(v)
		}
	}
	return "unknown"
}

// importPasswords loads a small corpus: the built-in sample is no corpus for a live partner. What is measured is the
// stack around the look-up.
func importPasswords(ctx context.Context, a *app.App, folder string) error {
	var lines []byte
	for i := range 100_000 {
		lines = fmt.Appendf(lines, "%X:1\n", sha1.Sum(strconv.AppendInt(nil, int64(i), 10)))
	}
	lines = fmt.Appendf(lines, "%X:5000\n", sha1.Sum([]byte("password")))
	file := filepath.Join(folder, "hashes.txt")
	if err := os.WriteFile(file, lines, 0o600); err != nil {
		return err
	}
	inputs, err := password.Files(file)
	if err != nil {
		return err
	}
	_, err = a.Passwords.Import(ctx, password.Import{Algorithm: password.SHA1, Inputs: inputs, Source: "made up"})
	return err
}
