// Package clients drives running servers with the public client modules, unmodified.
// SIGNALBOX_ADDR names one that is open to everybody, SIGNALBOX_TOKENS_ADDR one that asks for tokens, of which
// SIGNALBOX_TOKEN is a management token; tools/test-clients.mjs starts both servers and sets the three.
package clients

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
)

// run is part of every name, so that one server can be tested again.
var run = func() string {
	bytes := make([]byte, 4)
	_, _ = rand.Read(bytes)
	return hex.EncodeToString(bytes)
}()

func address(t *testing.T) string {
	t.Helper()
	value := os.Getenv("SIGNALBOX_ADDR")
	if value == "" {
		t.Skip("SIGNALBOX_ADDR names no server")
	}
	return value
}

func connect(t *testing.T) *api.Client {
	t.Helper()
	client, err := api.NewClient(&api.Config{Address: address(t)})
	must(t, err)
	return client
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// value fails the test when the call did; it drops the answer's meta data.
func value[T, M any](answer T, _ M, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		must(t, err)
		return answer
	}
}

// refused fails the test unless the call was refused with this status.
func refused(t *testing.T, status int, err error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), fmt.Sprint(status)) {
		t.Fatalf("wanted a refusal with %d, got %v", status, err)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// until waits at most 20 s for something that the server does in its own time.
func until(t *testing.T, what string, ready func() bool) {
	t.Helper()
	for start := time.Now(); time.Since(start) < 20*time.Second; time.Sleep(50 * time.Millisecond) {
		if ready() {
			return
		}
	}
	t.Fatalf("waited in vain: %s", what)
}

func name(t *testing.T) string {
	return strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-")) + "-" + run
}

// shell is a job with one group `web` of one task `main` that runs a shell script.
func shell(t *testing.T, kind, script string) *api.Job {
	id := name(t)
	task := api.NewTask("main", "raw_exec").SetConfig("command", "/bin/sh").SetConfig("args", []string{"-c", script})
	cpu, memory := 20, 16
	task.Require(&api.Resources{CPU: &cpu, MemoryMB: &memory})
	group := api.NewTaskGroup("web", 1).AddTask(task)
	job := &api.Job{ID: &id, Name: &id, Type: &kind, Datacenters: []string{"*"}}
	return job.AddTaskGroup(group)
}

const forever = "trap 'exit 0' TERM INT; while true; do sleep 0.1; done"

// registered registers the job and stops it when the test ends.
func registered(t *testing.T, client *api.Client, job *api.Job) *api.JobRegisterResponse {
	t.Helper()
	answer := value(client.Jobs().Register(job, nil))(t)
	t.Cleanup(func() { _, _, _ = client.Jobs().Deregister(*job.ID, true, nil) })
	return answer
}

// running registers the job and waits for its first allocation to run.
func running(t *testing.T, client *api.Client, job *api.Job) *api.Allocation {
	t.Helper()
	registered(t, client, job)
	return reached(t, client, *job.ID, api.AllocClientStatusRunning)
}

// reached waits until an allocation of the job has the status.
func reached(t *testing.T, client *api.Client, jobID, status string) *api.Allocation {
	t.Helper()
	var found string
	until(t, "an allocation of "+jobID+" is "+status, func() bool {
		for _, stub := range value(client.Jobs().Allocations(jobID, true, nil))(t) {
			if stub.ClientStatus == status {
				found = stub.ID
			}
		}
		return found != ""
	})
	return value(client.Allocations().Info(found, nil))(t)
}

// raw is the JSON document at the path, as the server printed it.
func raw(t *testing.T, path string) any {
	t.Helper()
	answer, err := http.Get(address(t) + path)
	must(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(t, err)
	equal(t, "status of "+path+": "+string(text), answer.StatusCode, 200)
	var document any
	must(t, json.Unmarshal(text, &document))
	return document
}
