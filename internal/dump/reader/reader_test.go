package reader

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/dump/container"
)

// The test program is also the processes that the tests look at.
func init() {
	if len(os.Args) < 2 {
		return
	}
	switch command, _, _ := strings.Cut(os.Args[1], ":"); command {
	case "probe":
		probe(strings.Split(os.Args[1], ":")[1:])
		os.Exit(0)
	case "misbehave":
		misbehave(strings.TrimPrefix(os.Args[1], "misbehave:"))
		os.Exit(0)
	}
}

// probe tries to reach what a reader must not reach, and prints what it reached. It is given whether to be confined, a
// file with keys and addresses of sockets.
func probe(args []string) {
	confined, keys, tcp, udp, unixSocket := args[0] == "confined", args[1], args[2], args[3], args[4]
	defer time.NewTicker(time.Hour).Stop() // as child does
	if confined {
		confineProcess(omitted{})
	}
	opened := func(c io.Closer, err error) error {
		if err == nil {
			err = c.Close()
		}
		return err
	}
	for _, try := range []struct {
		name string
		open func() error
	}{
		{"key file", func() error { return opened(os.Open(keys)) }},
		{"folder", func() error { return opened(os.Open(filepath.Dir(keys))) }},
		{"new file", func() error { return opened(os.Create(keys + ".new")) }},
		{"TCP", func() error { return opened(net.Dial("tcp", "127.0.0.1:"+tcp)) }},
		{"listen", func() error { return opened(net.Listen("tcp", "127.0.0.1:0")) }},
		{"UDP", func() error { return opened(net.Dial("udp", "127.0.0.1:"+udp)) }},
		{"Unix socket", func() error { return opened(net.Dial("unix", unixSocket)) }},
		{"program", func() error { return exec.Command(os.Args[0], "-test.run=^$").Run() }},
	} {
		if try.open() == nil {
			fmt.Println(try.name)
		}
	}
}

// TestReaderReachesNothing: what a reader gives up is what it could have reached before: files, the key file among
// them, folders, sockets of every kind, programs.
func TestReaderReachesNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("Landlock is Linux's")
	}
	dir := t.TempDir()
	keys := filepath.Join(dir, "keys.json")
	if err := os.WriteFile(keys, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tcp.Close() }()
	local, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = local.Close() }()
	_, port, _ := net.SplitHostPort(tcp.Addr().String())
	run := func(how string) string {
		out, err := exec.Command(os.Args[0],
			strings.Join([]string{"probe", how, keys, port, port, local.Addr().String()}, ":")).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if got := strings.Count(run("free"), "\n") + 1; got != 8 {
		t.Errorf("a free process reaches %d of 8:\n%s", got, run("free"))
	}
	if got := run("confined"); got != "" {
		t.Errorf("a confined process reaches:\n%s", got)
	}
}

// TestRunningReaderIsConfined: a reader that was started has given up its rights and knows nothing of its parent's
// environment.
func TestRunningReaderIsConfined(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("looks into /proc")
	}
	t.Setenv("VIGIA_DATABASE_URL", "postgres://secret")
	p, err := StartProcess(context.Background(), Job{Workers: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	if c := p.Confinement; c.Landlock == 0 || !c.Seccomp || !c.NoNewPrivileges || !c.NoFiles || !c.DataLimit {
		t.Errorf("%+v", c)
	}
	for file, want := range map[string]string{
		"status": "NoNewPrivs:\t1\nSeccomp:\t2\n",
		"limits": "Max open files            0                    0 ",
	} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p.cmd.Process.Pid, file))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v\n%s", file, err, text)
		}
	}
	if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.cmd.Process.Pid)); err != nil ||
		string(text) != "GOMAXPROCS=1\x00GOGC=400\x00" {
		t.Errorf("environment %q, %v", text, err)
	}
}

// misbehave is a reader that hostile data has taken over.
func misbehave(how string) {
	out := &frameWriter{w: os.Stdout}
	exitOnError(out.writeJSON(factReady, Confinement{Seccomp: how != "unconfined"}))
	exitOnError(out.writeJSON(factOpened, position{Layer: 3, Streams: 7}))
	switch how {
	case "memory":
		for held := [][]byte{}; ; {
			b := make([]byte, 8<<20)
			for i := range b {
				b[i] = 1
			}
			held = append(held, b)
			time.Sleep(time.Millisecond)
		}
	case "claim":
		limitResources(&Confinement{})
		fmt.Println(len(make([]byte, 1<<40)))
	case "time":
		for n := 0; ; n++ {
			if n < 0 {
				n = 0
			}
		}
	case "progress":
		for told := (Counters{}); ; told.Read, told.Scanned = told.Read+1<<30, told.Scanned+1<<30 {
			exitOnError(out.writeJSON(factProgress, told))
		}
	case "place":
		exitOnError(out.writeJSON(factCheckpoint, Checkpoint{At: Cursor{Input: -1}}))
		select {}
	case "panic":
		panic("as a parser does")
	case "output":
		for b := make([]byte, batchSize); ; {
			exitOnError(out.writeFrame(factSightings, b))
		}
	case "threads":
		for range 10 * mostThreads {
			go func() {
				runtime.LockOSThread()
				select {}
			}()
		}
		select {}
	case "maps", "tables":
		self, err := os.Open("/proc/self/exe")
		exitOnError(err)
		orders := bufio.NewReader(os.Stdin)
		for kind := orderJob; kind != orderEnd; { // the parent has set its limit by then
			kind, _, err = readFrame(orders, nil)
			exitOnError(err)
		}
		for {
			text := mapWholeFile(self)
			if text == nil {
				panic("no addresses are left")
			}
			populatePages(text)
		}
	case "failed":
		report := Report{Failed: "\x1b[2J maria@exemplo.com.br 529.982.247-25", NoRecords: "52998224725"}
		report.Skipped, report.Skips = 1, []container.Skip{{Name: "a", Reason: "\x1b]0;x\a 52998224725"}}
		exitOnError(out.writeJSON(factEnded, report))
		select {}
	case "nonsense":
		exitOnError(out.writeFrame('?', []byte("x")))
		select {}
	case "long":
		_, _ = os.Stdout.Write([]byte{'s', 0xff, 0xff, 0xff, 0xff})
		select {}
	}
}

// TestReaderThatExceedsALimitEnds: whatever a reader does, its parent learns why it ended and at which member it was.
func TestReaderThatExceedsALimitEnds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("memory and processor time are looked at in /proc")
	}
	defer func(c string, cpu time.Duration, room int64) { command, idleCPU, moreAddresses = c, cpu, room }(
		command, idleCPU, moreAddresses)
	for how, want := range map[string]string{
		"memory":   "memory",
		"threads":  "threads",
		"tables":   "memory",
		"maps":     "crash", // its own panic, where it gets no more
		"claim":    "memory",
		"time":     "time",
		"panic":    "crash",
		"output":   "output",
		"nonsense": "crash",
		"long":     "crash",
	} {
		if command, idleCPU = "misbehave:"+how, time.Hour; how == "time" {
			idleCPU = 200 * time.Millisecond
		}
		if moreAddresses = 1 << 46; how == "maps" {
			moreAddresses = 1 << 30
		}
		p, err := StartProcess(context.Background(), Job{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if how == "maps" || how == "tables" {
			err = p.FinishInputs()
		}
		for err == nil {
			var f Fact
			if f, err = p.Next(); f.Batch != nil {
				ReuseBatch(f.Batch)
			}
		}
		var ended *Ended
		if !errors.As(err, &ended) || *ended != (Ended{Why: want, Layer: 3, Streams: 7}) {
			t.Errorf("%s: %v, %+v", how, err, ended)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTextsOfAReaderAreCleaned: what a reader says of an input neither steers a terminal nor names anybody.
func TestTextsOfAReaderAreCleaned(t *testing.T) {
	defer func(c string) { command = c }(command)
	command = "misbehave:failed"
	p, err := StartProcess(context.Background(), Job{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	fact, err := p.Next()
	if err != nil || fact.Ended == nil {
		t.Fatal(fact, err)
	}
	for got, want := range map[string]string{
		fact.Ended.Failed:          "?[2J ***@*** ***",
		fact.Ended.NoRecords:       "***",
		fact.Ended.Skips[0].Reason: "?]0;x? ***",
	} {
		if got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// TestUnconfinedReaderIsRefused: a reader that nothing confines reads only where that was asked for.
func TestUnconfinedReaderIsRefused(t *testing.T) {
	defer func(c string) { command = c }(command)
	command = "misbehave:unconfined"
	if _, err := StartProcess(context.Background(), Job{}, nil); !errors.Is(err, ErrUnconfined) {
		t.Errorf("%v", err)
	}
	p, err := StartProcess(context.Background(), Job{Unconfined: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// TestCancelEndsReader: a reader that does nothing but its own ends with its context.
func TestCancelEndsReader(t *testing.T) {
	defer func(c string) { command = c }(command)
	command = "misbehave:time"
	ctx, cancel := context.WithCancelCause(context.Background())
	p, err := StartProcess(ctx, Job{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("enough")
	time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
	if _, err := p.Next(); !errors.Is(err, why) {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// TestBinaryTellsNoRecords: of what stands in a binary of no known kind only the identifiers are told, without a
// record; the same bytes as a text tell one.
func TestBinaryTellsNoRecords(t *testing.T) {
	row := "maria@exemplo.com:segredo123\n"
	text := strings.Repeat(row, 50)
	for name, c := range map[string]struct {
		content string
		told    bool
	}{"text": {text, true}, "binary": {strings.Repeat("\x00\x01\x02\x03", 300) + text, false}} {
		p, err := StartProcess(context.Background(), Job{Workers: 1, Span: 1 << 20, Piece: 1 << 18}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Read(Input{Name: name, Inline: true}, []byte(c.content), nil); err != nil {
			t.Fatal(err)
		}
		if err := p.FinishInputs(); err != nil {
			t.Fatal(err)
		}
		var seen, told int
		var report *Report
		for err == nil {
			var f Fact
			if f, err = p.Next(); f.Batch != nil {
				derr := DecodeBatch(f.Batch, func(s *Sighting) {
					seen++
					if s.Told || s.HasPassword {
						told++
					}
				})
				if derr != nil {
					t.Fatal(derr)
				}
			}
			if f.Ended != nil {
				report = f.Ended
			}
		}
		if !errors.Is(err, io.EOF) || report == nil {
			t.Fatal(err)
		}
		if seen == 0 || c.told != (told > 0) {
			t.Errorf("%s: %d seen, %d of them told", name, seen, told)
		}
		if !c.told && (report.Skipped != 1 || !strings.Contains(report.Skips[0].Reason, "plain text")) {
			t.Errorf("%s: %+v", name, report)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
