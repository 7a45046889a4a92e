// Check-proof verifies the proofs of Signalbox with the packages of the Go team, without a line of Signalbox:
//
//	check-proof VKEY inclusion PROOF EVENT
//	check-proof VKEY consistency OLDER-CHECKPOINT NEWER-CHECKPOINT HASHES
//
// PROOF is a .tlog-proof file, EVENT the event's line as it was exported, and HASHES the JSON of /consistency.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func main() {
	if len(os.Args) < 5 {
		fail(fmt.Errorf("usage: check-proof VKEY inclusion PROOF EVENT, or VKEY consistency OLDER NEWER HASHES"))
	}
	verifier, err := note.NewVerifier(os.Args[1])
	fail(err)
	switch os.Args[2] {
	case "inclusion":
		inclusion(verifier, read(os.Args[3]), read(os.Args[4]))
	case "consistency":
		consistency(verifier, read(os.Args[3]), read(os.Args[4]), read(os.Args[5]))
	default:
		fail(fmt.Errorf("expected inclusion or consistency"))
	}
}

func inclusion(verifier note.Verifier, file, line []byte) {
	parts := strings.SplitN(string(file), "\n\n", 2)
	lines := strings.Split(parts[0], "\n")
	if len(parts) != 2 || lines[0] != "c2sp.org/tlog-proof@v1" {
		fail(fmt.Errorf("not a proof"))
	}
	lines = lines[1:]
	if strings.HasPrefix(lines[0], "extra ") {
		lines = lines[1:]
	}
	index, err := strconv.ParseInt(strings.TrimPrefix(lines[0], "index "), 10, 64)
	fail(err)
	tree := checkpoint(verifier, []byte(parts[1]))
	digest := sha256.Sum256(bytes.TrimSuffix(line, []byte("\n")))
	fail(tlog.CheckRecord(hashes(lines[1:]), tree.N, tree.Hash, index, tlog.RecordHash(digest[:])))
	fmt.Printf("the line is event %d of the %d in the checkpoint\n", index, tree.N)
}

func consistency(verifier note.Verifier, older, newer, answer []byte) {
	var proof struct{ Hashes []string }
	fail(json.Unmarshal(answer, &proof))
	from, to := checkpoint(verifier, older), checkpoint(verifier, newer)
	if from.N != to.N {
		fail(tlog.CheckTree(hashes(proof.Hashes), to.N, to.Hash, from.N, from.Hash))
	} else if from != to {
		fail(fmt.Errorf("two checkpoints of one size with different roots"))
	}
	fmt.Printf("the first %d of the %d events are those of the older checkpoint\n", from.N, to.N)
}

// Checkpoint returns the tree of a checkpoint that the verifier signed.
func checkpoint(verifier note.Verifier, text []byte) tlog.Tree {
	opened, err := note.Open(text, note.VerifierList(verifier))
	fail(err)
	lines := strings.Split(opened.Text, "\n")
	if lines[0] != verifier.Name() {
		fail(fmt.Errorf("the checkpoint is of the log %s", lines[0]))
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	fail(err)
	root, err := tlog.ParseHash(lines[2])
	fail(err)
	return tlog.Tree{N: size, Hash: root}
}

func hashes(lines []string) []tlog.Hash {
	var all []tlog.Hash
	for _, line := range lines {
		hash, err := tlog.ParseHash(line)
		fail(err)
		all = append(all, hash)
	}
	return all
}

func read(name string) []byte {
	content, err := os.ReadFile(name)
	fail(err)
	return content
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "check-proof:", err)
		os.Exit(1)
	}
}
