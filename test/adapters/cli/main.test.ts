import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { endAll, signalbox } from './cli-process.js';

/** Real processes: what is printed first, what a signal does, what is left on the disk. */

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'signalbox-cli-'));
});
afterEach(endAll);
afterAll(() => rm(directory, { recursive: true, force: true }));

async function write(name: string, content: unknown): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const jobFile = `
variable "command" { default = "/bin/true" }
job "from-cli" {
  type = "batch"
  group "g" {
    task "t" {
      driver = "raw_exec"
      config { command = var.command }
    }
  }
}
`;

describe('signalbox serve', () => {
  it('makes a management token once, serves, drains on SIGTERM and finds everything again', async () => {
    const store = `sqlite:${join(directory, 'kept.db')}`;
    const seed = await write('seed.json', {
      workspaces: [{ id: 'ws-1', name: 'main', organization: 'org' }],
      namespaces: [{ name: 'team-a', description: 'Team A' }],
      tokens: [
        { secret: 'reader-secret-token', name: 'reader', namespaces: { '*': { capabilities: [], policy: 'read' } } },
      ],
    });
    const args = ['serve', '--listen', '127.0.0.1:0', '--store', store, '--seed', seed, '--no-runner'];
    const first = signalbox(args);
    const origin = await first.origin();
    await expect.poll(() => first.out()).toMatch(/management token, shown this once: \S+\n/);
    const token = /once: (\S+)/.exec(first.out())?.[1] as string;

    const headers = { 'x-svc-token': token };
    expect((await fetch(`${origin}/v1/jobs`)).status).toBe(403);
    expect((await fetch(`${origin}/v1/jobs`, { headers: { 'x-svc-token': 'reader-secret-token' } })).status).toBe(200);
    const namespaces = (await (await fetch(`${origin}/v1/namespaces`, { headers })).json()) as { Name: string }[];
    expect(namespaces.map(({ Name }) => Name)).toEqual(['default', 'team-a']);
    expect((await fetch(`${origin}/workspaces/ws-1/notification-configurations`, { headers })).status).toBe(200);

    const file = await write('job.hcl', jobFile);
    const environment = { SIGNALBOX_ADDR: origin, SIGNALBOX_TOKEN: token };
    const run = signalbox(['job', 'run', file, '--var', 'command=/bin/echo'], environment);
    // There is no node: the job is registered, and waits.
    expect((await run.ended).code, run.error()).toBe(2);
    expect(run.out()).toMatch(/^evaluation \w{8} \([0-9a-f-]{36}\)\n.*is complete\n/s);
    const job = await (await fetch(`${origin}/v1/job/from-cli`, { headers })).json();
    expect(job).toMatchObject({ TaskGroups: [{ Tasks: [{ Config: { command: '/bin/echo' } }] }] });
    const source = await (await fetch(`${origin}/v1/job/from-cli/submission?version=0`, { headers })).json();
    expect(source).toMatchObject({ Source: jobFile, Format: 'hcl2', VariableFlags: { command: '/bin/echo' } });

    // A reader that waits is answered, and the process ends by itself.
    const index = Number((await fetch(`${origin}/v1/jobs`, { headers })).headers.get('x-svc-index'));
    const waiting = fetch(`${origin}/v1/jobs?index=${index + 1000}&wait=5m`, { headers });
    // One that came later has been answered: the one that waits has been read.
    expect((await fetch(`${origin}/v1/jobs`, { headers })).status).toBe(200);
    first.process.kill('SIGTERM');
    expect((await waiting).status).toBe(200);
    expect((await first.ended).code).toBe(0);

    const second = signalbox(args);
    const again = await second.origin();
    expect((await fetch(`${again}/v1/job/from-cli`, { headers })).status).toBe(200);
    expect(second.out()).not.toContain('management token');
    expect(second.error()).toMatch(/^[^\n]*"message":"Secrets are stored unencrypted[^\n]*\n$/);
  });

  it('runs jobs on this host', async () => {
    const child = signalbox(['serve', '--listen', '127.0.0.1:0', '--access', 'open']);
    const origin = await child.origin();
    const job = {
      ID: 'hello',
      Type: 'batch',
      Datacenters: ['*'],
      TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't', Driver: 'raw_exec', Config: { command: '/bin/true' } }] }],
    };
    const put = await fetch(`${origin}/v1/jobs`, { method: 'PUT', body: JSON.stringify({ Job: job }) });
    expect(put.status, await put.text()).toBe(200);
    await expect
      .poll(async () => {
        const allocations = await (await fetch(`${origin}/v1/job/hello/allocations`)).json();
        return (allocations as { ClientStatus: string }[]).map(({ ClientStatus }) => ClientStatus);
      })
      .toEqual(['complete']);
    child.process.kill('SIGTERM');
    expect((await child.ended).code).toBe(0);
  });
});
