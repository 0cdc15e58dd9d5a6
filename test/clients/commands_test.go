package clients

// The calls of the upstream's command line, in its order and with its options: what one command needs from the server
// to come to its end, rather than each call by itself.

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
	"github.com/hashicorp/nomad/api/contexts"
)

// evaluated follows an evaluation as `monitor` does: by polling it and its allocations, then the evaluations after it.
func evaluated(t *testing.T, client *api.Client, id string) *api.Evaluation {
	t.Helper()
	var evaluation *api.Evaluation
	until(t, "evaluation "+id+" ends", func() bool {
		evaluation = value(client.Evaluations().Info(id, nil))(t)
		allocations := value(client.Evaluations().Allocations(id, nil))(t)
		for _, allocation := range allocations {
			equal(t, "allocation of the evaluation", allocation.EvalID, id)
		}
		return evaluation.Status == api.EvalStatusComplete || evaluation.Status == api.EvalStatusFailed ||
			evaluation.Status == api.EvalStatusCancelled
	})
	return evaluation
}

// settled follows a deployment as `deployment status -monitor` does: by blocking reads that may be stale.
func settled(t *testing.T, client *api.Client, id string) *api.Deployment {
	t.Helper()
	q := &api.QueryOptions{AllowStale: true, WaitIndex: 1, WaitTime: 2 * time.Second}
	for start := time.Now(); time.Since(start) < 30*time.Second; {
		deployment, meta, err := client.Deployments().Info(id, q)
		must(t, err)
		equal(t, "deployments tell their index", meta.LastIndex > 0, true)
		if deployment.Status != api.DeploymentStatusRunning {
			value(client.Deployments().Allocations(id, nil))(t)
			return deployment
		}
		q.WaitIndex = meta.LastIndex
	}
	t.Fatal("the deployment does not end")
	return nil
}

// byPrefix finds the one job with this prefix as all commands do that take a job's ID.
func byPrefix(t *testing.T, client *api.Client, prefix string) *api.JobListStub {
	t.Helper()
	query := &api.QueryOptions{Prefix: prefix, Namespace: "*", AllowStale: true}
	jobs := value(client.Jobs().List(query))(t)
	equal(t, "jobs with the prefix", len(jobs), 1)
	return jobs[0]
}

func TestCommandJobRun(t *testing.T) {
	client := connect(t)
	id := name(t)
	source := strings.ReplaceAll(`
variable "text" {
  default = "one"
}
job "NAME" {
  type = "service"
  group "web" {
    network {
      port "http" {}
    }
    service {
      name     = "NAME"
      port     = "http"
      provider = "nomad"
    }
    update {
      min_healthy_time = "0s"
      health_check     = "task_states"
    }
    task "main" {
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args    = ["-c", "echo ${var.text}; trap 'exit 0' TERM INT; while true; do sleep 0.1; done"]
      }
      resources {
        cpu    = 20
        memory = 16
      }
    }
  }
}`, "NAME", id)
	parse := &api.JobsParseRequest{JobHCL: source, Variables: `text = "two"`, Canonicalize: true}
	job, err := client.Jobs().ParseHCLOpts(parse)
	must(t, err)
	equal(t, "variables", strings.Contains(job.TaskGroups[0].Tasks[0].Config["args"].([]any)[1].(string), "echo two"), true)

	// job validate
	checked := value(client.Jobs().Validate(job, &api.WriteOptions{Region: "global"}))(t)
	equal(t, "validation", checked.Error, "")

	// job plan: exit code and index for -check-index
	planned := value(client.Jobs().PlanOpts(job, &api.PlanOptions{Diff: true}, &api.WriteOptions{Region: "global"}))(t)
	equal(t, "type of the diff", planned.Diff.Type, "Added")
	equal(t, "index to run it with", planned.JobModifyIndex, uint64(0))
	equal(t, "placements", planned.Annotations.DesiredTGUpdates["web"].Place, uint64(1))

	// job run -check-index 0
	options := &api.RegisterOptions{EnforceIndex: true, ModifyIndex: planned.JobModifyIndex, PreserveCounts: true,
		Submission: &api.JobSubmission{Source: source, Format: "hcl2", Variables: `text = "two"`, VariableFlags: map[string]string{"text": "two"}}}
	answer := value(client.Jobs().RegisterOpts(job, options, nil))(t)
	t.Cleanup(func() { _, _, _ = client.Jobs().Deregister(id, true, nil) })
	_, _, err = client.Jobs().RegisterOpts(job, options, nil)
	refused(t, 500, err)
	equal(t, "the index is told", strings.Contains(err.Error(), "job already exists"), true)
	evaluation := evaluated(t, client, answer.EvalID)
	equal(t, "no blocked evaluation", evaluation.BlockedEval, "")
	deployment := settled(t, client, evaluation.DeploymentID)
	equal(t, "status of the deployment", deployment.Status, api.DeploymentStatusSuccessful)

	// job status
	equal(t, "found by prefix", byPrefix(t, client, id[:len(id)-2]).ID, id)
	query := &api.QueryOptions{Namespace: "default"}
	info := value(client.Jobs().Info(id, query))(t)
	equal(t, "status", *info.Status, "running")
	equal(t, "running", value(client.Jobs().Summary(id, query))(t).Summary["web"].Running, 1)
	equal(t, "allocations", len(value(client.Jobs().Allocations(id, true, query))(t)), 1)
	equal(t, "evaluations", len(value(client.Jobs().Evaluations(id, query))(t)) > 0, true)
	equal(t, "latest deployment", value(client.Jobs().LatestDeployment(id, query))(t).ID, deployment.ID)
	equal(t, "services", len(value(client.Jobs().Services(id, query))(t)), 1)

	// job inspect -hcl
	submission := value(client.Jobs().Submission(id, int(*info.Version), query))(t)
	equal(t, "source", submission.Source, source)

	// job plan of the second version, and history -p
	count := 2
	info.TaskGroups[0].Count = &count
	planned = value(client.Jobs().PlanOpts(info, &api.PlanOptions{Diff: true}, nil))(t)
	equal(t, "type of the diff", planned.Diff.Type, "Edited")
	equal(t, "index to run it with", planned.JobModifyIndex, *info.JobModifyIndex)
	answer = value(client.Jobs().RegisterOpts(info, &api.RegisterOptions{EnforceIndex: true, ModifyIndex: planned.JobModifyIndex}, nil))(t)
	settled(t, client, evaluated(t, client, answer.EvalID).DeploymentID)
	versions, diffs, _, err := client.Jobs().Versions(id, true, query)
	must(t, err)
	equal(t, "versions", len(versions), 2)
	equal(t, "diffs", len(diffs), 1)

	// job scale, revert, stop
	count = 1
	scaled := value(client.Jobs().Scale(id, "web", &count, "submitted using the command line", false, nil, nil))(t)
	settled(t, client, evaluated(t, client, scaled.EvalID).DeploymentID)
	reverted := value(client.Jobs().Revert(id, 0, nil, nil, "", ""))(t)
	evaluated(t, client, reverted.EvalID)
	stopped := value(client.Jobs().DeregisterOpts(id, &api.DeregisterOptions{Purge: false, Global: false}, nil))(t)
	evaluated(t, client, stopped)
	equal(t, "stopped", *value(client.Jobs().Info(id, query))(t).Stop, true)

	// job start: the newest version, without Stop
	versions, _, _, err = client.Jobs().VersionsOpts(id, &api.VersionsOptions{}, query)
	must(t, err)
	no := false
	versions[0].Stop = &no
	evaluated(t, client, value(client.Jobs().Register(versions[0], nil))(t).EvalID)
}

func TestCommandBlocked(t *testing.T) {
	client := connect(t)
	job := shell(t, "service", forever)
	job.Constraints = []*api.Constraint{api.NewConstraint("${attr.kernel.name}", "=", "none-such")}
	evaluation := evaluated(t, client, registered(t, client, job).EvalID)
	metrics := evaluation.FailedTGAllocs["web"]
	equal(t, "why", metrics.ConstraintFiltered["${attr.kernel.name} = none-such"], metrics.NodesFiltered)
	equal(t, "evaluated", metrics.NodesEvaluated > 0, true)
	blocked := value(client.Evaluations().Info(evaluation.BlockedEval, nil))(t)
	equal(t, "blocked", blocked.Status, "blocked")
	// eval status with a prefix; eval list of the blocked ones
	equal(t, "by prefix", len(value(client.Evaluations().PrefixList(blocked.ID[:13]))(t)), 1)
	q := &api.QueryOptions{Filter: `Status == "blocked" and JobID == "` + *job.ID + `"`, PerPage: 5, Reverse: true, AllowStale: true}
	equal(t, "listed", value(client.Evaluations().List(q))(t)[0].ID, blocked.ID)
}

func TestCommandAllocation(t *testing.T) {
	client := connect(t)
	job := shell(t, "service", "echo first; echo wrong >&2; "+forever)
	allocation := running(t, client, job)
	// alloc status -stats -verbose: by the prefix that the list shows, on whichever server
	list := value(client.Allocations().PrefixList(allocation.ID[:8]))(t)
	equal(t, "by prefix", list[0].ID, allocation.ID)
	info := value(client.Allocations().Info(list[0].ID, &api.QueryOptions{Namespace: list[0].Namespace}))(t)
	usage := value2(client.Allocations().Stats(info, nil))(t)
	equal(t, "usage of the task", usage.Tasks["main"] != nil && usage.Tasks["main"].ResourceUsage != nil, true)
	_, err := client.Allocations().Checks(info.ID, nil)
	must(t, err)
	node := value(client.Nodes().Info(info.NodeID, nil))(t)
	equal(t, "address", node.HTTPAddr != "", true)
	// alloc logs -tail -n 1 main: the end of the file, cut into lines by the client
	frames, errors := client.AllocFS().Logs(info, false, "main", "stdout", "end", 64, nil, nil)
	reader := api.NewFrameReader(frames, errors, make(chan struct{}))
	text, err := io.ReadAll(reader)
	must(t, err)
	equal(t, "end of the log", string(text), "first\n")
	// alloc logs -f -stderr, ended by a signal
	cancel := make(chan struct{})
	frames, errors = client.AllocFS().Logs(info, true, "main", "stderr", "start", 0, cancel, nil)
	select {
	case frame := <-frames:
		equal(t, "followed", string(frame.Data), "wrong\n")
	case err := <-errors:
		t.Fatal(err)
	case <-time.After(10 * time.Second):
		t.Fatal("no frame")
	}
	close(cancel)
	// alloc fs -stat, -H, and a file
	root, _, err := client.AllocFS().List(info, "/", nil)
	must(t, err)
	equal(t, "folders", len(root) >= 2, true)
	file := value(client.AllocFS().Stat(info, "alloc/logs/main.stdout.0", nil))(t)
	equal(t, "a file", file.IsDir, false)
	content, err := client.AllocFS().ReadAt(info, "alloc/logs/main.stdout.0", file.Size-3, 3, nil)
	must(t, err)
	text, err = io.ReadAll(content)
	must(t, err)
	equal(t, "end of the file", string(text), "st\n")
	// alloc exec -t=false
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	out := &strings.Builder{}
	code, err := client.Allocations().Exec(ctx, info, "main", false, []string{"/bin/sh", "-c", "cat; exit 4"}, strings.NewReader("in"), out, io.Discard, nil, nil)
	must(t, err)
	equal(t, "code", code, 4)
	equal(t, "output", out.String(), "in")
	// alloc restart, signal, stop; then the monitor of its evaluation
	must(t, client.Allocations().Restart(info, "main", nil))
	must(t, client.Allocations().RestartAllTasks(info, nil))
	reached(t, client, *job.ID, "running")
	until(t, "a signal is taken", func() bool { return client.Allocations().Signal(info, nil, "main", "SIGWINCH") == nil })
	stopped, err := client.Allocations().Stop(info, nil)
	must(t, err)
	evaluated(t, client, stopped.EvalID)
}

func TestCommandNode(t *testing.T) {
	client := connect(t)
	// node status -self
	self, err := client.Agent().Self()
	must(t, err)
	id := self.Stats["client"]["node_id"]
	equal(t, "the agent has a node", len(id), 36)
	nodes := value(client.Nodes().PrefixListOpts(id, &api.QueryOptions{AllowStale: true}))(t)
	equal(t, "nodes", len(nodes), 1)
	// node status -stats
	node := value(client.Nodes().Info(id, nil))(t)
	stats, err := client.Nodes().Stats(id, nil)
	must(t, err)
	equal(t, "memory", stats.Memory != nil && stats.Memory.Total > 0, true)
	equal(t, "processors", len(stats.CPU) > 0, true)
	equal(t, "disks", len(stats.DiskStats) > 0, true)
	equal(t, "cycles", stats.CPUTicksConsumed > 0, true)
	equal(t, "uptime", stats.Uptime > 0, true)
	equal(t, "resources", node.NodeResources.Memory.MemoryMB > 0 && node.NodeResources.Cpu.CpuShares > 0, true)
	for _, allocation := range value(client.Nodes().Allocations(id, &api.QueryOptions{Namespace: "*"}))(t) {
		equal(t, "allocations of the node are whole", allocation.Job != nil && allocation.AllocatedResources != nil, true)
	}
	// node status -os -quiet, with the columns of its list
	listed := value(client.Nodes().List(&api.QueryOptions{Params: map[string]string{"os": "true", "resources": "true"}}))(t)
	equal(t, "system", listed[0].Attributes["os.name"] != "", true)
	// node drain -enable -monitor -m
	drained := value2(client.Nodes().UpdateDrainOpts(id, &api.DrainOptions{
		DrainSpec: &api.DrainSpec{Deadline: time.Minute}, Meta: map[string]string{"message": "works"}}, nil))(t)
	t.Cleanup(func() { _, _ = client.Nodes().UpdateDrain(id, nil, true, nil) })
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	messages := 0
	for range client.Nodes().MonitorDrain(ctx, id, drained.EvalCreateIndex, false) {
		messages++
	}
	must(t, ctx.Err())
	equal(t, "messages", messages > 0, true)
	equal(t, "message", value(client.Nodes().Info(id, nil))(t).LastDrain.Meta["message"], "works")
	_, err = client.Nodes().UpdateDrain(id, nil, true, nil)
	must(t, err)
}

func TestCommandStatus(t *testing.T) {
	client := connect(t)
	job := shell(t, "batch", "exit 0")
	registered(t, client, job)
	allocation := reached(t, client, *job.ID, "complete")
	for prefix, context := range map[string]contexts.Context{
		*job.ID: contexts.Jobs, allocation.ID: contexts.Allocs, allocation.EvalID: contexts.Evals, allocation.NodeID: contexts.Nodes,
	} {
		found := value(client.Search().PrefixSearch(prefix, contexts.All, &api.QueryOptions{Namespace: "*"}))(t)
		equal(t, "matches of "+string(context), len(found.Matches[context]), 1)
		equal(t, "truncated", found.Truncations[context], false)
	}
}

func TestCommandServer(t *testing.T) {
	client := connect(t)
	// server members
	members, err := client.Agent().Members()
	must(t, err)
	equal(t, "members", len(members.Members), 1)
	tags := members.Members[0].Tags
	for _, tag := range []string{"region", "dc", "port", "build"} {
		equal(t, "tag "+tag, tags[tag] != "", true)
	}
	leader, err := client.Status().RegionLeader(tags["region"])
	must(t, err)
	equal(t, "leader", leader, members.Members[0].Addr+":"+tags["port"])
	regions, err := client.Regions().List()
	must(t, err)
	equal(t, "region", regions[0], tags["region"])
	region, err := client.Agent().Region()
	must(t, err)
	equal(t, "region of the agent", region, tags["region"])
	for _, read := range []func() (string, error){client.Agent().NodeName, client.Agent().Datacenter} {
		text, err := read()
		must(t, err)
		equal(t, "told", text != "", true)
	}
	// operator metrics -pretty -format prometheus
	for _, format := range []string{"", "prometheus"} {
		text, err := client.Operator().Metrics(&api.QueryOptions{Params: map[string]string{"format": format, "pretty": "1"}})
		must(t, err)
		equal(t, "metrics as "+format, len(text) > 100, true)
	}
	// operator api: any path, as text
	body, err := client.Raw().Response("/v1/jobs?per_page=1", &api.QueryOptions{Params: map[string]string{"pretty": ""}})
	must(t, err)
	_ = body.Close()
	must(t, client.System().GarbageCollect())
	must(t, client.System().ReconcileSummaries())
	// monitor -log-level debug -json, of the server and of its node
	for _, params := range []map[string]string{{"log_level": "debug", "log_json": "true"}, {"log_level": "info", "node_id": theNode(t, client).ID}} {
		stop := make(chan struct{})
		frames, errors := client.Agent().Monitor(stop, &api.QueryOptions{Params: params})
		select {
		case <-frames:
		case err := <-errors:
			t.Fatal(err)
		case <-time.After(200 * time.Millisecond):
		}
		close(stop)
	}
}

// value2 is for calls that answer without meta data.
func value2[T any](answer T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		must(t, err)
		return answer
	}
}
