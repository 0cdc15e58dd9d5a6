package clients

import (
	"context"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
)

func TestEventStream(t *testing.T) {
	client := connect(t)
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	job := shell(t, "batch", "exit 0")
	topics := map[api.Topic][]string{api.TopicJob: {*job.ID}, api.TopicAllocation: {"*"}}
	stream, err := client.EventStream().Stream(ctx, topics, 0, nil)
	must(t, err)
	registered(t, client, job)
	for events := range stream {
		must(t, events.Err)
		for _, event := range events.Events {
			if event.Topic != api.TopicJob || event.Type != "JobRegistered" {
				continue
			}
			told, err := event.Job()
			must(t, err)
			equal(t, "job", *told.ID, *job.ID)
			return
		}
	}
	t.Fatal("the registration was not told")
}

func TestVariables(t *testing.T) {
	client := connect(t)
	variables := client.Variables()
	variable := &api.Variable{Path: "app/" + run, Items: api.VariableItems{"user": "me"}}
	created := value(variables.Create(variable, nil))(t)
	equal(t, "an index is told", created.ModifyIndex > 0, true)
	equal(t, "read", value(variables.Read(variable.Path, nil))(t).Items["user"], "me")
	_, _, err := variables.CheckedCreate(&api.Variable{Path: variable.Path, Items: api.VariableItems{"user": "you"}}, nil)
	if err == nil {
		t.Fatal("created what exists")
	}
	created.Items["user"] = "you"
	updated := value(variables.CheckedUpdate(created, nil))(t)
	equal(t, "by prefix", len(value(variables.PrefixList("app/"+run, nil))(t)), 1)
	_, err = variables.CheckedDelete(variable.Path, updated.ModifyIndex+100, nil)
	if err == nil {
		t.Fatal("deleted against another index")
	}
	_, err = variables.Delete(variable.Path, nil)
	must(t, err)
	_, _, err = variables.Read(variable.Path, nil)
	equal(t, "error", err, api.ErrVariablePathNotFound)
}

func TestLock(t *testing.T) {
	client := connect(t)
	variable := api.Variable{Path: "lock/" + run, Lock: &api.VariableLock{TTL: "10s", LockDelay: "1s"}}
	lock, err := client.Locks(api.WriteOptions{}, variable)
	must(t, err)
	other, err := client.Locks(api.WriteOptions{}, variable)
	must(t, err)
	id, err := lock.Acquire(context.Background())
	must(t, err)
	equal(t, "a lock is held", id != "", true)
	again, err := other.Acquire(context.Background())
	if err == nil && again != "" {
		t.Fatal("two hold one lock")
	}
	must(t, lock.Renew(context.Background()))
	must(t, lock.Release(context.Background()))
}

func TestAccessControlIsOff(t *testing.T) {
	client := connect(t)
	_, _, err := client.ACLTokens().List(nil)
	refused(t, 400, err)
	_, _, err = client.ACLPolicies().List(nil)
	refused(t, 400, err)
}

func TestErrors(t *testing.T) {
	client := connect(t)
	_, _, err := client.Jobs().Info("nobody-"+run, nil)
	refused(t, 404, err)
	_, _, err = client.Allocations().Info("00000000-0000-0000-0000-000000000000", nil)
	refused(t, 404, err)
	_, _, err = client.Jobs().List(&api.QueryOptions{Region: "elsewhere"})
	refused(t, 500, err)
	_, _, err = client.Jobs().List(&api.QueryOptions{Filter: "=="})
	refused(t, 400, err)
	_, _, err = client.Nodes().Info("00000000-0000-0000-0000-000000000000", nil)
	refused(t, 404, err)
}
