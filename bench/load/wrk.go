package load

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"time"
)

var (
	wrkRequests = regexp.MustCompile(`(\d+) requests in ([0-9.]+)(m?s)`)
	wrkMedian   = regexp.MustCompile(`50%\s+([0-9.]+(?:us|ms|s))`)
	wrkBad      = regexp.MustCompile(`Non-2xx or 3xx responses: (\d+)|Socket errors: (.*)`)
)

// Wrk sends GET requests with wrk, one thread: the lightest client there is, so it takes the least from the server
// beside it.
func Wrk(address, path, apiKey string, conns int, d time.Duration) (Result, error) {
	seconds := strconv.Itoa(max(1, int(d.Seconds())))
	out, err := exec.Command("wrk", "-t1", "-c"+strconv.Itoa(conns), "-d"+seconds, "--latency", "-H", "x-api-key: "+apiKey,
		"http://"+address+path).CombinedOutput()
	if err != nil {
		return Result{}, fmt.Errorf("wrk: %w: %s", err, out)
	}
	if bad := wrkBad.FindString(string(out)); bad != "" {
		return Result{}, fmt.Errorf("wrk: %s", bad)
	}
	m := wrkRequests.FindStringSubmatch(string(out))
	if m == nil {
		return Result{}, fmt.Errorf("wrk: no figures in %s", out)
	}
	var r Result
	if r.Requests, err = strconv.Atoi(m[1]); err != nil {
		return r, err
	}
	if r.Elapsed, err = time.ParseDuration(m[2] + m[3]); err != nil {
		return r, err
	}
	if p := wrkMedian.FindStringSubmatch(string(out)); p != nil {
		r.P50, err = time.ParseDuration(p[1])
	}
	return r, err
}
