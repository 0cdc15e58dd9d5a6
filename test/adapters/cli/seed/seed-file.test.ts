import { describe, expect, it } from 'vitest';
import { parseSeedFile } from '../../../../adapters/cli/seed/seed-file.js';

const complete = {
  workspaces: [
    {
      id: 'ws-1',
      name: 'main',
      organization: 'org',
      execution_mode: 'agent',
      url: 'https://deploy.example.net/acme/main',
      drift_detection: true,
      health_assessments: false,
    },
  ],
  users: [{ id: 'user-1', username: 'ada', email: 'ada@example.org', organization: 'org' }],
  namespaces: [
    {
      name: 'team-a',
      description: 'Team A',
      meta: { cost: '7' },
      capabilities: {
        enabled_task_drivers: ['function'],
        disabled_task_drivers: null,
        enabled_network_modes: null,
        disabled_network_modes: ['host'],
      },
    },
  ],
  tokens: [
    {
      secret: 'very-secret-token',
      name: 'ci',
      management: false,
      namespaces: { 'team-*': { capabilities: ['submit-job', 'sentinel-override'], policy: 'read' } },
      workspaces: { 'ws-*': 'admin' },
      policies: ['readers'],
    },
  ],
  policies: [{ name: 'readers', description: 'Who reads', rules: 'namespace "default" { policy = "read" }' }],
  configurations: [
    {
      workspace: 'ws-1',
      name: 'Team',
      destination_type: 'generic',
      url: 'https://hooks.example.net',
      token: 'shared-secret',
      triggers: ['run:errored'],
      users: ['user-1'],
      enabled: false,
      delivery: { rate: 5 },
    },
  ],
  job_policies: [{ name: 'no-system', level: 'hard-mandatory', refuse: 'Type == system', message: 'ask first' }],
  quotas: [{ namespace: 'team-*', jobs: 5, cpu: 1000, cores: 2, memory_mb: 2000, dispatches_per_minute: 10 }],
  run_notifications: [{ workspace: 'ws-1', namespace: 'team-*', job: 'report', meta: { team: 'a' } }],
};

/** The complete file with one value replaced. */
function withValue(path: readonly (string | number)[], value: unknown): string {
  const copy = structuredClone(complete) as unknown as Record<string | number, unknown>;
  let at = copy;
  for (const part of path.slice(0, -1)) at = at[part] as Record<string | number, unknown>;
  at[path.at(-1) as string] = value;
  return JSON.stringify(copy);
}

describe('parseSeedFile', () => {
  it('reads a complete file', async () => {
    const seed = (await parseSeedFile(JSON.stringify(complete), 'seed.json'))._unsafeUnwrap();
    expect(seed).toEqual({
      ...complete,
      tokens: [
        {
          ...complete.tokens[0],
          namespaces: { 'team-*': { capabilities: ['submit-job', 'policy-override'], policy: 'read' } },
        },
      ],
    });
  });

  it('fills what is left out', async () => {
    const seed = (await parseSeedFile('{"tokens":[{"secret":"sixteen-letters-"}]}', 'seed.json'))._unsafeUnwrap();
    expect(seed).toEqual({
      workspaces: [],
      users: [],
      namespaces: [],
      tokens: [
        { secret: 'sixteen-letters-', name: '', management: false, namespaces: {}, workspaces: {}, policies: [] },
      ],
      policies: [],
      configurations: [],
      job_policies: [],
      quotas: [],
      run_notifications: [],
    });
  });

  it('refuses a secret that can be tried out, and does not show it', async () => {
    const fault = (await parseSeedFile('{"tokens":[{"secret":"elevenchars"}]}', 'seed.json'))._unsafeUnwrapErr();
    expect(fault.message).toContain('at /tokens/0/secret: a secret has at least 12 characters');
    expect(fault.message).not.toContain('elevenchars');
  });

  it('refuses a policy whose expression cannot be read, with its position in the expression', async () => {
    const policy = { name: 'p', level: 'advisory', refuse: 'Priority ==' };
    const fault = (await parseSeedFile(JSON.stringify({ job_policies: [policy] }), 'seed.json'))._unsafeUnwrapErr();
    expect(fault.message).toMatch(/^seed\.json: at \/job_policies\/0\/refuse: 1:\d+: /);
  });

  it('locates a fault of syntax by line and column', async () => {
    const fault = (await parseSeedFile('{\n  "users": [\n}', 'dir/seed.json'))._unsafeUnwrapErr();
    expect(fault.message).toBe('dir/seed.json:3:1: expected a value');
  });

  it.each<[readonly (string | number)[], unknown, string]>([
    [['workspaces', 0, 'execution_mode'], 'remotely', '/workspaces/0/execution_mode'],
    [['workspaces', 0, 'url'], 'javascript:alert(1)', '/workspaces/0/url'],
    [['workspaces', 0, 'id'], 7, '/workspaces/0/id'],
    [['workspaces', 0, 'nmae'], 'x', '/workspaces/0/nmae'],
    [['users', 0, 'email'], 'nobody', '/users/0/email'],
    [['users'], {}, '/users'],
    [['namespaces', 0, 'name'], 'no/slash', '/namespaces/0/name'],
    [['tokens', 0, 'secret'], 'a b', '/tokens/0/secret'],
    [['tokens', 0, 'namespaces', 'team-*', 'capabilities', 1], 'fly', '/tokens/0/namespaces/team-*/capabilities/1'],
    [['tokens', 0, 'namespaces', 'team-*', 'policy'], 'all', '/tokens/0/namespaces/team-*/policy'],
    [['tokens', 0, 'workspaces', 'a/b'], 'owner', '/tokens/0/workspaces/a~1b'],
    [['token'], [], '/token'],
  ])('locates a fault at %j by pointer', async (path, value, pointer) => {
    const fault = (await parseSeedFile(withValue(path, value), 'seed.json'))._unsafeUnwrapErr();
    expect(fault.message).toContain(`seed.json: at ${pointer}: `);
    expect(fault.message).not.toContain('very-secret');
  });

  it('refuses what is no object', async () => {
    for (const text of ['[]', 'null', '7', '"x"']) {
      expect((await parseSeedFile(text, 's'))._unsafeUnwrapErr().message).toContain('s: at the top level: ');
    }
  });
});
