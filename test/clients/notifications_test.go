package clients

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/hashicorp/go-tfe"
)

func notifications(t *testing.T) (*tfe.Client, *tfe.Workspace) {
	t.Helper()
	client, err := tfe.NewClient(&tfe.Config{Address: address(t), Token: "anything"})
	must(t, err)
	workspace, err := client.Workspaces.Read(context.Background(), "acme", "net")
	must(t, err)
	return client, workspace
}

// receiver counts what is sent to it.
type receiver struct {
	sync.Mutex
	requests []*http.Request
}

func (r *receiver) count() int {
	r.Lock()
	defer r.Unlock()
	return len(r.requests)
}

func receive(t *testing.T, status int) (*receiver, string) {
	kept := &receiver{}
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		kept.Lock()
		kept.requests = append(kept.requests, request)
		kept.Unlock()
		answer.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	return kept, server.URL
}

func TestNotificationConfiguration(t *testing.T) {
	ctx := context.Background()
	client, workspace := notifications(t)
	received, url := receive(t, 200)
	options := tfe.NotificationConfigurationCreateOptions{
		DestinationType: tfe.NotificationDestination(tfe.NotificationDestinationTypeGeneric),
		Enabled:         tfe.Bool(true), Name: tfe.String("hook-" + run), Token: tfe.String("a-secret-of-length"), URL: tfe.String(url),
		Triggers:           []tfe.NotificationTriggerType{tfe.NotificationTriggerErrored},
		SubscribableChoice: &tfe.NotificationConfigurationSubscribableChoice{Workspace: workspace},
	}
	created, err := client.NotificationConfigurations.Create(ctx, workspace.ID, options)
	must(t, err)
	equal(t, "verified while created", received.count(), 1)
	equal(t, "signed", received.requests[0].Header.Get("X-TFE-Notification-Signature") != "", true)
	equal(t, "the token stays secret", created.Token, "")

	read, err := client.NotificationConfigurations.Read(ctx, created.ID)
	must(t, err)
	equal(t, "name", read.Name, "hook-"+run)
	equal(t, "answers are kept", len(read.DeliveryResponses), 1)
	equal(t, "successful", read.DeliveryResponses[0].Successful, "true")
	verified, err := client.NotificationConfigurations.Verify(ctx, created.ID)
	must(t, err)
	equal(t, "verified again", received.count(), 2)
	equal(t, "id", verified.ID, created.ID)
	list, err := client.NotificationConfigurations.List(ctx, workspace.ID, nil)
	must(t, err)
	equal(t, "listed", len(list.Items) > 0, true)
	updated, err := client.NotificationConfigurations.Update(ctx, created.ID, tfe.NotificationConfigurationUpdateOptions{Name: tfe.String("renamed-" + run)})
	must(t, err)
	equal(t, "renamed", updated.Name, "renamed-"+run)
	must(t, client.NotificationConfigurations.Delete(ctx, created.ID))
	_, err = client.NotificationConfigurations.Read(ctx, created.ID)
	equal(t, "error", err, tfe.ErrResourceNotFound)
}

func TestNotificationIsRefused(t *testing.T) {
	client, workspace := notifications(t)
	_, url := receive(t, 500)
	_, err := client.NotificationConfigurations.Create(context.Background(), workspace.ID, tfe.NotificationConfigurationCreateOptions{
		DestinationType: tfe.NotificationDestination(tfe.NotificationDestinationTypeGeneric),
		Enabled:         tfe.Bool(true), Name: tfe.String("bad-" + run), URL: tfe.String(url),
	})
	if err == nil {
		t.Fatal("enabled although the verification failed")
	}
}

func TestWorkspaces(t *testing.T) {
	ctx := context.Background()
	client, workspace := notifications(t)
	byID, err := client.Workspaces.ReadByID(ctx, workspace.ID)
	must(t, err)
	equal(t, "name", byID.Name, "net")
	list, err := client.Workspaces.List(ctx, "acme", nil)
	must(t, err)
	equal(t, "workspaces", len(list.Items), 1)
	organization, err := client.Organizations.Read(ctx, "acme")
	must(t, err)
	equal(t, "organization", organization.Name, "acme")
	organizations, err := client.Organizations.List(ctx, nil)
	must(t, err)
	equal(t, "organizations", len(organizations.Items), 1)
	_, err = client.Organizations.ReadEntitlements(ctx, "acme")
	must(t, err)
	_, err = client.Users.ReadCurrent(ctx)
	must(t, err)
}
