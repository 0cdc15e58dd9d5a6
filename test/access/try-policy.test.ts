import { describe, expect, it } from 'vitest';
import type { CallAccess } from '../../src/access/allows.js';
import { parsePolicy } from '../../src/access/policy/parse-policy.js';
import { tryPolicy } from '../../src/access/try-policy.js';
import { api } from '../../src/api/index.js';

const tried = (rules: string, access: CallAccess, namespace = 'default', name?: string) =>
  tryPolicy(parsePolicy(rules)._unsafeUnwrap(), access, { namespace, ...(name === undefined ? {} : { name }) });

const rules = `
namespace "default" { policy = "read" }
namespace "team-*" { capabilities = ["submit-job"] }
namespace "team-core" { policy = "deny" }
namespace "prod" {
  policy = "write"
  variables {
    path "app/*"    { capabilities = ["read"] }
    path "app/keys" { capabilities = ["deny"] }
  }
}
node { policy = "read" }
node_pool "build-*" { policy = "read" }
`;

describe('rules against a call of a namespace', () => {
  it.each([
    ['an exact rule grants it', api.jobs.read.access, 'default', true, 'default', 'read-job'],
    ['an exact rule does not', api.jobs.stop.access, 'default', false, 'default', 'read-job'],
    ['the closest glob', api.jobs.stop.access, 'team-web', true, 'team-*', 'submit-job'],
    ['a deny of the exact rule', api.jobs.stop.access, 'team-core', false, 'team-core', 'deny'],
  ])('%s', (_, access, namespace, allowed, name, grant) => {
    const trial = tried(rules, access, namespace);
    expect(trial).toMatchObject({ allowed, rule: { block: 'namespace', name } });
    expect(trial.rule?.grants).toContain(grant);
    if (grant === 'deny') expect(trial.rule?.grants).toEqual(['deny']);
  });

  it('deny beside other capabilities', () => {
    const rule = { block: 'namespace', name: 'a', grants: ['deny'] };
    const mixed = 'namespace "a" { capabilities = ["submit-job", "deny"] }';
    expect(tried(mixed, api.jobs.stop.access, 'a')).toEqual({ allowed: false, rule });
  });

  it('no rule', () => expect(tried(rules, api.jobs.read.access, 'none')).toEqual({ allowed: false }));

  it('any namespace', () => {
    expect(tried(rules, api.jobs.stop.access, '*')).toEqual({ allowed: true });
    expect(tried('namespace "a" { policy = "read" }', api.jobs.stop.access, '*')).toEqual({ allowed: false });
    expect(tried('namespace "*" { policy = "read" }', api.jobs.read.access, '*')).toEqual({ allowed: true });
  });
});

describe('rules against other calls', () => {
  const nodes = { block: 'node', name: '', grants: ['read'] };
  const pool = { block: 'node_pool', name: 'build-*', grants: ['read'] };
  it.each([
    ['an area', api.nodes.read.access, undefined, { allowed: true, rule: nodes }],
    ['an area with a higher right', api.nodes.drain.access, undefined, { allowed: false, rule: nodes }],
    ['an area without a rule', api.scheduler.setConfiguration.access, undefined, { allowed: false }],
    ['any pool', { type: 'node_pools', right: 'read' } as const, undefined, { allowed: true }],
    ['a pool', { type: 'node_pools', right: 'read' } as const, 'build-1', { allowed: true, rule: pool }],
    [
      'a pool with another right',
      { type: 'node_pools', right: 'write' } as const,
      'build-1',
      { allowed: false, rule: pool },
    ],
    ['a pool without a rule', { type: 'node_pools', right: 'read' } as const, 'web', { allowed: false }],
    ['management', api.tokens.list.access, undefined, { allowed: false }],
    ['a workspace', api.notifications.list.access, undefined, { allowed: false }],
    ['everybody', { type: 'public' } as const, undefined, { allowed: true }],
  ])('%s', (_, access, name, trial) => expect(tried(rules, access, 'default', name)).toEqual(trial));

  const { access } = api.variables.read;
  it.each([
    [
      'a glob',
      'prod',
      'app/db',
      { allowed: true, rule: { block: 'variables', name: 'prod app/*', grants: ['list', 'read'] } },
    ],
    [
      'an exact deny',
      'prod',
      'app/keys',
      { allowed: false, rule: { block: 'variables', name: 'prod app/keys', grants: ['deny'] } },
    ],
    ['another namespace', 'default', 'app/db', { allowed: false }],
    ['any path', 'default', undefined, { allowed: true }],
  ])('variables: %s', (_, namespace, path, trial) => expect(tried(rules, access, namespace, path)).toEqual(trial));
});

it('names of namespaces are no members of objects', () => {
  expect(tried('namespace "constructor" { policy = "read" }', api.jobs.read.access, 'toString')).toEqual({
    allowed: false,
  });
});
