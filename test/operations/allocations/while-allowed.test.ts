import { okAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import type { CommandOutput, CommandPerformer } from '../../../src/agent/link/node-command.js';
import { hostPrincipal, type Principal } from '../../../src/index.js';
import { putPolicy, removePolicy } from '../../../src/operations/access/policies.js';
import { authenticateToken } from '../../../src/operations/access/tokens/authenticate-token.js';
import { removeToken, saveToken } from '../../../src/operations/access/tokens/save-token.js';
import { streamAllocationFile, streamTaskLogs } from '../../../src/operations/allocations/read-allocation-files.js';
import { execInAllocation } from '../../../src/operations/allocations/run-in-allocation.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { unlessAborted } from '../../../src/operations/node-commands/remote-performer.js';
import { monitorLog } from '../../../src/operations/store/monitor-log.js';
import { allocations } from '../../../src/scheduler/allocation.js';
import { minute, second } from '../../../src/shared/duration.js';
import { fakeCluster } from '../../support/fake-agents.js';
import { group } from '../jobs/world.js';

/** What goes on for long, while its caller loses the right to it. */
const byte: CommandOutput = { type: 'piece', file: 'x', offset: 1, bytes: Uint8Array.of(7) };

/** A node whose commands give one piece and then nothing until they are ended. */
function quietNode(ended: string[]): CommandPerformer {
  return ({ type }, _input, signal) =>
    okAsync(
      (async function* () {
        yield byte;
        await unlessAborted(new Promise(() => undefined), signal);
        ended.push(type);
        yield byte;
      })(),
    );
}

const rules =
  'namespace "default" { capabilities = ["read-fs", "alloc-exec", "alloc-node-exec"] }\nagent { policy = "read" }';
const fewer = 'namespace "default" { policy = "deny" }';

async function installation() {
  const cluster = fakeCluster();
  const { engine, clock } = cluster;
  await cluster.addNode('n1');
  const job = { ID: 'web', Type: 'service' as const, Datacenters: ['*'], TaskGroups: [group({ Count: 1 })] };
  (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
  await clock.advance(30 * second);
  const [allocation] = await cluster.rows(allocations);
  const ended: string[] = [];
  engine.agents.attach('n1', quietNode(ended));
  const setPolicy = async (name: string, text: string) =>
    (await putPolicy(engine, hostPrincipal, { name, rules: text }))._unsafeUnwrap();
  await setPolicy('p', rules);
  const made = await saveToken(engine, hostPrincipal, { name: 't', type: 'client', policies: ['p'], lifetime: minute });
  const { SecretID, AccessorID } = made._unsafeUnwrap();
  const caller = (await authenticateToken(engine, SecretID))._unsafeUnwrap() as Principal;
  const task = Object.keys(allocation?.TaskStates ?? {})[0] ?? '';
  return { cluster, engine, clock, ended, setPolicy, AccessorID, caller, allocationId: allocation?.ID ?? '', task };
}

type Installation = Awaited<ReturnType<typeof installation>>;

const never = new AbortController().signal;

const calls: Readonly<Record<string, (own: Installation, caller: Principal) => Promise<AsyncIterable<unknown>>>> = {
  exec: async ({ engine, allocationId, task }, caller) =>
    (await execInAllocation(engine, caller, { allocationId, task, command: ['sh'] }))._unsafeUnwrap(),
  stream_file: async ({ engine, allocationId }, caller) => {
    const query = { allocationId, path: 'x', offset: 0, origin: 'start', follow: true } as const;
    return (await streamAllocationFile(engine, caller, query))._unsafeUnwrap();
  },
  stream_logs: async ({ engine, allocationId, task }, caller) => {
    const query = { allocationId, task, stream: 'stdout', offset: 0, origin: 'start', follow: true } as const;
    return (await streamTaskLogs(engine, caller, query))._unsafeUnwrap();
  },
  monitor: async ({ engine }, caller) => (await monitorLog(engine, caller, { signal: never }))._unsafeUnwrap(),
};

async function execUntil({ engine, allocationId, task }: Installation, caller: Principal, signal: AbortSignal) {
  const input = { allocationId, task, command: ['sh'], signal };
  return (await execInAllocation(engine, caller, input))._unsafeUnwrap()[Symbol.asyncIterator]();
}

const losses: Readonly<Record<string, (own: Installation) => Promise<unknown>>> = {
  'its token is removed': async ({ engine, AccessorID }) =>
    (await removeToken(engine, hostPrincipal, { accessor: AccessorID }))._unsafeUnwrap(),
  'its token expires': ({ clock }) => clock.advance(minute),
  'its policy is removed': async ({ engine }) =>
    (await removePolicy(engine, hostPrincipal, { name: 'p' }))._unsafeUnwrap(),
  'its policy permits less': ({ setPolicy }) => setPolicy('p', fewer),
};

const cases = Object.keys(calls).flatMap((call) => Object.keys(losses).map((loss) => [call, loss] as const));

async function rest(items: AsyncIterator<unknown>): Promise<unknown[]> {
  const found = [];
  for (let item = await items.next(); item.done !== true; item = await items.next()) found.push(item.value);
  return found;
}

describe('what goes on for long', () => {
  it.each(cases)('%s ends when %s', async (name, loss) => {
    const own = await installation();
    await using _cluster = own.cluster;
    const items = (await calls[name]?.(own, own.caller))?.[Symbol.asyncIterator]() as AsyncIterator<unknown>;
    expect((await items.next()).value).toEqual(name === 'monitor' ? undefined : byte);
    const left = rest(items);
    await losses[loss]?.(own);
    const told = (await left).filter((item) => item !== undefined);
    expect(told).toEqual(name === 'monitor' ? [] : [{ type: 'failed', message: 'Permission denied' }]);
    expect(own.ended).toEqual(name === 'monitor' ? [] : [name]);
  });

  it.each([
    ['the rights of others change', (own: Installation) => own.setPolicy('other', fewer)],
    ['its caller gets more rights', (own: Installation) => own.setPolicy('p', `${rules}\nnode { policy = "read" }`)],
  ])('goes on when %s', async (_what, change) => {
    const own = await installation();
    await using _cluster = own.cluster;
    const items = (await calls['exec']?.(own, own.caller))?.[Symbol.asyncIterator]() as AsyncIterator<unknown>;
    await items.next();
    const left = rest(items);
    await change(own);
    await own.clock.advance(second);
    expect(own.ended).toEqual([]);
    await losses['its token is removed']?.(own);
    expect(await left).toHaveLength(1);
  });

  it('goes on for a caller whom the host authenticated', async () => {
    const own = await installation();
    await using _cluster = own.cluster;
    const left = new AbortController();
    const items = await execUntil(own, hostPrincipal, left.signal);
    await items.next();
    const next = items.next();
    await losses['its token is removed']?.(own);
    await own.clock.advance(second);
    expect(own.ended).toEqual([]);
    left.abort();
    expect((await next).value).toEqual(byte);
  });

  it('ends with the signal of its caller', async () => {
    const own = await installation();
    await using _cluster = own.cluster;
    const left = new AbortController();
    const items = await execUntil(own, own.caller, left.signal);
    await items.next();
    left.abort();
    expect((await items.next()).value).toEqual(byte);
    expect((await items.next()).done).toBe(true);
    expect(own.ended).toEqual(['exec']);
  });
});
