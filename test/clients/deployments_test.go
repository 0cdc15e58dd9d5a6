package clients

import (
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
)

func deployed(t *testing.T, client *api.Client, update *api.UpdateStrategy) *api.Job {
	t.Helper()
	job := shell(t, "service", forever)
	job.Update = update
	registered(t, client, job)
	latest(t, client, *job.ID, "successful")
	return job
}

// latest waits until the latest deployment of the job has the status.
func latest(t *testing.T, client *api.Client, jobID, status string) *api.Deployment {
	t.Helper()
	var found *api.Deployment
	until(t, "the deployment of "+jobID+" is "+status, func() bool {
		found = value(client.Jobs().LatestDeployment(jobID, nil))(t)
		return found != nil && found.Status == status
	})
	return found
}

func fast() *api.UpdateStrategy {
	return &api.UpdateStrategy{
		MaxParallel: new(1), HealthCheck: new("task_states"), MinHealthyTime: new(10 * time.Millisecond),
		HealthyDeadline: new(10 * time.Second), ProgressDeadline: new(20 * time.Second),
	}
}

func TestDeployment(t *testing.T) {
	client := connect(t)
	job := deployed(t, client, fast())
	deployment := value(client.Jobs().Deployments(*job.ID, true, nil))(t)[0]
	read := value(client.Deployments().Info(deployment.ID, nil))(t)
	equal(t, "healthy", read.TaskGroups["web"].HealthyAllocs, 1)
	equal(t, "allocations", len(value(client.Deployments().Allocations(deployment.ID, nil))(t)), 1)
	equal(t, "by prefix", len(value(client.Deployments().PrefixList(deployment.ID[:8]))(t)), 1)
	value(client.Deployments().List(nil))(t)
	until(t, "the version is stable", func() bool { return *value(client.Jobs().Info(*job.ID, nil))(t).Stable })
}

func TestDeploymentCanary(t *testing.T) {
	client := connect(t)
	update := fast()
	update.Canary = new(1)
	job := deployed(t, client, update)
	job.TaskGroups[0].Tasks[0].Env = map[string]string{"V": "2"}
	value(client.Jobs().Register(job, nil))(t)
	until(t, "the canary is healthy", func() bool {
		deployment := value(client.Jobs().LatestDeployment(*job.ID, nil))(t)
		group := deployment.TaskGroups["web"]
		return deployment.JobVersion == 1 && len(group.PlacedCanaries) == 1 && group.HealthyAllocs == 1
	})
	deployment := value(client.Jobs().LatestDeployment(*job.ID, nil))(t)
	value(client.Deployments().Pause(deployment.ID, true, nil))(t)
	equal(t, "paused", value(client.Deployments().Info(deployment.ID, nil))(t).Status, "paused")
	value(client.Deployments().Pause(deployment.ID, false, nil))(t)
	value(client.Deployments().PromoteAll(deployment.ID, nil))(t)
	latest(t, client, *job.ID, "successful")
}

func TestDeploymentFails(t *testing.T) {
	client := connect(t)
	update := fast()
	update.HealthCheck = new("manual")
	update.AutoRevert = new(true)
	job := shell(t, "service", forever)
	job.Update = update
	allocation := running(t, client, job)
	var deployment *api.Deployment
	until(t, "a deployment runs", func() bool {
		deployment = value(client.Jobs().LatestDeployment(*job.ID, nil))(t)
		return deployment != nil && deployment.Status == "running"
	})
	value(client.Deployments().SetAllocHealth(deployment.ID, []string{allocation.ID}, nil, nil))(t)
	latest(t, client, *job.ID, "successful")
	job.TaskGroups[0].Tasks[0].Env = map[string]string{"V": "2"}
	value(client.Jobs().Register(job, nil))(t)
	until(t, "the second deployment runs", func() bool {
		deployment = value(client.Jobs().LatestDeployment(*job.ID, nil))(t)
		return deployment.JobVersion == 1 && deployment.Status == "running"
	})
	failed := value(client.Deployments().Fail(deployment.ID, nil))(t)
	equal(t, "reverted to", *failed.RevertedJobVersion, uint64(0))
	until(t, "the job is reverted", func() bool { return *value(client.Jobs().Info(*job.ID, nil))(t).Version == 2 })
}
