import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { aesCipher } from '../../../adapters/node/index.js';
import { createEngine, type Engine, hostPrincipal, type Principal } from '../../../src/index.js';
import { workloadCaller } from '../../../src/operations/access/tokens/authenticate-token.js';
import { putNamespace, removeNamespace } from '../../../src/operations/namespaces/namespaces.js';
import { listVariables, readVariable } from '../../../src/operations/variables/read-variables.js';
import {
  type PutVariableInput,
  putVariable,
  removeVariable,
  renewLock,
} from '../../../src/operations/variables/write-variable.js';
import { second } from '../../../src/shared/duration.js';
import { variables } from '../../../src/variables/variable.js';

function engineAt(options: { readonly sealed?: boolean } = {}) {
  const clock = manualClock();
  const ports = { storage: memoryStorage(), clock, ids: sequentialIds(), delivery: recordingDelivery({ clock }) };
  const cipher = aesCipher({ keys: [{ id: 'k', key: new Uint8Array(32) }], current: 'k' });
  return { engine: createEngine(options.sealed === true ? { ...ports, cipher } : ports), clock };
}

const put = async (engine: Engine, input: Partial<PutVariableInput>, caller: Principal = hostPrincipal) =>
  (await putVariable(engine, caller, { path: 'a/b', items: { k: 'v' }, ...input }))._unsafeUnwrap();

function callerWith(
  paths: Readonly<Record<string, readonly ('list' | 'read' | 'write' | 'destroy' | 'deny')[]>>,
): Principal {
  const rule = { capabilities: [], variables: paths };
  return { accessor: 'a', name: 'a', management: false, namespaces: { default: rule }, workspaces: {} };
}

describe('a variable', () => {
  it('is written, read, listed and removed, and encrypted at rest', async () => {
    const { engine } = engineAt({ sealed: true });
    const first = await put(engine, { items: { user: 'ada', password: 'very secret' } });
    expect(first).toMatchObject({
      conflict: false,
      value: { Path: 'a/b', Namespace: 'default', Items: { user: 'ada' } },
    });
    const stored = (await engine.storage.read((view) => view.list(variables).map(({ text }) => text)))._unsafeUnwrap();
    expect(stored.join()).not.toContain('secret');
    await put(engine, { path: 'b', items: { k: 'v' } });
    const again = await put(engine, { items: { user: 'bob' } });
    expect(again.value).toMatchObject({ CreateIndex: first.index, ModifyIndex: again.index, Items: { user: 'bob' } });
    const read = (await readVariable(engine, hostPrincipal, { path: 'a/b' }))._unsafeUnwrap();
    expect(read).toEqual({ index: again.index, value: again.value });
    const listed = (await listVariables(engine, hostPrincipal, { prefix: 'a' }))._unsafeUnwrap().value.items;
    expect(listed.map(({ Path }) => Path)).toEqual(['a/b']);
    expect(JSON.stringify(listed)).not.toContain('bob');
    const page = (await listVariables(engine, hostPrincipal, { namespace: '*', perPage: 1 }))._unsafeUnwrap().value;
    expect(page).toMatchObject({ items: [{ Path: 'a/b' }], nextToken: 'default.b' });
    await removeVariable(engine, hostPrincipal, { path: 'a/b' });
    expect((await readVariable(engine, hostPrincipal, { path: 'a/b' }))._unsafeUnwrap().value).toBeUndefined();
  });

  it('is checked and set', async () => {
    const { engine } = engineAt();
    const made = await put(engine, { cas: 0 });
    const late = await put(engine, { cas: 0, items: { k: 'late' } });
    expect(late).toMatchObject({ conflict: true, index: made.index, value: { Items: { k: 'v' } } });
    const writer = callerWith({ '*': ['write', 'destroy'] });
    const blind = await put(engine, { cas: 0 }, writer);
    expect(blind).toMatchObject({ conflict: true, value: { Items: null } });
    expect((await put(engine, { cas: made.index, items: { k: 'w' } })).conflict).toBe(false);
    const gone = (await removeVariable(engine, writer, { path: 'a/b', cas: made.index }))._unsafeUnwrap();
    expect(gone).toMatchObject({ conflict: true, value: { Items: null } });
    const absent = (await removeVariable(engine, writer, { path: 'x', cas: 7 }))._unsafeUnwrap();
    expect(absent).toMatchObject({ conflict: true, value: { Path: 'x', ModifyIndex: 0 } });
  });

  it.each<[Partial<PutVariableInput>, string]>([
    [{ path: 'a b' }, 'invalid path'],
    [{ path: 'a.b' }, 'invalid path'],
    [{ path: '' }, 'invalid path'],
    [{ path: 'p'.repeat(129) }, 'invalid path'],
    [{ path: 'nomad' }, 'only paths at'],
    [{ path: 'nomad/other' }, 'only paths at'],
    [{ path: 'nomad/job-templates' }, 'reserved directory'],
    [{ items: {} }, 'empty variables are invalid'],
    [{ items: { k: 'v'.repeat(64 * 1024) } }, 'limited to 64KiB'],
    [{ items: { k: 'é'.repeat(32 * 1024) } }, 'limited to 64KiB'],
    [{ items: { k: '\ud800' } }, 'valid Unicode'],
    [{ namespace: '*' }, 'wildcard'],
    [{ namespace: 'nowhere' }, 'nonexistent namespace'],
    [{ lock: 'acquire', ttl: 1_000_000_000 }, 'TTL must be between'],
    [{ lock: 'acquire', ttl: -1 }, 'must be positive'],
    [{ lock: 'acquire', lockId: 'x'.repeat(129) }, 'lock ID'],
  ])('is refused: %j', async (input, message) => {
    const { engine } = engineAt();
    const refused = (
      await putVariable(engine, hostPrincipal, { path: 'a', items: { k: 'v' }, ...input })
    )._unsafeUnwrapErr();
    expect((refused as { message: string }).message).toContain(message);
  });

  it('keeps whatever names and texts it is given', async () => {
    const { engine } = engineAt({ sealed: true });
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(
          fc.oneof(fc.constantFrom('__proto__', 'constructor', ''), fc.string({ unit: 'grapheme' })),
          fc.string(),
          { minKeys: 1 },
        ),
        async (items) => {
          await put(engine, { items });
          const read = (await readVariable(engine, hostPrincipal, { path: 'a/b' }))._unsafeUnwrap().value;
          expect(Object.entries(read?.Items ?? {})).toEqual(Object.entries(items));
        },
      ),
      { numRuns: 50 },
    );
  });

  it('holds its namespace', async () => {
    const { engine } = engineAt();
    await putNamespace(engine, hostPrincipal, { name: 'team' });
    await put(engine, { namespace: 'team' });
    expect((await removeNamespace(engine, hostPrincipal, { name: 'team' })).isErr()).toBe(true);
    await removeVariable(engine, hostPrincipal, { namespace: 'team', path: 'a/b' });
    expect((await removeNamespace(engine, hostPrincipal, { name: 'team' })).isOk()).toBe(true);
  });
});

describe('rights on variables', () => {
  it('go by path', async () => {
    const { engine } = engineAt();
    for (const path of ['open/one', 'open/secret', 'closed/one']) await put(engine, { path });
    const caller = callerWith({ 'open/*': ['read'], 'open/secret': ['deny'], 'own/*': ['write', 'destroy'] });
    const listed = (await listVariables(engine, caller, {}))._unsafeUnwrap().value.items.map(({ Path }) => Path);
    expect(listed).toEqual(['open/one']);
    expect((await readVariable(engine, caller, { path: 'open/one' })).isOk()).toBe(true);
    const denied = { type: 'permission_denied' };
    for (const path of ['open/secret', 'closed/one', 'own/x', 'nowhere']) {
      expect((await readVariable(engine, caller, { path }))._unsafeUnwrapErr()).toEqual(denied);
    }
    expect((await putVariable(engine, caller, { path: 'open/one', items: { k: 'v' } }))._unsafeUnwrapErr()).toEqual(
      denied,
    );
    expect((await removeVariable(engine, caller, { path: 'open/one' }))._unsafeUnwrapErr()).toEqual(denied);
    expect((await renewLock(engine, caller, { path: 'open/one', lockId: 'x' }))._unsafeUnwrapErr()).toEqual(denied);
    expect((await put(engine, { path: 'own/x' }, caller)).conflict).toBe(false);
    expect((await readVariable(engine, caller, { namespace: '*', path: 'open/one' }))._unsafeUnwrapErr()).toEqual(
      denied,
    );
  });

  it('a task reads what its job is given', async () => {
    const { engine } = engineAt();
    for (const path of ['nomad/jobs/web/app/main', 'nomad/jobs/web', 'nomad/jobs/db', 'web'])
      await put(engine, { path });
    const workload = { namespace: 'default', jobId: 'web', group: 'app', task: 'main' };
    const task = (await workloadCaller(engine, workload))._unsafeUnwrap();
    const listed = (await listVariables(engine, task, {}))._unsafeUnwrap().value.items.map(({ Path }) => Path);
    expect(listed).toEqual(['nomad/jobs/web', 'nomad/jobs/web/app/main']);
    expect((await readVariable(engine, task, { path: 'nomad/jobs/web/app/main' })).isOk()).toBe(true);
    expect((await readVariable(engine, task, { path: 'nomad/jobs/db' })).isErr()).toBe(true);
  });
});

describe('a lock', () => {
  const acquire = { lock: 'acquire' as const, ttl: 10_000_000_000, lockDelay: 5_000_000_000 };

  it('is held by one, renewed, released', async () => {
    const { engine, clock } = engineAt();
    const { value } = await put(engine, acquire);
    const lockId = value.Lock?.ID ?? '';
    expect(value.Lock).toEqual({ ID: lockId, TTL: '10s', LockDelay: '5s' });
    expect(lockId).not.toBe('');
    const seen = (await readVariable(engine, hostPrincipal, { path: 'a/b' }))._unsafeUnwrap().value;
    expect(seen?.Lock).toEqual({ ID: '', TTL: '10s', LockDelay: '5s' });
    for (const input of [acquire, {}, { lockId: 'other' }, { lock: 'release' as const, lockId: 'other' }]) {
      const refused = await put(engine, input);
      expect(refused.conflict).toBe(true);
      expect(JSON.stringify(refused)).not.toContain(lockId);
    }
    expect((await removeVariable(engine, hostPrincipal, { path: 'a/b' }))._unsafeUnwrap().conflict).toBe(true);
    await clock.advance(9 * second);
    const kept = (await renewLock(engine, hostPrincipal, { path: 'a/b', lockId }))._unsafeUnwrap();
    expect(kept).toMatchObject({ conflict: false, value: { ModifyIndex: value.ModifyIndex } });
    expect((await renewLock(engine, hostPrincipal, { path: 'a/b', lockId: 'x' }))._unsafeUnwrap().conflict).toBe(true);
    await clock.advance(9 * second);
    expect((await put(engine, { lockId, items: { k: 'held' } })).conflict).toBe(false);
    const { items: _items, ...alone } = { path: 'a/b', lock: 'release' as const, lockId, items: undefined };
    const released = (await putVariable(engine, hostPrincipal, alone))._unsafeUnwrap();
    expect(released.value.Items).toBeNull();
    expect((await readVariable(engine, hostPrincipal, { path: 'a/b' }))._unsafeUnwrap().value?.Items).toEqual({
      k: 'held',
    });
    expect(released.value.Lock).toBeUndefined();
    // A lock that was given back can be had at once.
    expect((await put(engine, acquire)).conflict).toBe(false);
  });

  it('is lost when it is not renewed, and free after its delay, whatever the wall clock does', async () => {
    for (const running of [false, true]) {
      const { engine, clock } = engineAt();
      if (running) engine.start();
      const { value } = await put(engine, acquire);
      await clock.step(3600 * second);
      expect((await put(engine, {})).conflict).toBe(true);
      await clock.step(-7200 * second);
      await clock.advance(11 * second);
      expect((await renewLock(engine, hostPrincipal, { path: 'a/b', lockId: value.Lock?.ID ?? '' })).isErr()).toBe(
        true,
      );
      expect((await put(engine, acquire)).conflict).toBe(true);
      expect((await put(engine, {})).conflict).toBe(false);
      await clock.advance(5 * second);
      const next = await put(engine, acquire);
      expect(next.conflict).toBe(false);
      expect(next.value.Lock?.ID).not.toBe(value.Lock?.ID);
      await engine.stop();
    }
  });

  it('is had by one of many who ask at once', async () => {
    const { engine } = engineAt();
    const answers = await Promise.all(Array.from({ length: 20 }, () => put(engine, acquire)));
    expect(answers.filter(({ conflict }) => !conflict)).toHaveLength(1);
  });
});
