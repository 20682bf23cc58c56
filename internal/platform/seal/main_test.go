package seal

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// rotateEnv turns the test program into another process that rotates the key file named in it; see rotate_test.go.
const rotateEnv = "VIGIA_SEAL_TEST_ROTATE"

func TestMain(m *testing.M) {
	if path := os.Getenv(rotateEnv); path != "" {
		os.Exit(rotateProcess(path, os.Getenv(rotateEnv+"_TIMES")))
	}
	os.Exit(m.Run())
}

// rotateProcess prints the id of each key once Rotate has promised that it is on disk.
func rotateProcess(path, times string) int {
	n, err := strconv.Atoi(times)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	k, err := OpenKeyFile(path)
	for i := 0; i < n && err == nil; i++ {
		if err = k.RotateKey(); err == nil {
			fmt.Println(k.PrimaryID())
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// fresh makes a key file of its own for a test.
func fresh(t testing.TB) *Keys {
	t.Helper()
	k, err := CreateKeyFile(filepath.Join(t.TempDir(), "keys.json"))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func reopen(t testing.TB, path string) *Keys {
	t.Helper()
	k, err := OpenKeyFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func mustSeal(t testing.TB, k *Keys, at Place, plain string) []byte {
	t.Helper()
	sealed, err := k.Seal(at, []byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func mustUnseal(t testing.TB, k *Keys, at Place, sealed []byte, want string) {
	t.Helper()
	plain, err := k.Unseal(at, sealed)
	if err != nil {
		t.Fatalf("Unseal at %+v: %v", at, err)
	}
	if string(plain) != want {
		t.Fatalf("Unseal at %+v gave another text", at)
	}
}

func mustRotate(t testing.TB, k *Keys) {
	t.Helper()
	if err := k.RotateKey(); err != nil {
		t.Fatal(err)
	}
}
