package load

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// Result is what a round saw.
type Result struct {
	Requests          int // or whatever was counted
	Elapsed, P50, P95 time.Duration
}

// Rate is requests a second.
func (r Result) Rate() float64 { return float64(r.Requests) / r.Elapsed.Seconds() }

// Time measures work that counts as n requests.
func Time(n int, work func()) Result {
	start := time.Now()
	work()
	took := time.Since(start)
	return Result{Requests: n, Elapsed: took, P50: took / time.Duration(max(n, 1))}
}

// Series is what a side saw, round by round.
type Series []Result

// Rates returns the requests a second of each round.
func (r Series) Rates() (list []float64) {
	for _, one := range r {
		list = append(list, one.Rate())
	}
	return list
}

// Took is how long one request of each round took.
func (r Series) Took() (list []time.Duration) {
	for _, one := range r {
		list = append(list, one.P50)
	}
	return list
}

// Turns lets sides take turns. The speed of a shared machine changes within seconds: rounds that follow each other meet
// nearly the same, so the ratio of two sides is taken round by round.
func Turns(rounds int, sides ...func() Result) []Series {
	list := make([]Series, len(sides))
	for range rounds {
		for i, side := range sides {
			list[i] = append(list[i], side())
		}
	}
	return list
}

// Side is one of those that are compared.
type Side struct {
	Name  string
	Run   func() Result
	Least float64 // the bar: what it has to reach of the first side; 0 means none
}

// Compare lets sides take turns and prints what each reached: median and all rounds, and the same of what it is of the
// first side, whose bar is judged by the median. More has to be better.
func Compare(what, unit string, sides ...Side) []Series {
	var runs []func() Result
	for _, s := range sides {
		runs = append(runs, s.Run)
	}
	took := Turns(Rounds, runs...)
	fmt.Printf("%s, medians of %d rounds\n", what, Rounds)
	for i, s := range sides {
		values, all := took[i].Rates(), ""
		for _, v := range values {
			all += " " + Figure(v)
		}
		fmt.Printf("       %-24s %10s %s (%s)", s.Name, Figure(Median(values)), unit, all[1:])
		if p50 := Median(took[i].Took()).Round(time.Microsecond); p50 > 0 {
			fmt.Printf(", p50 %v", p50)
		}
		fmt.Println()
		if i > 0 {
			s.judge(sides[0].Name, values, took[0].Rates())
		}
	}
	return took
}

// judge prints what a side's rates are of another's, round by round, and whether that keeps its bar.
func (s Side) judge(of string, rates, others []float64) {
	var ratios []float64
	for i, other := range others {
		ratios = append(ratios, rates[i]/other)
	}
	text := fmt.Sprintf("%s is %.2f of %s (rounds %.2f)", s.Name, Median(ratios), of, ratios)
	if s.Least == 0 {
		fmt.Printf("       %s\n", text)
		return
	}
	Bar(Median(ratios) >= s.Least, "%s; at least %.2f", text, s.Least)
}

// Bar prints a figure and whether it keeps its promise, and lets the program end with 1 if not.
func Bar(ok bool, format string, args ...any) {
	verdict := "ok"
	if !ok {
		verdict = "MISSED"
		missed++
	}
	fmt.Printf("%-6s %s\n", verdict, fmt.Sprintf(format, args...))
}

// Median of a list, which stays as it is.
func Median[T cmp.Ordered](list []T) T { return Percentile(list, 50) }

// Percentile of a list, which stays as it is.
func Percentile[T cmp.Ordered](list []T, percent int) T {
	return slices.Sorted(slices.Values(list))[min(len(list)*percent/100, len(list)-1)]
}

// Figure is a number as people read it: three digits that count, thousands apart.
func Figure(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a < 100:
		digits := 2 - int(math.Floor(math.Log10(a)))
		return strconv.FormatFloat(v, 'f', max(0, min(digits, 4)), 64)
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-2)
	text := strconv.FormatFloat(math.Round(v/unit)*unit, 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
