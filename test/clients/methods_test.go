package clients

import (
	"context"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/nomad/api"
)

// notProvided holds, by handle, the methods of the client that this server answers with 501. Every other exported
// method is called by a program of this package.
var notProvided = map[string][]string{
	"ACLAuth":                   {"CompleteAuth", "GetAuthURL", "Login"},
	"ACLAuthMethods":            {"Create", "Delete", "Get", "List", "Update"},
	"ACLBindingRules":           {"Create", "Delete", "Get", "List", "Update"},
	"ACLIdentity":               {"CreateClientIntroductionToken"},
	"Agent":                     {"CPUProfile", "ForceLeave", "ForceLeaveWithOptions", "GetSchedulerWorkerConfig", "GetSchedulerWorkersInfo", "Host", "InstallKey", "Join", "ListKeys", "Lookup", "MonitorExport", "Reload", "RemoveKey", "SetSchedulerWorkerConfig", "SetServers", "Trace", "UseKey"},
	"Allocations":               {"GetPauseState", "SetPauseState"},
	"CSIPlugins":                {"Info"},
	"CSIVolumes":                {"Create", "CreateOpts", "CreateSnapshot", "Delete", "DeleteOpts", "DeleteSnapshot", "Deregister", "Detach", "Info", "ListExternal", "ListSnapshots", "ListSnapshotsOpts", "Register", "RegisterOpts"},
	"HostVolumes":               {"Create", "Delete", "Get", "Register"},
	"Keyring":                   {"Delete", "List", "Rotate"},
	"Identity":                  {"Get", "Renew"},
	"Operator":                  {"ApplyLicense", "AutopilotCASConfiguration", "AutopilotGetConfiguration", "AutopilotServerHealth", "AutopilotSetConfiguration", "LicenseGet", "LicensePut", "RaftRemovePeerByAddress", "RaftRemovePeerByID", "RaftTransferLeadershipByAddress", "RaftTransferLeadershipByID", "Snapshot", "SnapshotRestore", "UpgradeCheckVaultWorkloadIdentity", "Utilization"},
	"Quotas":                    {"Delete", "Info", "List", "ListUsage", "PrefixList", "PrefixListUsage", "Register", "Usage"},
	"Recommendations":           {"Apply", "Delete", "Info", "List", "Upsert"},
	"SentinelPolicies":          {"Delete", "Info", "List", "Upsert"},
	"TaskGroupHostVolumeClaims": {"Delete", "List"},
}

func TestEveryMethod(t *testing.T) {
	client := withToken(t, "")
	for name, handle := range handles(client) {
		if name == "ACLOIDC" {
			// The client's own fault: this handle has no client to call with. Its methods are those of ACLAuth.
			continue
		}
		t.Run(name, func(t *testing.T) {
			for i := range handle.NumMethod() {
				method := handle.Type().Method(i)
				if slices.Contains(notProvided[name], method.Name) {
					refusedAsAbsent(t, method.Name, handle.Method(i))
				} else if !isHandle(method.Type) && !strings.Contains(programs(t), "."+method.Name+"(") {
					t.Errorf("%s is called by no program, and not listed as not provided", method.Name)
				}
			}
			for _, method := range notProvided[name] {
				if _, found := handle.Type().MethodByName(method); !found {
					t.Errorf("%s is listed, and no method of the client", method)
				}
			}
		})
	}
}

// handles are those that the client has, and those that its handles have, by name.
func handles(client *api.Client) map[string]reflect.Value {
	found := map[string]reflect.Value{}
	add := func(of reflect.Value) {
		for i := range of.NumMethod() {
			if method := of.Type().Method(i); isHandle(method.Type) {
				found[method.Name] = of.Method(i).Call(nil)[0]
			}
		}
	}
	add(reflect.ValueOf(client))
	add(reflect.ValueOf(client.Nodes()))
	return found
}

// isHandle tells methods that take nothing and give a handle.
func isHandle(method reflect.Type) bool {
	return method.NumIn() == 1 && method.NumOut() == 1 && method.Out(0).Kind() == reflect.Pointer
}

// programs is the text of the programs of this package, without the list above.
func programs(t *testing.T) string {
	t.Helper()
	files, err := os.ReadDir(".")
	must(t, err)
	var all strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file.Name(), "_test.go") {
			content, err := os.ReadFile(file.Name())
			must(t, err)
			all.Write(content)
		}
	}
	return all.String()
}

// refusedAsAbsent calls the method with made-up arguments.
func refusedAsAbsent(t *testing.T, name string, method reflect.Value) {
	t.Helper()
	arguments := make([]reflect.Value, 0, method.Type().NumIn())
	for i := range method.Type().NumIn() {
		if !method.Type().IsVariadic() || i < method.Type().NumIn()-1 {
			arguments = append(arguments, madeUp(method.Type().In(i)))
		}
	}
	for _, result := range method.Call(arguments) {
		if failure := failureOf(result); failure != nil {
			if !strings.Contains(failure.Error(), "501") || !strings.Contains(failure.Error(), "does not provide") {
				t.Errorf("%s: wanted a refusal with 501, got %v", name, failure)
			}
			return
		}
	}
	t.Errorf("%s is listed as not provided, and works", name)
}

// failureOf is the error that a method gave, or sent on a channel.
func failureOf(result reflect.Value) error {
	if result.Kind() == reflect.Chan {
		if result.Type().Elem() != reflect.TypeFor[error]() {
			return nil
		}
		received, _ := result.Recv()
		result = received
	}
	failure, _ := result.Interface().(error)
	return failure
}

// madeUp is a value of the type, with something in every text and list, three levels deep.
func madeUp(shape reflect.Type) reflect.Value {
	filled := reflect.New(shape).Elem()
	fill(filled, 3)
	return filled
}

func fill(place reflect.Value, levels int) {
	if levels == 0 || !place.CanSet() {
		return
	}
	switch place.Type() {
	case reflect.TypeFor[context.Context]():
		place.Set(reflect.ValueOf(context.Background()))
		return
	case reflect.TypeFor[*api.QueryOptions](), reflect.TypeFor[*api.WriteOptions]():
		place.Set(reflect.New(place.Type().Elem()))
		return
	}
	switch {
	case place.Kind() == reflect.String:
		place.SetString("x")
	case place.Kind() == reflect.Pointer && place.Type().Elem().Kind() == reflect.Struct:
		place.Set(reflect.New(place.Type().Elem()))
		fill(place.Elem(), levels-1)
	case place.Kind() == reflect.Struct:
		for i := range place.NumField() {
			fill(place.Field(i), levels)
		}
	case place.Kind() == reflect.Slice:
		place.Set(reflect.MakeSlice(place.Type(), 1, 1))
		fill(place.Index(0), levels)
	}
}
