import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Client, connect } from '../../../../src/client/index.js';
import { type Installation, installation } from '../../../support/installation.js';
import { isGone } from '../../../support/leftovers.js';
import { patience } from '../../../support/patience.js';
import { type Child, endAll } from '../cli-process.js';

const nodeId = '0a0b0c0d-0000-4000-8000-00000000000a';
let installed: Installation;
let box: Client;
let url: string;

beforeEach(async () => {
  installed = await installation();
  url = await serve('30s').origin();
  box = connect({ url });
});
afterEach(async () => {
  endAll();
  await installed.remove();
});

/** A server on the store, which takes a node for dead that was silent for so long. */
function serve(heartbeatTtl: string): Child {
  const args = ['--listen', '127.0.0.1:0', '--store', `sqlite:${installed.store}`, '--no-runner', '--access', 'open'];
  return installed.run(['serve', ...args], { SIGNALBOX_SCHEDULING_HEARTBEAT_TTL: heartbeatTtl });
}

/**
 * Waits until the node of an agent that has become silent counts as dead. A server with little patience says so, and ends: agents that
 * live are watched by one with more, which a busy machine does not exhaust.
 */
async function takenForDead(): Promise<void> {
  const watcher = serve('3s');
  await watcher.origin();
  await until(async () => (await statusOfNode()) === 'down');
  watcher.process.kill('SIGTERM');
  expect(await watcher.ended).toMatchObject({ code: 0 });
}

const folder = (name: string): string => join(installed.folder, name);
const registered = (agent: Child) => agent.printed(/node (\S+) is registered with/);

function agent(directory: string, more: readonly string[] = []): Child {
  return installed.run(['agent', '--server', url, '--directory', folder(directory), '--node-id', nodeId, ...more]);
}

/** Registers a service with one task that writes its process number into a file for each start, and waits for the first. */
async function runService(): Promise<string> {
  const args = ['-c', `echo $$ >> '${folder('starts')}'; exec sleep 300`];
  const task = { Name: 't', Driver: 'raw_exec', Config: { command: '/bin/sh', args } };
  const TaskGroups = [{ Name: 'g', Tasks: [{ ...task, Resources: { CPU: 10, MemoryMB: 10 } }] }];
  (await box.jobs.register({ ID: 'work', Type: 'service', Datacenters: ['*'], TaskGroups }))._unsafeUnwrap();
  await until(() => starts().length === 1);
  return starts()[0] as string;
}

/** The file is there before its first line. */
const starts = (): string[] =>
  existsSync(folder('starts')) ? readFileSync(folder('starts'), 'utf8').split('\n').slice(0, -1) : [];

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const limit = AbortSignal.timeout(patience); !(await holds()); await pause(20)) limit.throwIfAborted();
}

const statusOfNode = async () => (await box.nodes.read(nodeId))._unsafeUnwrap().value?.Status;

it('a second agent with the ID of a node is refused while the first lives, also with a copy of its folder', async () => {
  const first = agent('first');
  await registered(first);
  const started = await runService();
  const second = agent('second');
  expect(await second.ended).toMatchObject({ code: 1 });
  expect(second.error()).toContain(`another live agent owns the node ${nodeId}`);
  // As on another host, where the lock tells nothing.
  execFileSync('cp', ['-a', folder('first'), folder('copy')]);
  rmSync(folder('copy/lock'));
  const copy = agent('copy');
  expect(await copy.ended).toMatchObject({ code: 1 });
  expect(copy.error()).toContain('another live agent owns the node');
  expect(first.process.exitCode).toBe(null);
  expect([starts(), isGone(Number(started))]).toEqual([[started], false]);
});

it('an agent that was killed and is started again on its folder goes on at once', async () => {
  const first = agent('first');
  await registered(first);
  const started = await runService();
  first.process.kill('SIGKILL');
  await first.ended;
  const again = agent('first', ['--on-stop', 'kill']);
  await registered(again);
  (await box.jobs.stop('work'))._unsafeUnwrap();
  await until(() => isGone(Number(started)));
  expect(starts()).toEqual([started]);
});

it('an agent takes over the node of one that is silent, which ends what it runs when it comes back', async () => {
  const first = agent('first');
  await registered(first);
  const started = await runService();
  first.process.kill('SIGSTOP');
  await takenForDead();
  const second = agent('second', ['--on-stop', 'kill']);
  await registered(second);
  first.process.kill('SIGCONT');
  expect(await first.ended).toMatchObject({ code: 1 });
  expect(first.error()).toContain('another live agent owns the node');
  expect(isGone(Number(started))).toBe(true);
  await until(() => starts().length === 2);
  expect(second.process.exitCode).toBe(null);
});

it('what is left of an agent whose node has another one by now is ended at its next start', async () => {
  const first = agent('first');
  await registered(first);
  const started = await runService();
  first.process.kill('SIGKILL');
  await takenForDead();
  const second = agent('second', ['--on-stop', 'kill']);
  await registered(second);
  expect(isGone(Number(started))).toBe(false);
  const again = agent('first');
  expect(await again.ended).toMatchObject({ code: 1 });
  expect(isGone(Number(started))).toBe(true);
});
