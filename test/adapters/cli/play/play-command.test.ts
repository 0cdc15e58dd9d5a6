import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../../../adapters/cli/run-command.js';
import { readTextFile } from '../../../../adapters/cli/terminal.js';
import { testEngine } from '../../../../adapters/testing/index.js';
import { exportStore, hostPrincipal, orThrow } from '../../../../src/index.js';
import { endAll, signalbox, temporaryFolder } from '../cli-process.js';

/* `signalbox play`: real processes, over HTTP. */

afterEach(endAll);

const job = {
  ...{ ID: 'web', Type: 'service', Datacenters: ['*'] },
  TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't', Driver: 'docker', Config: { image: 'x' } }] }],
};

async function play(...options: readonly string[]) {
  const child = signalbox(['play', '--listen', '127.0.0.1:0', ...options]);
  const origin = await child.origin();
  const call = async (path: string, body?: unknown) => {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${origin}${path}`, sent);
    const text = await response.text();
    return { status: response.status, value: response.ok ? JSON.parse(text) : text };
  };
  const clock = async () => (await call('/ui-clock')).value;
  const arrived = async (to: number): Promise<void> => {
    const at = new Date(to).toISOString();
    expect((await call('/ui-clock', { to: at })).status).toBe(200);
    await expect.poll(clock, { interval: 20 }).toMatchObject({ now: at, isMoving: false });
  };
  return { child, origin, call, clock, arrived };
}

describe('signalbox play', () => {
  it('places jobs on simulated nodes, moves time, and goes back', async () => {
    const { child, origin, call, clock, arrived } = await play();
    const { start } = await clock();
    expect(child.out()).toContain(`web page: ${origin}/ui/`);
    expect((await call('/v1/jobs', { Job: job })).status).toBe(200);
    const began = Date.parse(start);
    await arrived(began + 60_000);
    expect((await call('/v1/job/web/allocations')).value).toMatchObject([
      { ClientStatus: 'running', NodeName: expect.stringMatching(/^simulated-[123]$/) },
    ]);
    await arrived(began);
    expect(await clock()).toMatchObject({ world: 1 });
    expect((await call('/v1/jobs')).value).toEqual([]);
    expect((await call('/v1/nodes')).value).toHaveLength(3);
    child.process.kill('SIGTERM');
    expect(await child.ended).toEqual({ code: 0, signal: null });
  });

  it('opens an export, with its time; readers that wait are answered when time goes back', async () => {
    const file = join(temporaryFolder(), 'incident.jsonl');
    const world = await testEngine({ nodes: 1, start: Date.parse('2030-01-01T00:00:00Z') });
    await orThrow(world.engine.as(hostPrincipal).jobs.register(job as never));
    await world.advance('5m');
    const pieces: string[] = [];
    await orThrow(exportStore(world.engine, () => (piece) => void pieces.push(piece)));
    await world.stop();
    writeFileSync(file, pieces.join(''));
    const { origin, call, clock, arrived } = await play(file, '--nodes', '2');
    expect(await clock()).toMatchObject({ now: '2030-01-01T00:05:00.000Z', title: file });
    expect((await call('/v1/nodes')).value).toHaveLength(3);
    expect((await call('/v1/job/web/allocations')).value).toMatchObject([{ ClientStatus: 'running' }]);
    await arrived(Date.parse('2030-01-01T01:00:00Z'));
    const waiting = fetch(`${origin}/v1/jobs?index=100000&wait=10m`);
    const streaming = fetch(`${origin}/v1/event/stream`).then((response) => response.text());
    await arrived(Date.parse('2030-01-01T00:30:00Z'));
    await (await waiting).text();
    await streaming.catch(() => undefined);
  });

  it.each([
    [['a', 'b'], 2, 'expected one FILE, or none'],
    [[''], 2, 'expected one FILE, or none'],
    [['--nodes', '101'], 2, '--nodes takes a number from 0 to 100'],
    [['--nodes', 'x'], 2, '--nodes takes a number, not "x"'],
    [['--batch-seconds', '-1'], 2, ''],
    [['--listen', 'here'], 2, '--listen takes HOST:PORT, such as 127.0.0.1:4747'],
    [['--read-only'], 2, "Unknown option '--read-only'"],
    [['/does/not/exist'], 1, 'ENOENT: no such file or directory'],
    [[new URL(import.meta.url).pathname], 1, 'line 1: '],
  ])('%j ends with %i and says %j', async (args, code, message) => {
    let error = '';
    const terminal = {
      ...{ environment: {}, isTerminal: false, colours: false, input: async () => '', readFile: readTextFile },
      out: () => undefined,
      error: (text: string) => {
        error += text;
      },
    };
    const listening = code === 1 ? ['--listen', '127.0.0.1:0'] : [];
    expect(await runCommand(['play', ...listening, ...args], terminal as never)).toBe(code);
    expect(error).toMatch(/^signalbox: /);
    expect(error).toContain(message);
  });
});
