package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/platform/polltest"
)

// deployFile is a file of the folder deploy, with some of its text replaced; every replacement has to be possible.
func deployFile(t *testing.T, name string, replace ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(string(text), replace[i]) {
			t.Fatalf("%s has no %q", name, replace[i])
		}
	}
	return strings.NewReplacer(replace...).Replace(string(text))
}

// startBalancer starts a program until the test ends. As root it is found where Debian puts it.
func startBalancer(t *testing.T, program string, args ...string) {
	t.Helper()
	gatetest.Needs(t, gatetest.Programs)
	if _, err := exec.LookPath(program); err != nil {
		program = "/usr/sbin/" + program
	}
	cmd := exec.Command(program, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	output, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		t.Fatal("run scripts/install-tools:", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // its workers end with it
		_ = cmd.Wait()
		_ = output.Close()
		if text, err := os.ReadFile(output.Name()); t.Failed() {
			t.Log(string(text), err)
		}
	})
}

// TestBalancers starts each of the balancers that deploy/ has an example for, before two replicas: these see the
// address of the caller, not the balancer's, and what a caller claims in a header does not count.
func TestBalancers(t *testing.T) {
	folder, logFile := t.TempDir(), filepath.Join(t.TempDir(), "log")
	logText := func() string { text, _ := os.ReadFile(logFile); return string(text) }
	replicas := []*server{newServer(t, binary(t, ""), folder, ""), newServer(t, binary(t, ""), folder, "")}
	for _, s := range replicas {
		s.args = append(s.args, "--trusted-proxies", "127.0.0.1/32", "--log-file", logFile, "--log-format", "json")
		s.start(t)
		t.Cleanup(s.kill)
	}
	for _, b := range exampleBalancers([2]string{replicas[0].address, replicas[1].address}) {
		t.Run(b.name, func(t *testing.T) {
			_, port, _ := net.SplitHostPort(freeAddress(t))
			b.start(t, port)
			from := map[string]string{"haproxy": "127.0.0.11", "nginx": "127.0.0.12", "caddy": "127.0.0.13"}[b.name]
			dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
			client := &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}}
			awaitTrue(t, func() bool {
				req, _ := http.NewRequestWithContext(
					context.Background(),
					http.MethodGet,
					"http://127.0.0.1:"+port+"/v1/cyber/services",
					http.NoBody,
				)
				req.Header.Set("X-Forwarded-For", "203.0.113.9")
				res, err := client.Do(req)
				if err != nil {
					return false
				}
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
				return res.StatusCode == http.StatusForbidden // no key was sent
			})
			// A log line comes after its answer.
			awaitTrue(t, func() bool {
				return strings.Contains(logText(), `"`+from+`"`)
			})
			if strings.Contains(logText(), "203.0.113.9") {
				t.Error("the address that a caller made up was believed")
			}
		})
	}
}

// exampleBalancer is a program that deploy/ has an example for.
type exampleBalancer struct {
	name  string
	start func(t *testing.T, port string)
}

// exampleBalancers are those that deploy/ has an example for, before two replicas.
func exampleBalancers(replicas [2]string) []exampleBalancer {
	return []exampleBalancer{
		{"haproxy", func(t *testing.T, port string) {
			path := filepath.Join(t.TempDir(), "haproxy.cfg")
			writeFile(t, path, deployFile(t, "haproxy.cfg", "maxconn 20000", "maxconn 100", "bind :8080", "bind 127.0.0.1:"+port, "api-1:8080", replicas[0], "api-2:8080", replicas[1]))
			startBalancer(t, "haproxy", "-db", "-f", path)
		}},
		{"nginx", func(t *testing.T, port string) {
			folder := t.TempDir()
			writeFile(t, filepath.Join(folder, "vigia.conf"), deployFile(t, "nginx.conf",
				"listen 8080", "listen 127.0.0.1:"+port, "api-1:8080", replicas[0], "api-2:8080", replicas[1]))
			main := "daemon off; worker_processes 1; pid " + folder + "/pid; error_log stderr; events {}\n" +
				"http { access_log off; client_body_temp_path " + folder + "; proxy_temp_path " + folder + "; fastcgi_temp_path " + folder +
				"; uwsgi_temp_path " + folder + "; scgi_temp_path " + folder + "; include " + folder + "/vigia.conf; }\n"
			if os.Geteuid() == 0 {
				main = "user root; " + main
			}
			writeFile(t, filepath.Join(folder, "nginx.conf"), main)
			startBalancer(t, "nginx", "-p", folder, "-e", "stderr", "-c", filepath.Join(folder, "nginx.conf"))
		}},
		{"caddy", func(t *testing.T, port string) {
			path := filepath.Join(t.TempDir(), "Caddyfile")
			writeFile(t, path, "{\n\tadmin off\n}\n"+deployFile(t, "Caddyfile",
				"api.example.com {", "http://127.0.0.1:"+port+" {", "api-1:8080 api-2:8080 {", replicas[0]+" "+replicas[1]+" {"))
			startBalancer(t, "caddy", "run", "--adapter", "caddyfile", "--config", path)
		}},
	}
}

// TestBalancersWithoutReplicas: while no replica answers, each balancer says by itself what the service would: 503, when
// to come back, a code for programs, and the body that the contract has for the area.
func TestBalancersWithoutReplicas(t *testing.T) {
	for _, b := range exampleBalancers([2]string{freeAddress(t), freeAddress(t)}) {
		t.Run(b.name, func(t *testing.T) {
			_, port, _ := net.SplitHostPort(freeAddress(t))
			b.start(t, port)
			for path, want := range map[string]string{
				"/v1/cyber/services":       `{"statusCode":503,"message":"Erro de Aplicação"}`,
				"/v1/subscriptions?page=1": `{"message":"Erro de Aplicação"}`,
				"/subscription-moves":      `{"message":"Erro de Aplicação"}`,
			} {
				var res *http.Response
				var body []byte
				awaitTrue(t, func() bool {
					req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+port+path, http.NoBody)
					if err != nil {
						t.Fatal(err)
					}
					if res, err = http.DefaultClient.Do(req); err != nil {
						return false // it does not listen yet
					}
					body, err = io.ReadAll(res.Body)
					_ = res.Body.Close()
					// haproxy tells the areas apart once its checks have found the replicas gone.
					return err == nil && string(body) == want
				})
				difftest.Check(t, path+", the status", res.StatusCode, http.StatusServiceUnavailable)
				header := res.Header.Clone()
				header.Set("Retry-After", "10")
				header.Set("x-error-code", "server.unavailable")
				difftest.Check(t, path+", the header", res.Header, header)
				if kind := res.Header.Get("content-type"); !strings.HasPrefix(kind, "application/json") {
					t.Errorf("%s: %s %s", path, kind, body)
				}
			}
		})
	}
}

// awaitTrue asks again and again, for a minute at most.
func awaitTrue(t *testing.T, is func() bool) {
	t.Helper()
	polltest.Watch(t, func() (string, bool) {
		return "did not come true", is()
	})
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestUnits has systemd itself check the units, in a tree where the packages' files are.
func TestUnits(t *testing.T) {
	gatetest.Needs(t, gatetest.Programs)
	root := t.TempDir()
	folder := filepath.Join(root, "etc/systemd/system")
	for _, path := range []string{folder, filepath.Join(root, "usr/bin"), filepath.Join(root, "bin")} {
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, program := range []string{"usr/bin/vigia", "usr/bin/find", "bin/sh"} {
		if err := os.WriteFile(filepath.Join(root, program), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"verify", "--man=no", "--recursive-errors=yes", "--root=" + root}
	for _, unit := range []string{"vigia.service", "vigia-backup.service", "vigia-backup.timer"} {
		writeFile(t, filepath.Join(folder, unit), deployFile(t, unit))
		args = append(args, unit)
	}
	for _, target := range []string{"network-online.target", "multi-user.target", "timers.target", "sysinit.target", "basic.target", "shutdown.target", "time-set.target", "time-sync.target", "system.slice", "-.slice", "-.mount", "tmp.mount", "postgresql.service"} {
		text := "[Unit]\nDescription=" + target + "\nDefaultDependencies=no\n"
		if target == "postgresql.service" {
			text += "[Service]\nExecStart=/usr/bin/vigia\n"
		}
		if strings.HasSuffix(target, ".mount") {
			text += "[Mount]\nWhat=tmpfs\nWhere=" + map[string]string{"-.mount": "/", "tmp.mount": "/tmp"}[target] + "\n"
		}
		writeFile(t, filepath.Join(folder, target), text)
	}
	out, err := exec.Command("systemd-analyze", args...).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze: %v\n%s", err, out)
	}
}
