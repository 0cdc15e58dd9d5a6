package clients

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
)

// Calls with all their options, beside the short ones that the other programs use.

func TestJobOptions(t *testing.T) {
	client := connect(t)
	jobs := client.Jobs()
	source := "variable \"who\" {}\njob \"" + name(t) + "\" {\n  meta { who = var.who }\n  group \"g\" {\n    task \"t\" { driver = \"raw_exec\" }\n  }\n}"
	parsed, err := jobs.ParseHCLOpts(&api.JobsParseRequest{JobHCL: source, Variables: `who = "me"`, Canonicalize: true})
	must(t, err)
	equal(t, "meta from a variable", parsed.Meta["who"], "me")

	job := shell(t, "service", forever)
	job.Update = fast()
	registered(t, client, job)
	latest(t, client, *job.ID, "successful")
	_, err = jobs.TagVersionOpts(*job.ID, "now", &api.TagVersionRequest{Latest: true, Description: "d"}, nil)
	must(t, err)
	equal(t, "tag", value(jobs.VersionByTag(*job.ID, "now", nil))(t).VersionTag.Description, "d")
	index := *value(jobs.Info(*job.ID, nil))(t).JobModifyIndex
	count := int64(2)
	request := &api.ScalingRequest{Count: &count, Target: map[string]string{"Group": "web"}, Message: "m", JobModifyIndex: index}
	value(jobs.ScaleWithRequest(*job.ID, request, nil))(t)
	equal(t, "count", *value(jobs.Info(*job.ID, nil))(t).TaskGroups[0].Count, 2)
	// Another index is refused.
	_, _, err = jobs.ScaleWithRequest(*job.ID, request, nil)
	if err == nil {
		t.Fatal("scaled against an old index")
	}

	parent := shell(t, "batch", "exit 0")
	id := *parent.ID + "-parent"
	parent.ID, parent.Name = &id, &id
	parent.ParameterizedJob = &api.ParameterizedJobConfig{Payload: "optional"}
	registered(t, client, parent)
	options := &api.DispatchOptions{JobID: id, IdPrefixTemplate: "mine", Priority: 70}
	child := value(jobs.DispatchOpts(options, &api.WriteOptions{IdempotencyToken: "once"}))(t)
	again := value(jobs.DispatchOpts(options, &api.WriteOptions{IdempotencyToken: "once"}))(t)
	equal(t, "dispatched once", again.DispatchedJobID, child.DispatchedJobID)
	equal(t, "prefix", strings.Contains(child.DispatchedJobID, "mine"), true)
	equal(t, "priority", *value(jobs.Info(child.DispatchedJobID, nil))(t).Priority, 70)
}

func TestDeploymentGroups(t *testing.T) {
	client := connect(t)
	update := fast()
	update.Canary = new(1)
	job := deployed(t, client, update)
	job.TaskGroups[0].Tasks[0].Env = map[string]string{"V": "2"}
	value(client.Jobs().Register(job, nil))(t)
	var deployment *api.Deployment
	until(t, "the canary is healthy", func() bool {
		deployment = value(client.Jobs().LatestDeployment(*job.ID, nil))(t)
		return deployment.JobVersion == 1 && deployment.TaskGroups["web"].HealthyAllocs == 1
	})
	// A deployment that nothing blocks stays as it is.
	value(client.Deployments().Unblock(deployment.ID, nil))(t)
	value(client.Deployments().PromoteGroups(deployment.ID, []string{"web"}, nil))(t)
	latest(t, client, *job.ID, "successful")
}

func TestEvaluationDelete(t *testing.T) {
	client := connect(t)
	job := shell(t, "batch", "exit 0")
	answer := registered(t, client, job)
	reached(t, client, *job.ID, "complete")
	// Evaluations are only deleted while none is worked on.
	_, err := client.Evaluations().Delete([]string{answer.EvalID}, nil)
	if err == nil {
		t.Fatal("deleted while evaluations are worked on")
	}
	operator := client.Operator()
	before := value(operator.SchedulerGetConfiguration(nil))(t).SchedulerConfig
	paused := *before
	paused.PauseEvalBroker = true
	value(operator.SchedulerSetConfiguration(&paused, nil))(t)
	t.Cleanup(func() { _, _, _ = operator.SchedulerSetConfiguration(before, nil) })
	filter := `JobID == "` + *job.ID + `"`
	deleted := value(client.Evaluations().DeleteOpts(&api.EvalDeleteRequest{Filter: filter}, nil))(t)
	equal(t, "deleted", deleted.Count > 0, true)
	equal(t, "left", value(client.Evaluations().Count(&api.QueryOptions{Filter: filter}))(t).Count, 0)
}

func TestCollectionOnNodes(t *testing.T) {
	client := connect(t)
	node := theNode(t, client)
	job := shell(t, "batch", "exit 0")
	registered(t, client, job)
	allocation := reached(t, client, *job.ID, "complete")
	must(t, client.Allocations().GC(allocation, nil))
	must(t, client.Nodes().GC(node.ID, nil))
	refused(t, 404, client.Nodes().GcAlloc("00000000-0000-0000-0000-000000000000", nil))
	equal(t, "by prefix", len(value(client.Nodes().PrefixListOpts(node.ID[:8], &api.QueryOptions{Params: map[string]string{"resources": "true"}}))(t)), 1)
	_, _, err := client.Nodes().Purge("00000000-0000-0000-0000-000000000000", nil)
	refused(t, 500, err)
	through, err := client.GetNodeClient(node.ID, nil)
	must(t, err)
	_, err = through.Nodes().Stats(node.ID, nil)
	must(t, err)
	_, err = client.GetNodeClientWithTimeout(node.ID, time.Second, nil)
	must(t, err)
}

func TestDrainIsFollowed(t *testing.T) {
	client := connect(t)
	node := theNode(t, client)
	job := shell(t, "service", forever)
	running(t, client, job)
	options := &api.DrainOptions{DrainSpec: &api.DrainSpec{Deadline: 10 * time.Second, IgnoreSystemJobs: true}, Meta: map[string]string{"why": "test"}}
	answer, err := client.Nodes().UpdateDrainOpts(node.ID, options, nil)
	must(t, err)
	t.Cleanup(func() { _, _ = client.Nodes().UpdateDrain(node.ID, nil, true, nil) })
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var told []string
	for message := range client.Nodes().MonitorDrain(ctx, node.ID, answer.NodeModifyIndex, false) {
		told = append(told, message.String())
		if message.Level == api.MonitorMsgLevelError {
			t.Fatal(message)
		}
	}
	must(t, ctx.Err())
	equal(t, "the drain is told", strings.Contains(strings.Join(told, "\n"), "complete"), true)
	equal(t, "meta of the drain", theNode(t, client).LastDrain.Meta["why"], "test")
}

func TestVariableLocks(t *testing.T) {
	client := connect(t)
	variables := client.Variables()
	path := "locks/" + run
	none := value(variables.Peek(path, nil))(t)
	equal(t, "nothing is there", none == nil, true)
	variable := &api.Variable{Path: path, Items: api.VariableItems{"a": "1"}, Lock: &api.VariableLock{TTL: "15s", LockDelay: "0s"}}
	held := value(variables.AcquireLock(variable, nil))(t)
	equal(t, "a lock is held", held.LockID() != "", true)
	_, _, err := variables.Update(&api.Variable{Path: path, Items: api.VariableItems{"a": "2"}}, nil)
	if err == nil {
		t.Fatal("changed while another holds the lock")
	}
	renewed := value(variables.RenewLock(&api.Variable{Path: path, Lock: held.Lock}, nil))(t)
	equal(t, "renewed", renewed.Lock.ID, held.LockID())
	value(variables.ReleaseLock(&api.Variable{Path: path, Lock: held.Lock}, nil))(t)
	equal(t, "items", value(variables.GetVariableItems(path, nil))(t)["a"], "1")
	equal(t, "items", (*value(variables.GetItems(path, nil))(t))["a"], "1")
	equal(t, "listed", len(value(variables.List(&api.QueryOptions{Prefix: path}))(t)), 1)

	locks, err := client.Locks(api.WriteOptions{}, api.Variable{Path: path + "/leased", Lock: &api.VariableLock{TTL: "10s", LockDelay: "1s"}})
	must(t, err)
	equal(t, "TTL", locks.LockTTL(), 10*time.Second)
	ran := false
	must(t, client.NewLockLeaser(locks).Start(context.Background(), func(context.Context) error { ran = true; return nil }))
	equal(t, "the protected function ran", ran, true)
	failure := errors.New("no")
	err = client.NewLockLeaser(locks).Start(context.Background(), func(context.Context) error { return failure })
	equal(t, "its error is told", errors.Is(err, failure), true)
}

func TestRaw(t *testing.T) {
	client := connect(t)
	job := shell(t, "batch", "exit 0")
	var answer api.JobRegisterResponse
	_, err := client.Raw().Write("/v1/jobs", map[string]any{"Job": job}, &answer, nil)
	must(t, err)
	var jobs []api.JobListStub
	_, err = client.Raw().Query("/v1/jobs", &jobs, &api.QueryOptions{Prefix: *job.ID})
	must(t, err)
	equal(t, "jobs", len(jobs), 1)
	body, err := client.Raw().Response("/v1/job/"+*job.ID, nil)
	must(t, err)
	equal(t, "the job is told", strings.Contains(text(t, body), *job.ID), true)
	request, err := http.NewRequest("GET", address(t)+"/v1/status/leader", nil)
	must(t, err)
	response, err := client.Raw().Do(request)
	must(t, err)
	equal(t, "status", response.StatusCode, 200)
	must(t, response.Body.Close())
	var stopped api.JobDeregisterResponse
	_, err = client.Raw().Delete("/v1/job/"+*job.ID+"?purge=true", &stopped, nil)
	must(t, err)
	equal(t, "an evaluation is told", stopped.EvalID != "", true)
}

func TestWhoAnswers(t *testing.T) {
	client := connect(t)
	agent := client.Agent()
	nodeName, err := agent.NodeName()
	must(t, err)
	equal(t, "the agent has a name", nodeName != "", true)
	datacenter, err := agent.Datacenter()
	must(t, err)
	equal(t, "datacenter", datacenter, "dc1")
	members, err := agent.MembersOpts(&api.QueryOptions{})
	must(t, err)
	equal(t, "members", len(members.Members), 1)
	leader, err := client.Status().RegionLeader("global")
	must(t, err)
	equal(t, "there is a leader", leader != "", true)
	text, err := client.Operator().Metrics(&api.QueryOptions{Params: map[string]string{"format": "prometheus"}})
	must(t, err)
	equal(t, "measurements are told", len(text) > 0, true)
	equal(t, "address", client.Address(), address(t))
	other := connect(t)
	other.SetRegion("global")
	other.SetNamespace("nowhere-" + run)
	equal(t, "jobs of a namespace that is not there", len(value(other.Jobs().List(nil))(t)), 0)
}

// TestNoStorage reads the lists of what this server has none of.
func TestNoStorage(t *testing.T) {
	client := connect(t)
	node := value(client.Nodes().List(nil))(t)[0].ID
	equal(t, "volumes", len(value(client.CSIVolumes().List(nil))(t)), 0)
	equal(t, "volumes of a plugin", len(value(client.CSIVolumes().PluginList("disks"))(t)), 0)
	ofNode, err := client.Nodes().CSIVolumes(node, nil)
	must(t, err)
	equal(t, "volumes of a node", len(ofNode), 0)
	equal(t, "volumes of hosts", len(value(client.HostVolumes().List(&api.HostVolumeListRequest{NodeID: node}, nil))(t)), 0)
	equal(t, "plugins", len(value(client.CSIPlugins().List(nil))(t)), 0)
}

func TestWhoLeads(t *testing.T) {
	client := connect(t)
	configuration := value2(client.Operator().RaftGetConfiguration(nil))(t)
	equal(t, "servers", len(configuration.Servers), 1)
	equal(t, "leader", configuration.Servers[0].Leader, true)
}
