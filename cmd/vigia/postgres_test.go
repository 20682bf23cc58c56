package main

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/gatetest"
)

// postgresServer is a PostgreSQL server of one test's own, to be killed, stopped and replaced. It is gone when the test
// ends.
type postgresServer struct {
	bin, folder string
	port        int
	owner       *syscall.Credential // nil unless the test runs as root: PostgreSQL refuses to start as root
	cmd         *exec.Cmd
	log         lockedBuffer
}

// startPostgres makes and starts a server; settings are lines of its configuration.
func startPostgres(t testing.TB, settings ...string) *postgresServer {
	t.Helper()
	s := choosePostgres(t)
	s.runProgram(
		t,
		"initdb",
		"-D",
		s.dataFolder(),
		"-U",
		"vigia",
		"-A",
		"trust",
		"-E",
		"UTF8",
		"--locale=C",
		"--no-sync",
	)
	s.Configure(t, append([]string{
		"listen_addresses = '127.0.0.1'",
		"unix_socket_directories = ''",
		"max_connections = 100",
		"shared_buffers = 32MB",
		"fsync = on",
		"synchronous_commit = on",
		"wal_level = replica",
		"log_min_error_statement = panic",
	}, settings...)...)
	s.Start(t)
	return s
}

// choosePostgres chooses programs, owner, folder and port.
func choosePostgres(t testing.TB) *postgresServer {
	t.Helper()
	gatetest.Needs(t, gatetest.PostgreSQL)
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(found) == 0 {
		path, lerr := exec.LookPath("postgres")
		if lerr != nil {
			t.Fatal("no PostgreSQL server found: run scripts/install-tools")
		}
		found = []string{filepath.Dir(path)}
	}
	version := func(dir string) int { n, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir))); return n }
	s := &postgresServer{
		bin:  slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) }),
		port: freePort(t),
	}
	// Not t.TempDir: its parents are closed to the user that the server runs as.
	if s.folder, err = os.MkdirTemp("", "vigia-pg"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.KillServer()
		if err := os.RemoveAll(s.folder); err != nil {
			t.Error(err)
		}
	})
	if os.Getuid() == 0 {
		s.runUnprivileged(t)
	}
	return s
}

// runUnprivileged has the server run as a user without rights, who then owns the folder.
func (s *postgresServer) runUnprivileged(t testing.TB) {
	t.Helper()
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		t.Fatal(err)
	}
	uid, uerr := strconv.ParseUint(u.Uid, 10, 32)
	gid, gerr := strconv.ParseUint(u.Gid, 10, 32)
	if uerr != nil || gerr != nil {
		t.Fatal(uerr, gerr)
	}
	s.owner = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	if err := os.Chown(s.folder, int(uid), int(gid)); err != nil {
		t.Fatal(err)
	}
}

// freePort returns a port that no other test uses while this one runs, even while no server listens on it: a server
// that was killed gets its own port back. It is below the range that the system assigns to connections and to port 0,
// and a lock file keeps other test programs from it.
func freePort(t testing.TB) int {
	t.Helper()
	folder := filepath.Join(os.TempDir(), "vigia-test-ports")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		port := 10_000 + rand.IntN(5_000)
		lock, err := os.OpenFile(filepath.Join(folder, strconv.Itoa(port)), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
				_ = l.Close()
				t.Cleanup(func() { _ = lock.Close() })
				return port
			}
		}
		_ = lock.Close()
	}
	t.Fatal("no free port")
	return 0
}

// dataFolder returns the folder of the cluster's files.
func (s *postgresServer) dataFolder() string { return filepath.Join(s.folder, "data") }

// programCommand is one of the server's programs, run as its owner.
func (s *postgresServer) programCommand(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir, cmd.Env = s.folder, append(os.Environ(), "HOME="+s.folder)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner, Setpgid: true, Pdeathsig: syscall.SIGQUIT}
	return cmd
}

// runProgram runs one of PostgreSQL's programs and fails the test with its output.
func (s *postgresServer) runProgram(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := s.programCommand(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// Configure adds lines to the configuration; they count from the next start.
func (s *postgresServer) Configure(t testing.TB, lines ...string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(s.dataFolder(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	if cerr := f.Close(); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
}

// ReloadSettings has the running server read its configuration again.
func (s *postgresServer) ReloadSettings(t testing.TB) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
}

// Start runs the server and returns when it answers. After a kill the old one's children may need a moment to go.
func (s *postgresServer) Start(t testing.TB) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); {
		s.log.Reset()
		s.cmd = s.programCommand("postgres", "-D", s.dataFolder(), "-p", strconv.Itoa(s.port))
		s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
		if err := s.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if s.waitUntilReady() {
			return
		}
		s.KillServer()
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the server did not start:", s.log.String())
}

// waitUntilReady waits until the last line of the server's own note says that it takes connections.
func (s *postgresServer) waitUntilReady() bool {
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); {
		note, err := os.ReadFile(filepath.Join(s.dataFolder(), "postmaster.pid"))
		lines := strings.Split(strings.TrimSpace(string(note)), "\n")
		if err == nil && lines[0] == strconv.Itoa(s.cmd.Process.Pid) && len(lines) == 8 &&
			strings.HasPrefix(lines[7], "ready") {
			return true
		}
		var status syscall.WaitStatus
		if pid, err := syscall.Wait4(
			s.cmd.Process.Pid,
			&status,
			syscall.WNOHANG,
			nil,
		); err == nil &&
			pid == s.cmd.Process.Pid {
			return false
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}

// KillServer ends the server's first process at once, as a crash of the machine would: nothing is said to clients,
// nothing is written.
func (s *postgresServer) KillServer() {
	if s.cmd != nil && s.cmd.Process != nil {
		_ = syscall.Kill(s.cmd.Process.Pid, syscall.SIGKILL)
		_ = s.cmd.Wait()
	}
}

// Address returns where clients reach the server.
func (s *postgresServer) Address() string {
	return fmt.Sprintf("postgres://vigia@127.0.0.1:%d/postgres?sslmode=disable", s.port)
}

// NewDatabaseIn makes a database whose tables live in another folder, which the server's user is made the owner of, and
// returns its address. The write-ahead log stays where it was.
func (s *postgresServer) NewDatabaseIn(t testing.TB, name, folder string) string {
	t.Helper()
	if s.owner != nil {
		if err := os.Chown(folder, int(s.owner.Uid), int(s.owner.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("pgx", s.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, statement := range []string{
		fmt.Sprintf(`CREATE TABLESPACE %s LOCATION '%s'`, name, folder), fmt.Sprintf(`CREATE DATABASE %[1]s TABLESPACE %[1]s`, name),
	} {
		if _, err := db.ExecContext(context.Background(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("postgres://vigia@127.0.0.1:%d/%s?sslmode=disable", s.port, name)
}

// Host returns the server's place in an address that names several.
func (s *postgresServer) Host() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

// NewStandby makes a copy of the running server that follows it under the given name and can be read.
func (s *postgresServer) NewStandby(t testing.TB, name string) *postgresServer {
	t.Helper()
	follower := choosePostgres(t)
	follower.runProgram(
		t,
		"pg_basebackup",
		"-D",
		follower.dataFolder(),
		"-d",
		s.Address()+"&application_name="+name,
		"-R",
		"-X",
		"stream",
		"--checkpoint=fast",
		"--no-sync",
	)
	follower.Start(t)
	return follower
}

func (s *postgresServer) PromoteStandby(t testing.TB) {
	t.Helper()
	s.runProgram(t, "pg_ctl", "promote", "-D", s.dataFolder(), "-w")
}
