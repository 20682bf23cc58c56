package load

import (
	"os/exec"
	"regexp"
	"strconv"
	"time"
)

var (
	wrkRequests = regexp.MustCompile(`(\d+) requests in ([0-9.]+m?s)`)
	wrkMedian   = regexp.MustCompile(`50%\s+([0-9.]+(?:us|ms|s))`)
	wrkBad      = regexp.MustCompile(`Non-2xx or 3xx responses: (\d+)|Socket errors: (.*)`)
)

// Wrk sends GET requests with wrk, one thread: the lightest client there is, so it takes the least from the server
// beside it.
func Wrk(address, path, header string, conns int, d time.Duration) (r Result) {
	seconds := strconv.Itoa(max(1, int(d.Seconds())))
	out, err := exec.Command("wrk", "-t1", "-c"+strconv.Itoa(conns), "-d"+seconds, "--latency", "-H", header, "http://"+address+path).CombinedOutput()
	m, p := wrkRequests.FindStringSubmatch(string(out)), wrkMedian.FindStringSubmatch(string(out))
	if err != nil || m == nil || wrkBad.Match(out) {
		Fail("wrk: %v: %s", err, out)
	}
	r.Requests, r.Elapsed = Must(strconv.Atoi(m[1])), Must(time.ParseDuration(m[2]))
	if p != nil {
		r.P50 = Must(time.ParseDuration(p[1]))
	}
	return r
}
