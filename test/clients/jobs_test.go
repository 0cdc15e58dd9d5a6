package clients

import (
	"errors"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
)

func TestJobLife(t *testing.T) {
	client := connect(t)
	jobs := client.Jobs()
	job := shell(t, "service", forever)
	answer := registered(t, client, job)
	if answer.EvalID == "" || answer.JobModifyIndex == 0 {
		t.Fatalf("registered without an evaluation or an index: %+v", answer)
	}
	reached(t, client, *job.ID, "running")

	read := value(jobs.Info(*job.ID, nil))(t)
	equal(t, "type", *read.Type, "service")
	equal(t, "version", *read.Version, uint64(0))
	list := value(jobs.PrefixList(*job.ID))(t)
	equal(t, "jobs with the prefix", len(list), 1)
	equal(t, "running in the summary", list[0].JobSummary.Summary["web"].Running, 1)
	filtered := value(jobs.List(&api.QueryOptions{Filter: `ID == "` + *job.ID + `"`}))(t)
	equal(t, "filtered jobs", len(filtered), 1)
	starred := value(jobs.List(&api.QueryOptions{Namespace: "*", Prefix: *job.ID}))(t)
	equal(t, "jobs of all namespaces", len(starred), 1)
	withMeta := value(jobs.ListOptions(&api.JobListOptions{Fields: &api.JobListFields{Meta: true}}, &api.QueryOptions{Prefix: *job.ID}))(t)
	equal(t, "jobs listed with meta", len(withMeta), 1)
	summary := value(jobs.Summary(*job.ID, nil))(t)
	equal(t, "summary", summary.Summary["web"].Running, 1)
	evaluations := value(jobs.Evaluations(*job.ID, nil))(t)
	if len(evaluations) == 0 {
		t.Fatal("no evaluations")
	}
	evaluationID, _, err := jobs.ForceEvaluate(*job.ID, nil)
	must(t, err)
	until(t, "the evaluation completes", func() bool {
		return value(client.Evaluations().Info(evaluationID, nil))(t).Status == "complete"
	})
	_, _, err = jobs.EvaluateWithOpts(*job.ID, api.EvalOptions{ForceReschedule: true}, nil)
	must(t, err)

	stopped, _, err := jobs.Deregister(*job.ID, false, nil)
	must(t, err)
	if stopped == "" {
		t.Fatal("stopped without an evaluation")
	}
	until(t, "the job is dead", func() bool { return *value(jobs.Info(*job.ID, nil))(t).Status == "dead" })
	_, _, err = jobs.DeregisterOpts(*job.ID, &api.DeregisterOptions{Purge: true}, nil)
	must(t, err)
	_, _, err = jobs.Info(*job.ID, nil)
	refused(t, 404, err)
}

func TestJobVersions(t *testing.T) {
	client := connect(t)
	jobs := client.Jobs()
	job := shell(t, "service", forever)
	registered(t, client, job)
	job.SetMeta("colour", "blue")
	second := value(jobs.Register(job, nil))(t)

	versions, diffs, _, err := jobs.Versions(*job.ID, true, nil)
	must(t, err)
	equal(t, "versions", len(versions), 2)
	equal(t, "diffs", len(diffs), 1)
	equal(t, "type of the diff", diffs[0].Type, "Edited")
	_, _, err = jobs.EnforceRegister(job, second.JobModifyIndex+1000, nil)
	if err == nil {
		t.Fatal("registered against another index")
	}
	_, err = jobs.TagVersion(*job.ID, 0, "first", "the first one", nil)
	must(t, err)
	tagged := value(jobs.VersionByTag(*job.ID, "first", nil))(t)
	equal(t, "tagged version", *tagged.Version, uint64(0))
	_, compared, _, err := jobs.VersionsOpts(*job.ID, &api.VersionsOptions{Diffs: true, DiffTag: "first"}, nil)
	must(t, err)
	if len(compared) == 0 {
		t.Fatal("no diffs against the tag")
	}
	_, err = jobs.UntagVersion(*job.ID, "first", nil)
	must(t, err)
	reverted := value(jobs.Revert(*job.ID, 0, nil, nil, "", ""))(t)
	if reverted.EvalID == "" {
		t.Fatal("reverted without an evaluation")
	}
	equal(t, "version after the revert", *value(jobs.Info(*job.ID, nil))(t).Version, uint64(2))
	value(jobs.Stable(*job.ID, 2, true, nil))(t)
	equal(t, "stable", *value(jobs.Info(*job.ID, nil))(t).Stable, true)
}

func TestJobSubmission(t *testing.T) {
	client := connect(t)
	source := `job "` + name(t) + `" {
  type = "batch"
  group "web" {
    task "main" {
      driver = "raw_exec"
      config { command = "/bin/true" }
    }
  }
}`
	job, err := client.Jobs().ParseHCL(source, true)
	must(t, err)
	submission := &api.JobSubmission{Source: source, Format: "hcl2"}
	value(client.Jobs().RegisterOpts(job, &api.RegisterOptions{Submission: submission}, nil))(t)
	t.Cleanup(func() { _, _, _ = client.Jobs().Deregister(*job.ID, true, nil) })
	equal(t, "source", value(client.Jobs().Submission(*job.ID, 0, nil))(t).Source, source)
	reached(t, client, *job.ID, "complete")
}

func TestJobValidate(t *testing.T) {
	client := connect(t)
	job := shell(t, "service", forever)
	equal(t, "errors", value(client.Jobs().Validate(job, nil))(t).Error, "")
	job.TaskGroups[0].Tasks = nil
	answer := value(client.Jobs().Validate(job, nil))(t)
	if len(answer.ValidationErrors) == 0 {
		t.Fatal("a group without tasks is valid")
	}
}

func TestJobPlan(t *testing.T) {
	client := connect(t)
	job := shell(t, "service", forever)
	created := value(client.Jobs().Plan(job, true, nil))(t)
	equal(t, "diff", created.Diff.Type, "Added")
	equal(t, "placements", created.Annotations.DesiredTGUpdates["web"].Place, uint64(1))
	registered(t, client, job)
	reached(t, client, *job.ID, "running")
	job.TaskGroups[0].Tasks[0].SetMeta("k", "v")
	changed := value(client.Jobs().PlanOpts(job, &api.PlanOptions{Diff: true}, nil))(t)
	equal(t, "diff", changed.Diff.Type, "Edited")
	equal(t, "updates", changed.Annotations.DesiredTGUpdates["web"].DestructiveUpdate, uint64(1))
	job.TaskGroups[0].Tasks[0].Resources.MemoryMB = new(100_000_000)
	impossible := value(client.Jobs().Plan(job, true, nil))(t)
	equal(t, "exhausted", impossible.FailedTGAllocs["web"].DimensionExhausted["memory"] > 0, true)
}

func TestJobScale(t *testing.T) {
	client := connect(t)
	job := shell(t, "service", forever)
	job.TaskGroups[0].Scaling = &api.ScalingPolicy{Min: new(int64(0)), Max: new(int64(3)), Enabled: new(true), Policy: map[string]any{}}
	// Its deployment is under way until somebody says that it is healthy.
	job.Update = fast()
	job.Update.HealthCheck = new("manual")
	allocation := running(t, client, job)
	deployment := latest(t, client, *job.ID, "running")
	count := 2
	// While a deployment is under way, a job is not scaled.
	_, _, err := client.Jobs().Scale(*job.ID, "web", &count, "", false, nil, nil)
	refused(t, 400, err)
	value(client.Deployments().SetAllocHealth(deployment.ID, []string{allocation.ID}, nil, nil))(t)
	latest(t, client, *job.ID, "successful")
	value(client.Jobs().Scale(*job.ID, "web", &count, "more", false, map[string]any{"by": "hand"}, nil))(t)
	until(t, "two run", func() bool {
		return value(client.Jobs().ScaleStatus(*job.ID, nil))(t).TaskGroups["web"].Running == 2
	})
	status := value(client.Jobs().ScaleStatus(*job.ID, nil))(t)
	equal(t, "desired", status.TaskGroups["web"].Desired, 2)
	equal(t, "scaling events", len(status.TaskGroups["web"].Events), 1)
	stubs := value(client.Jobs().Allocations(*job.ID, true, nil))(t)
	both := []string{stubs[0].ID, stubs[1].ID}
	value(client.Deployments().SetAllocHealth(latest(t, client, *job.ID, "running").ID, both, nil, nil))(t)
	until(t, "two are healthy", func() bool {
		return value(client.Jobs().ScaleStatus(*job.ID, nil))(t).TaskGroups["web"].Healthy == 2
	})
	policies := value(client.Scaling().ListPolicies(&api.QueryOptions{Params: map[string]string{"job": *job.ID}}))(t)
	equal(t, "policies", len(policies), 1)
	policy := value(client.Scaling().GetPolicy(policies[0].ID, nil))(t)
	equal(t, "most", *policy.Max, int64(3))
	count = 9
	_, _, err = client.Jobs().Scale(*job.ID, "web", &count, "", false, nil, nil)
	refused(t, 400, err)
}

func TestJobDispatch(t *testing.T) {
	client := connect(t)
	job := shell(t, "batch", "exit 0")
	job.ParameterizedJob = &api.ParameterizedJobConfig{Payload: "optional", MetaRequired: []string{"who"}}
	registered(t, client, job)
	dispatched := value(client.Jobs().Dispatch(*job.ID, map[string]string{"who": "me"}, []byte("hello"), "", nil))(t)
	reached(t, client, dispatched.DispatchedJobID, "complete")
	child := value(client.Jobs().Info(dispatched.DispatchedJobID, nil))(t)
	equal(t, "parent", *child.ParentID, *job.ID)
	equal(t, "payload", string(child.Payload), "hello")
	_, _, err := client.Jobs().Dispatch(*job.ID, nil, nil, "", nil)
	if err == nil {
		t.Fatal("dispatched without the required meta")
	}
	until(t, "the parent counts its child", func() bool {
		return value(client.Jobs().Summary(*job.ID, nil))(t).Children.Dead == 1
	})
}

func TestJobPeriodic(t *testing.T) {
	client := connect(t)
	job := shell(t, "batch", "exit 0")
	job.AddPeriodicConfig(&api.PeriodicConfig{Enabled: new(true), Spec: new("0 0 1 1 *"), SpecType: new("cron"), TimeZone: new("UTC")})
	plan := value(client.Jobs().Plan(job, false, nil))(t)
	equal(t, "a next launch is told", plan.NextPeriodicLaunch.After(time.Now()), true)
	registered(t, client, job)
	evaluation, _, err := client.Jobs().PeriodicForce(*job.ID, nil)
	must(t, err)
	child := value(client.Evaluations().Info(evaluation, nil))(t).JobID
	reached(t, client, child, "complete")
}

func TestBlockingQuery(t *testing.T) {
	client := connect(t)
	job := shell(t, "batch", "exit 0")
	_, meta, err := client.Jobs().List(&api.QueryOptions{Prefix: *job.ID})
	must(t, err)
	woken := make(chan error, 1)
	go func() {
		list, _, err := client.Jobs().List(&api.QueryOptions{Prefix: *job.ID, WaitIndex: meta.LastIndex, WaitTime: 15 * time.Second})
		if err == nil && len(list) != 1 {
			err = errors.New("woken without the job")
		}
		woken <- err
	}()
	registered(t, client, job)
	must(t, <-woken)
}

func TestPages(t *testing.T) {
	client := connect(t)
	for _, suffix := range []string{"-a", "-b", "-c"} {
		job := shell(t, "batch", "exit 0")
		id := *job.ID + suffix
		job.ID, job.Name = &id, &id
		registered(t, client, job)
	}
	options := &api.QueryOptions{Prefix: name(t), PerPage: 2}
	first, meta, err := client.Jobs().List(options)
	must(t, err)
	equal(t, "first page", len(first), 2)
	options.NextToken = meta.NextToken
	equal(t, "second page", len(value(client.Jobs().List(options))(t)), 1)
	// The client sorts what it lists; the order is that of the answer itself.
	reversed := raw(t, "/v1/jobs?reverse=true&prefix="+name(t)).([]any)
	equal(t, "last comes first", reversed[0].(map[string]any)["ID"].(string), name(t)+"-c")
	value(client.Jobs().List(&api.QueryOptions{Prefix: name(t), Reverse: true}))(t)
}

func TestJobServices(t *testing.T) {
	client := connect(t)
	job := shell(t, "service", forever)
	group := job.TaskGroups[0]
	group.Networks = []*api.NetworkResource{{DynamicPorts: []api.Port{{Label: "http"}}}}
	service := "svc-" + run
	group.Services = []*api.Service{{Name: service, Provider: "nomad", PortLabel: "http", Tags: []string{"blue"}}}
	running(t, client, job)
	until(t, "the service is registered", func() bool { return len(value(client.Services().Get(service, nil))(t)) == 1 })
	instance := value(client.Services().Get(service, nil))(t)[0]
	equal(t, "job of the service", instance.JobID, *job.ID)
	equal(t, "a port is given", instance.Port > 0, true)
	equal(t, "services of the job", len(value(client.Jobs().Services(*job.ID, nil))(t)), 1)
	equal(t, "services of the allocation", len(value(client.Allocations().Services(instance.AllocID, nil))(t)), 1)
	value(client.Services().List(nil))(t)
	_, err := client.Services().Delete(service, instance.ID, nil)
	must(t, err)
}
