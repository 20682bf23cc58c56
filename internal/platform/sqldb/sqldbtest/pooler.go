package sqldbtest

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Pooler is a PgBouncer in front of a PostgreSQL, with its default configuration but for the pool mode.
type Pooler struct {
	folder, port string
	backend      *url.URL
	process      *exec.Cmd
}

// NewPooler starts a PgBouncer in front of a server. An empty mode is PgBouncer's default, session.
func NewPooler(t testing.TB, address, mode string) *Pooler {
	t.Helper()
	backend, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(free.Addr().String())
	_ = free.Close()
	folder, err := os.MkdirTemp("", "vigia-pooler-") // PgBouncer's own user must reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	p := &Pooler{folder: folder, port: port, backend: backend}
	t.Cleanup(p.Stop)
	p.Start(t, mode)
	return p
}

// Address returns the backend's address by way of the pooler.
func (p *Pooler) Address() string {
	u := *p.backend
	u.Host = "127.0.0.1:" + p.port
	return u.String()
}

func (p *Pooler) Start(t testing.TB, mode string) {
	t.Helper()
	host, port, _ := net.SplitHostPort(p.backend.Host)
	config := fmt.Sprintf(
		"[databases]\n* = host=%s port=%s\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %s\nunix_socket_dir "+
			"=\nauth_type = trust\nauth_file = %s\n",
		host,
		port,
		p.port,
		filepath.Join(p.folder, "users"),
	)
	if mode != "" {
		config += "pool_mode = " + mode + "\n"
	}
	for name, text := range map[string]string{"config": config, "users": `"` + p.backend.User.Username() + `" ""`} {
		if err := os.WriteFile(filepath.Join(p.folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(p.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	program := "pgbouncer"
	if _, err := exec.LookPath(program); err != nil {
		program = "/usr/sbin/pgbouncer" // not in everybody's path
	}
	args := []string{"--quiet", filepath.Join(p.folder, "config")}
	if os.Geteuid() == 0 {
		args = append([]string{"--user", "nobody"}, args...)
	}
	p.process = exec.Command(program, args...)
	p.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.process.Start(); err != nil {
		t.Fatal("PgBouncer is needed: run scripts/install-tools:", err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", "127.0.0.1:"+p.port)
		if err == nil {
			_ = conn.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("PgBouncer does not answer:", err)
		}
	}
}

// Stop ends the pooler and all its connections at once.
func (p *Pooler) Stop() {
	_ = p.process.Process.Kill()
	_ = p.process.Wait()
}
