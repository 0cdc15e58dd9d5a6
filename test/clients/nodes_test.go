package clients

import (
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
	"github.com/hashicorp/nomad/api/contexts"
)

func theNode(t *testing.T, client *api.Client) *api.Node {
	t.Helper()
	list := value(client.Nodes().List(nil))(t)
	if len(list) == 0 {
		t.Fatal("no nodes")
	}
	return value(client.Nodes().Info(list[0].ID, nil))(t)
}

func TestNode(t *testing.T) {
	client := connect(t)
	node := theNode(t, client)
	nodes := client.Nodes()
	equal(t, "an address is told", node.HTTPAddr != "", true)
	equal(t, "events are told", len(node.Events) > 0, true)
	equal(t, "by prefix", len(value(nodes.PrefixList(node.ID[:8]))(t)), 1)
	none := value(nodes.List(&api.QueryOptions{Filter: `Name == "nobody"`}))(t)
	equal(t, "filtered", len(none), 0)
	value(nodes.Allocations(node.ID, nil))(t)
	_, _, err := nodes.ForceEvaluate(node.ID, nil)
	must(t, err)
	_, err = nodes.Stats(node.ID, nil)
	must(t, err)
	_, err = nodes.ToggleEligibility(node.ID, false, nil)
	must(t, err)
	equal(t, "ineligible", theNode(t, client).SchedulingEligibility, "ineligible")
	_, err = nodes.ToggleEligibility(node.ID, true, nil)
	must(t, err)
	equal(t, "eligible", theNode(t, client).SchedulingEligibility, "eligible")
}

func TestNodeMeta(t *testing.T) {
	client := connect(t)
	node := theNode(t, client)
	meta := client.Nodes().Meta()
	colour, none := "blue", (*string)(nil)
	applied, err := meta.Apply(&api.NodeMetaApplyRequest{NodeID: node.ID, Meta: map[string]*string{"colour": &colour}}, nil)
	must(t, err)
	equal(t, "applied", applied.Meta["colour"], "blue")
	equal(t, "it is dynamic", *applied.Dynamic["colour"], "blue")
	equal(t, "read from the node", theNode(t, client).Meta["colour"], "blue")
	job := shell(t, "batch", "exit 0")
	job.Constraints = []*api.Constraint{api.NewConstraint("${meta.colour}", "=", "blue")}
	registered(t, client, job)
	reached(t, client, *job.ID, "complete")
	_, err = meta.Apply(&api.NodeMetaApplyRequest{Meta: map[string]*string{"colour": none}}, nil)
	must(t, err)
	read, err := meta.Read(node.ID, nil)
	must(t, err)
	_, found := read.Meta["colour"]
	equal(t, "removed", found, false)
	_, err = meta.Read("00000000-0000-0000-0000-000000000000", nil)
	refused(t, 404, err)
}

func TestNodeDrain(t *testing.T) {
	client := connect(t)
	node := theNode(t, client)
	job := shell(t, "service", forever)
	running(t, client, job)
	_, err := client.Nodes().UpdateDrain(node.ID, &api.DrainSpec{Deadline: 10 * time.Second}, false, nil)
	must(t, err)
	t.Cleanup(func() { _, _ = client.Nodes().UpdateDrain(node.ID, nil, true, nil) })
	until(t, "the allocation is moved away", func() bool {
		return value(client.Jobs().Summary(*job.ID, nil))(t).Summary["web"].Running == 0
	})
	until(t, "the drain completes", func() bool { return !theNode(t, client).Drain })
	_, err = client.Nodes().UpdateDrain(node.ID, nil, true, nil)
	must(t, err)
	reached(t, client, *job.ID, "running")
}

func TestNodePools(t *testing.T) {
	client := connect(t)
	pools := client.NodePools()
	pool := &api.NodePool{Name: "pool-" + run, Description: "for a test", NodeIdentityTTL: 720 * time.Hour}
	_, err := pools.Register(pool, nil)
	must(t, err)
	read := value(pools.Info(pool.Name, nil))(t)
	equal(t, "description", read.Description, "for a test")
	equal(t, "lifetime of identities", read.NodeIdentityTTL, 720*time.Hour)
	page, meta, err := pools.List(&api.QueryOptions{PerPage: 1})
	must(t, err)
	equal(t, "on a page", len(page), 1)
	equal(t, "next page", meta.NextToken, "default")
	filtered := value(pools.List(&api.QueryOptions{Filter: `Name == "all"`}))(t)
	equal(t, "filtered", len(filtered), 1)
	equal(t, "by prefix", len(value(pools.PrefixList(pool.Name, nil))(t)), 1)
	value(pools.List(nil))(t)
	equal(t, "nodes", len(value(pools.ListNodes(pool.Name, nil))(t)), 0)
	equal(t, "jobs", len(value(pools.ListJobs(pool.Name, nil))(t)), 0)
	_, err = pools.Delete(pool.Name, nil)
	must(t, err)
	_, _, err = pools.Info(pool.Name, nil)
	refused(t, 404, err)
}

func TestNamespaces(t *testing.T) {
	client := connect(t)
	namespaces := client.Namespaces()
	space := &api.Namespace{Name: "space-" + run, Description: "d", Meta: map[string]string{"a": "b"},
		Capabilities: &api.NamespaceCapabilities{DisabledTaskDrivers: []string{"docker"}}}
	_, err := namespaces.Register(space, nil)
	must(t, err)
	read := value(namespaces.Info(space.Name, nil))(t)
	equal(t, "meta", read.Meta["a"], "b")
	equal(t, "disabled drivers", len(read.Capabilities.DisabledTaskDrivers), 1)
	equal(t, "by prefix", len(value(namespaces.PrefixList(space.Name, nil))(t)), 1)
	value(namespaces.List(nil))(t)
	_, err = namespaces.Delete(space.Name, nil)
	must(t, err)
}

func TestSearch(t *testing.T) {
	client := connect(t)
	job := shell(t, "batch", "exit 0")
	registered(t, client, job)
	found := value(client.Search().PrefixSearch(*job.ID, contexts.Jobs, nil))(t)
	equal(t, "found", found.Matches[contexts.Jobs][0], *job.ID)
	value(client.Search().PrefixSearch(*job.ID, contexts.All, nil))(t)
	fuzzy := value(client.Search().FuzzySearch((*job.ID)[2:], contexts.Jobs, nil))(t)
	equal(t, "found fuzzily", fuzzy.Matches[contexts.Jobs][0].ID, *job.ID)
}

func TestCluster(t *testing.T) {
	client := connect(t)
	self, err := client.Agent().Self()
	must(t, err)
	equal(t, "the agent has a name", self.Member.Name != "", true)
	region, err := client.Agent().Region()
	must(t, err)
	equal(t, "region", region, "global")
	members, err := client.Agent().Members()
	must(t, err)
	equal(t, "members", len(members.Members), 1)
	health, err := client.Agent().Health()
	must(t, err)
	equal(t, "server", health.Server.Ok, true)
	_, err = client.Agent().Servers()
	must(t, err)
	leader, err := client.Status().Leader()
	must(t, err)
	equal(t, "there is a leader", leader != "", true)
	_, err = client.Status().Peers()
	must(t, err)
	regions, err := client.Regions().List()
	must(t, err)
	equal(t, "regions", len(regions), 1)
	must(t, client.System().GarbageCollect())
	must(t, client.System().ReconcileSummaries())
	_, _, err = client.Operator().MetricsSummary(nil)
	must(t, err)
}

func TestSchedulerConfiguration(t *testing.T) {
	client := connect(t)
	operator := client.Operator()
	before := value(operator.SchedulerGetConfiguration(nil))(t).SchedulerConfig
	changed := *before
	changed.SchedulerAlgorithm = api.SchedulerAlgorithmSpread
	value(operator.SchedulerSetConfiguration(&changed, nil))(t)
	t.Cleanup(func() { _, _, _ = operator.SchedulerSetConfiguration(before, nil) })
	after := value(operator.SchedulerGetConfiguration(nil))(t).SchedulerConfig
	equal(t, "algorithm", after.SchedulerAlgorithm, api.SchedulerAlgorithmSpread)
	swapped := value(operator.SchedulerCASConfiguration(before, nil))(t)
	equal(t, "swapped against an old index", swapped.Updated, false)
}

func TestMonitor(t *testing.T) {
	client := connect(t)
	stop := make(chan struct{})
	defer close(stop)
	frames, failures := client.Agent().Monitor(stop, &api.QueryOptions{Params: map[string]string{"log_level": "trace"}})
	registered(t, client, shell(t, "batch", "exit 0"))
	frame(t, frames, failures)
}
