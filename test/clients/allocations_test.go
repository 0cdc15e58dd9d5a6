package clients

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
)

func TestAllocation(t *testing.T) {
	client := connect(t)
	job := shell(t, "service", "echo hello; "+forever)
	allocation := running(t, client, job)
	allocations := client.Allocations()
	equal(t, "job", allocation.JobID, *job.ID)
	equal(t, "state", allocation.TaskStates["main"].State, "running")
	equal(t, "by prefix", len(value(allocations.PrefixList(allocation.ID[:8]))(t)), 1)
	filtered := value(allocations.List(&api.QueryOptions{Filter: `JobID == "` + *job.ID + `"`}))(t)
	equal(t, "filtered", len(filtered), 1)
	_, err := allocations.Stats(allocation, nil)
	must(t, err)
	_, err = allocations.Checks(allocation.ID, nil)
	must(t, err)
	must(t, allocations.Restart(allocation, "main", nil))
	until(t, "the task restarted", func() bool {
		return value(allocations.Info(allocation.ID, nil))(t).TaskStates["main"].Restarts == 1
	})
	must(t, allocations.RestartAllTasks(allocation, nil))
	until(t, "the task restarted again", func() bool {
		state := value(allocations.Info(allocation.ID, nil))(t).TaskStates["main"]
		return state.Restarts == 2 && state.State == "running"
	})
	must(t, allocations.Signal(allocation, nil, "main", "SIGUSR2"))
	stopped, err := allocations.Stop(value(allocations.Info(allocation.ID, nil))(t), nil)
	must(t, err)
	if stopped.EvalID == "" {
		t.Fatal("stopped without an evaluation")
	}
	until(t, "it is complete and replaced", func() bool {
		old := value(allocations.Info(allocation.ID, nil))(t)
		return old.ClientStatus == "complete" && old.NextAllocation != ""
	})
}

func TestFiles(t *testing.T) {
	client := connect(t)
	job := shell(t, "service", "echo one; echo two >&2; printf abcdef > local/file.txt; "+forever)
	allocation := running(t, client, job)
	fs := client.AllocFS()
	until(t, "the file is written", func() bool {
		file, _, err := fs.Stat(allocation, "main/local/file.txt", nil)
		return err == nil && file.Size == 6
	})
	files := value(fs.List(allocation, "main/local", nil))(t)
	equal(t, "files", len(files), 1)
	cat, err := fs.Cat(allocation, "main/local/file.txt", nil)
	must(t, err)
	equal(t, "content", text(t, cat), "abcdef")
	part, err := fs.ReadAt(allocation, "main/local/file.txt", 2, 3, nil)
	must(t, err)
	equal(t, "part", text(t, part), "cde")
	_, _, err = fs.Stat(allocation, "../../../etc/passwd", nil)
	if err == nil {
		t.Fatal("read outside of the allocation")
	}
	stop := make(chan struct{})
	defer close(stop)
	frames, failures := fs.Stream(allocation, "main/local/file.txt", "start", 0, stop, nil)
	equal(t, "streamed", string(frame(t, frames, failures)), "abcdef")
	logs, failures := fs.Logs(allocation, true, "main", "stdout", "start", 0, stop, nil)
	equal(t, "log", string(frame(t, logs, failures)), "one\n")
	errors, failures := fs.Logs(allocation, false, "main", "stderr", "start", 0, stop, nil)
	equal(t, "error log", string(frame(t, errors, failures)), "two\n")
}

func text(t *testing.T, reader io.ReadCloser) string {
	t.Helper()
	defer reader.Close()
	content, err := io.ReadAll(reader)
	must(t, err)
	return string(content)
}

// frame is the next frame that carries data.
func frame(t *testing.T, frames <-chan *api.StreamFrame, failures <-chan error) []byte {
	t.Helper()
	timeout := time.After(10 * time.Second)
	for {
		select {
		case next, open := <-frames:
			if !open {
				t.Fatal("the stream ended")
			}
			if len(next.Data) > 0 {
				return next.Data
			}
		case err := <-failures:
			t.Fatal(err)
		case <-timeout:
			t.Fatal("no frame came")
		}
	}
}

func TestExec(t *testing.T) {
	client := connect(t)
	allocation := running(t, client, shell(t, "service", forever))
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	var stdout, stderr bytes.Buffer
	command := []string{"/bin/sh", "-c", "cat; echo bad >&2; exit 7"}
	code, err := client.Allocations().Exec(ctx, allocation, "main", false, command, strings.NewReader("in\n"), &stdout, &stderr, nil, nil)
	must(t, err)
	equal(t, "exit code", code, 7)
	equal(t, "stdout", stdout.String(), "in\n")
	equal(t, "stderr", stderr.String(), "bad\n")
}

func TestAction(t *testing.T) {
	client := connect(t)
	job := shell(t, "service", forever)
	job.TaskGroups[0].Tasks[0].Actions = []*api.Action{{Name: "greet", Command: "/bin/echo", Args: []string{"good", "day"}}}
	allocation := running(t, client, job)
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	var stdout, stderr bytes.Buffer
	code, err := client.Jobs().ActionExec(ctx, allocation, *job.ID, "main", false, nil, "greet", strings.NewReader(""), &stdout, &stderr, nil, nil)
	must(t, err)
	equal(t, "exit code", code, 0)
	equal(t, "stdout", stdout.String(), "good day\n")
}

func TestTemplate(t *testing.T) {
	client := connect(t)
	job := shell(t, "batch", "cat local/out.txt")
	text, path := `{{ env "NOMAD_META_who" }}`, "local/out.txt"
	task := job.TaskGroups[0].Tasks[0]
	task.SetMeta("who", "world")
	task.Templates = []*api.Template{{EmbeddedTmpl: &text, DestPath: &path}}
	registered(t, client, job)
	allocation := reached(t, client, *job.ID, "complete")
	stop := make(chan struct{})
	defer close(stop)
	logs, failures := client.AllocFS().Logs(allocation, false, "main", "stdout", "start", 0, stop, nil)
	equal(t, "rendered", string(frame(t, logs, failures)), "world")
}

func TestPorts(t *testing.T) {
	client := connect(t)
	job := shell(t, "service", "echo $NOMAD_PORT_http; "+forever)
	job.TaskGroups[0].Networks = []*api.NetworkResource{{DynamicPorts: []api.Port{{Label: "http"}}}}
	allocation := running(t, client, job)
	ports := allocation.AllocatedResources.Shared.Ports
	equal(t, "ports", len(ports), 1)
	equal(t, "a port is given", ports[0].Value > 0, true)
}

func TestEvaluations(t *testing.T) {
	client := connect(t)
	job := shell(t, "batch", "exit 0")
	answer := registered(t, client, job)
	reached(t, client, *job.ID, "complete")
	read := value(client.Evaluations().Info(answer.EvalID, nil))(t)
	equal(t, "trigger", read.TriggeredBy, "job-register")
	equal(t, "allocations", len(value(client.Evaluations().Allocations(answer.EvalID, nil))(t)), 1)
	equal(t, "by prefix", len(value(client.Evaluations().PrefixList(answer.EvalID[:8]))(t)), 1)
	filter := &api.QueryOptions{Filter: `JobID == "` + *job.ID + `"`}
	list := value(client.Evaluations().List(filter))(t)
	equal(t, "counted", value(client.Evaluations().Count(filter))(t).Count, len(list))
}
