package clients

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/nomad/api"
)

// TestShapes walks the types of the client: every member that it names, and does not call optional, is in the answer.
func TestShapes(t *testing.T) {
	client := connect(t)
	job := shell(t, "service", forever)
	job.Update = fast()
	job.TaskGroups[0].Scaling = &api.ScalingPolicy{Min: new(int64(0)), Max: new(int64(3)), Enabled: new(true), Policy: map[string]any{}}
	job.TaskGroups[0].Services = []*api.Service{{Name: "shape-" + run, Provider: "nomad", PortLabel: "http", Tags: []string{"a"}}}
	job.TaskGroups[0].Networks = []*api.NetworkResource{{DynamicPorts: []api.Port{{Label: "http"}}}}
	answer := registered(t, client, job)
	allocation := reached(t, client, *job.ID, "running")
	deployment := latest(t, client, *job.ID, "successful")
	service := "shape-" + run
	until(t, "the service is registered", func() bool { return len(value(client.Services().Get(service, nil))(t)) == 1 })
	policies := value(client.Scaling().ListPolicies(&api.QueryOptions{Params: map[string]string{"job": *job.ID}}))(t)
	value(client.Variables().Create(&api.Variable{Path: "shape/" + run, Items: api.VariableItems{"a": "b"}}, nil))(t)
	for path, shape := range map[string]any{
		"/v1/job/" + *job.ID + "/versions":                  shapeOfVersions{},
		"/v1/job/" + *job.ID + "/evaluations":               []api.Evaluation{},
		"/v1/job/" + *job.ID + "/deployments":               []api.Deployment{},
		"/v1/job/" + *job.ID + "/services":                  []api.ServiceRegistration{},
		"/v1/evaluations?prefix=" + answer.EvalID:           []api.Evaluation{},
		"/v1/deployments?prefix=" + deployment.ID:           []api.Deployment{},
		"/v1/node/" + allocation.NodeID + "/allocations":    []api.Allocation{},
		"/v1/client/stats?node_id=" + allocation.NodeID:     api.HostStats{},
		"/v1/client/metadata?node_id=" + allocation.NodeID:  api.NodeMetaResponse{},
		"/v1/client/allocation/" + allocation.ID + "/stats": api.AllocResourceUsage{},
		"/v1/client/fs/ls/" + allocation.ID:                 []api.AllocFileInfo{},
		"/v1/service/" + service:                            []api.ServiceRegistration{},
		"/v1/services":                                      []api.ServiceRegistrationListStub{},
		"/v1/scaling/policies?job=" + *job.ID:               []api.ScalingPolicyListStub{},
		"/v1/scaling/policy/" + policies[0].ID:              api.ScalingPolicy{},
		"/v1/vars?prefix=shape/" + run:                      []api.VariableMetadata{},
		"/v1/var/shape/" + run:                              api.Variable{},
		"/v1/namespaces":                                    []api.Namespace{},
		"/v1/node/pools":                                    []api.NodePool{},
		"/v1/agent/members":                                 api.ServerMembers{},
		"/v1/agent/health":                                  api.AgentHealthResponse{},
		"/v1/metrics":                                       api.MetricsSummary{},
		"/v1/job/" + *job.ID:                                api.Job{},
		"/v1/job/" + *job.ID + "/summary":                   api.JobSummary{},
		"/v1/job/" + *job.ID + "/scale":                     api.JobScaleStatusResponse{},
		"/v1/evaluation/" + answer.EvalID:                   api.Evaluation{},
		"/v1/allocation/" + allocation.ID:                   api.Allocation{},
		"/v1/deployment/" + deployment.ID:                   api.Deployment{},
		"/v1/node/" + allocation.NodeID:                     api.Node{},
		"/v1/jobs?prefix=" + *job.ID:                        []api.JobListStub{},
		"/v1/nodes":                                         []api.NodeListStub{},
		"/v1/namespace/default":                             api.Namespace{},
		"/v1/node/pool/default":                             api.NodePool{},
		"/v1/allocations?prefix=" + allocation.ID:           []api.AllocationListStub{},
		"/v1/operator/scheduler/configuration":              api.SchedulerConfigurationResponse{},
	} {
		t.Run(strings.TrimPrefix(path, "/v1/"), func(t *testing.T) {
			for _, place := range missing(reflect.TypeOf(shape), raw(t, path), path) {
				t.Errorf("missing: %s", place)
			}
		})
	}
}

type shapeOfVersions struct {
	Versions []api.Job
}

// Types of which the interface leaves out every member that is empty.
var leavesOutEmpty = map[reflect.Type]bool{
	reflect.TypeFor[api.Allocation]():      true,
	reflect.TypeFor[api.Evaluation]():      true,
	reflect.TypeFor[api.NetworkResource](): true,
	reflect.TypeFor[api.Port]():            true,
	reflect.TypeFor[api.PortMapping]():     true,
}

// Members of these types that the interface has always, even so.
var always = map[reflect.Type][]string{
	reflect.TypeFor[api.Allocation](): {
		"ID", "Namespace", "EvalID", "Name", "NodeID", "NodeName", "JobID", "Job", "TaskGroup", "Resources",
		"TaskResources", "AllocatedResources", "Metrics", "DesiredStatus", "DesiredTransition", "ClientStatus",
		"ClientDescription", "TaskStates", "DeploymentID", "DeploymentStatus", "CreateIndex", "ModifyIndex",
		"AllocModifyIndex", "CreateTime", "ModifyTime", "NetworkStatus",
	},
	reflect.TypeFor[api.Evaluation](): {
		"ID", "Namespace", "Priority", "Type", "TriggeredBy", "JobID", "JobModifyIndex", "Status", "CreateIndex",
		"ModifyIndex", "CreateTime", "ModifyTime",
	},
	reflect.TypeFor[api.Port]():        {"Label"},
	reflect.TypeFor[api.PortMapping](): {"Label", "Value"},
}

// Members that only the client's type has: no server of the interface prints them.
var ofClient = map[reflect.Type][]string{
	reflect.TypeFor[api.Job]():           {"Migrate", "Reschedule"},
	reflect.TypeFor[api.LogConfig]():     {"Enabled"},
	reflect.TypeFor[api.TaskEvent]():     {"DiskSize"},
	reflect.TypeFor[api.Service]():       {"CheckRestart"},
	reflect.TypeFor[api.ScalingPolicy](): {"Namespace"},
	// Of a folder.
	reflect.TypeFor[api.AllocFileInfo](): {"ContentType"},
	// Measurements are sums since the start; what a moment would be needed for is not kept.
	reflect.TypeFor[api.SampledValue]():    {"Stddev"},
	reflect.TypeFor[api.AggregateSample](): {"Rate", "Min", "Max"},
	reflect.TypeFor[api.Node]():            {"Resources", "Reserved"},
	reflect.TypeFor[api.WriteMeta]():       {"LastIndex", "RequestTime"},
	reflect.TypeFor[api.QueryMeta](): {
		"LastIndex", "LastContact", "KnownLeader", "RequestTime", "NextToken",
	},
}

func mayLack(shape reflect.Type, member string) bool {
	if leavesOutEmpty[shape] {
		return !slices.Contains(always[shape], member)
	}
	return slices.Contains(ofClient[shape], member)
}

func missing(shape reflect.Type, document any, place string) []string {
	for shape.Kind() == reflect.Pointer {
		shape = shape.Elem()
	}
	switch typed := document.(type) {
	case map[string]any:
		if shape.Kind() == reflect.Map {
			return missingOfMap(shape, typed, place)
		}
		if shape.Kind() == reflect.Struct {
			return missingOfStruct(shape, typed, place)
		}
	case []any:
		if shape.Kind() == reflect.Slice && len(typed) > 0 {
			return missing(shape.Elem(), typed[0], place+"[0]")
		}
	}
	return nil
}

func missingOfMap(shape reflect.Type, document map[string]any, place string) []string {
	var places []string
	for key, member := range document {
		places = append(places, missing(shape.Elem(), member, fmt.Sprintf("%s[%s]", place, key))...)
	}
	return places
}

func missingOfStruct(shape reflect.Type, document map[string]any, place string) []string {
	var places []string
	for i := range shape.NumField() {
		field := shape.Field(i)
		if field.Anonymous {
			places = append(places, missing(field.Type, document, place)...)
			continue
		}
		tag := strings.Split(field.Tag.Get("json"), ",")
		if !field.IsExported() || tag[0] == "-" {
			continue
		}
		key := field.Name
		if tag[0] != "" {
			key = tag[0]
		}
		member, present := document[key]
		if !present && !strings.Contains(field.Tag.Get("json"), "omitempty") && !mayLack(shape, key) {
			places = append(places, place+"."+key)
			continue
		}
		places = append(places, missing(field.Type, member, place+"."+key)...)
	}
	return places
}
