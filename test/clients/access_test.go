package clients

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
)

// withToken is a client of the server that asks for tokens; without a secret it has that of the management token.
func withToken(t *testing.T, secret string) *api.Client {
	t.Helper()
	address := os.Getenv("SIGNALBOX_TOKENS_ADDR")
	if address == "" {
		t.Skip("SIGNALBOX_TOKENS_ADDR names no server")
	}
	if secret == "" {
		secret = os.Getenv("SIGNALBOX_TOKEN")
	}
	client, err := api.NewClient(&api.Config{Address: address, SecretID: secret})
	must(t, err)
	return client
}

func TestAccessPolicies(t *testing.T) {
	client := withToken(t, "")
	policies := client.ACLPolicies()
	policy := &api.ACLPolicy{Name: "reader-" + run, Description: "d", Rules: `namespace "default" { policy = "read" }`}
	_, err := policies.Upsert(policy, nil)
	must(t, err)
	equal(t, "rules", value(policies.Info(policy.Name, nil))(t).Rules, policy.Rules)
	equal(t, "listed", len(value(policies.List(&api.QueryOptions{Prefix: policy.Name}))(t)), 1)
	token := value(client.ACLTokens().Create(&api.ACLToken{Name: "t", Type: "client", Policies: []string{policy.Name}}, nil))(t)
	own := value(withToken(t, token.SecretID).ACLPolicies().Self(nil))(t)
	equal(t, "own policies", len(own), 1)
	equal(t, "own policy", own[0].Name, policy.Name)
	_, err = policies.Delete(policy.Name, nil)
	must(t, err)
	_, _, err = policies.Info(policy.Name, nil)
	refused(t, 404, err)
}

func TestAccessTokens(t *testing.T) {
	client := withToken(t, "")
	tokens := client.ACLTokens()
	_, _, err := tokens.Bootstrap(nil)
	refused(t, 400, err)
	_, _, err = tokens.BootstrapOpts("2b778dd9-f5f1-6f29-b4b4-9a5fa948757a", nil)
	refused(t, 400, err)
	made := value(tokens.Create(&api.ACLToken{Name: "t", Type: "client", Policies: []string{"none"}, ExpirationTTL: time.Hour}, nil))(t)
	equal(t, "it expires", made.ExpirationTime != nil, true)
	equal(t, "self", value(withToken(t, made.SecretID).ACLTokens().Self(nil))(t).AccessorID, made.AccessorID)
	made.Name = "renamed"
	equal(t, "renamed", value(tokens.Update(made, nil))(t).Name, "renamed")
	equal(t, "read", value(tokens.Info(made.AccessorID, nil))(t).Name, "renamed")
	equal(t, "listed", len(value(tokens.List(&api.QueryOptions{Prefix: made.AccessorID[:8]}))(t)), 1)
	_, err = tokens.Delete(made.AccessorID, nil)
	must(t, err)
	_, _, err = tokens.Info(made.AccessorID, nil)
	refused(t, 404, err)
	_, _, err = withToken(t, made.SecretID).Jobs().List(nil)
	refused(t, 403, err)
}

func TestAccessUpload(t *testing.T) {
	client := withToken(t, "")
	tokens := client.ACLTokens()
	brought := &api.ACLToken{AccessorID: uuid(), SecretID: uuid(), Name: "brought", Type: "client", Policies: []string{"none"}}
	value(tokens.Upload(brought, nil))(t)
	equal(t, "self", value(withToken(t, brought.SecretID).ACLTokens().Self(nil))(t).AccessorID, brought.AccessorID)
	_, _, err := tokens.Upload(&api.ACLToken{AccessorID: uuid(), SecretID: brought.SecretID, Type: "client", Policies: []string{"none"}}, nil)
	refused(t, 400, err)
}

func uuid() string {
	bytes := make([]byte, 16)
	_, _ = rand.Read(bytes)
	return fmt.Sprintf("%x-%x-%x-%x-%x", bytes[:4], bytes[4:6], bytes[6:8], bytes[8:10], bytes[10:])
}

func TestOneTimeToken(t *testing.T) {
	client := withToken(t, "")
	made := value(client.ACLTokens().UpsertOneTimeToken(nil))(t)
	equal(t, "it expires", made.ExpiresAt.After(time.Now().Add(9*time.Minute)), true)
	stranger := withToken(t, "none")
	stranger.SetSecretID("")
	token := value(stranger.ACLTokens().ExchangeOneTimeToken(made.OneTimeSecretID, nil))(t)
	equal(t, "secret", token.SecretID, os.Getenv("SIGNALBOX_TOKEN"))
	equal(t, "accessor", token.AccessorID, made.AccessorID)
	_, _, err := stranger.ACLTokens().ExchangeOneTimeToken(made.OneTimeSecretID, nil)
	refused(t, 403, err)
	_, _, err = stranger.ACLTokens().UpsertOneTimeToken(nil)
	refused(t, 403, err)
}

func TestAccessRoles(t *testing.T) {
	client := withToken(t, "")
	_, err := client.ACLPolicies().Upsert(&api.ACLPolicy{Name: "roled-" + run, Rules: `namespace "*" { policy = "write" }`}, nil)
	must(t, err)
	roles := client.ACLRoles()
	role := value(roles.Create(&api.ACLRole{Name: "role-" + run, Policies: []*api.ACLRolePolicyLink{{Name: "roled-" + run}}}, nil))(t)
	equal(t, "by name", value(roles.GetByName(role.Name, nil))(t).ID, role.ID)
	role.Description = "d"
	equal(t, "changed", value(roles.Update(role, nil))(t).Description, "d")
	equal(t, "read", value(roles.Get(role.ID, nil))(t).Description, "d")
	equal(t, "listed", len(value(roles.List(nil))(t)) > 0, true)
	token := value(client.ACLTokens().Create(&api.ACLToken{Type: "client", Roles: []*api.ACLTokenRoleLink{{ID: role.ID}}}, nil))(t)
	value(withToken(t, token.SecretID).Jobs().List(nil))(t)
	_, err = roles.Delete(role.ID, nil)
	must(t, err)
	_, _, err = roles.Get(role.ID, nil)
	refused(t, 404, err)
}

func TestAccessIsAsked(t *testing.T) {
	client := withToken(t, "")
	client.SetSecretID("00000000-1111-2222-3333-444444444444")
	_, _, err := client.Jobs().List(nil)
	refused(t, 403, err)
	if !strings.Contains(err.Error(), "Permission denied") {
		t.Fatal(err)
	}
}
