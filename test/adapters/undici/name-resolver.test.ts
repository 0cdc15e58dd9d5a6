import { setMaxListeners } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  candidatesFor,
  entriesFrom,
  hostsFile,
  lookupTurns,
  type NameResolverSettings,
  nameResolver,
  searchListFrom,
} from '../../../adapters/undici/name-resolver.js';
import { type NameAnswer, type NameServer, startNameServer } from '../../support/name-server.js';

let server: NameServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const never = new AbortController().signal;
setMaxListeners(0, never);
const noHosts = async () => null;

async function resolving(names: Readonly<Record<string, NameAnswer>>, settings: NameResolverSettings = {}, ttl = 60) {
  server = await startNameServer((name) => names[name] ?? 'missing', ttl);
  const search = { domains: [], dots: 1 };
  const resolve = nameResolver({ servers: [server.address], hosts: noHosts, search, timeout: 60_000, ...settings });
  return (name: string, signal = never, partition = 'one') => resolve(name, { signal, partition });
}

const v6 = '2001:db8:0:0:0:0:0:1';

describe('names', () => {
  test('are looked up in both families, IPv4 first, and remembered for their time to live', async () => {
    const resolve = await resolving({ 'a.example': [v6, '192.0.2.1', '192.0.2.2'], 'six.example': [v6] });
    expect(await resolve('A.example')).toEqual([
      { address: '192.0.2.1', family: 4 },
      { address: '192.0.2.2', family: 4 },
      { address: '2001:db8::1', family: 6 },
    ]);
    await resolve('a.example');
    expect(server?.asked.toSorted()).toEqual(['A a.example', 'AAAA a.example']);
    expect(await resolve('six.example')).toEqual([{ address: '2001:db8::1', family: 6 }]);
  });

  test('with no time to live are asked for again', async () => {
    const resolve = await resolving({ 'a.example': ['192.0.2.1'] }, {}, 0);
    await resolve('a.example');
    await resolve('a.example');
    expect(server?.asked.filter((question) => question === 'A a.example')).toHaveLength(2);
  });

  test('that are not there fail with the code of that, those that nobody answers for with another', async () => {
    const resolve = await resolving({ 'silent.example': 'silent' }, { timeout: 300 });
    await expect(resolve('gone.example')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(resolve('silent.example')).rejects.toMatchObject({ code: 'ETIMEOUT' });
  });

  test('of this host need no query', async () => {
    const file = join(tmpdir(), `signalbox-hosts-${process.pid}`);
    writeFileSync(file, '# comment\n10.1.2.3 Inside inside.corp # more\n::1 inside\nnonsense here\n');
    const resolve = await resolving({}, { hosts: hostsFile(file) });
    expect(await resolve('inside')).toEqual([
      { address: '10.1.2.3', family: 4 },
      { address: '::1', family: 6 },
    ]);
    expect((await resolve('localhost')).map(({ address }) => address)).toEqual(['127.0.0.1', '::1']);
    expect((await resolve('x.localhost')).length).toBe(2);
    expect(server?.asked).toEqual([]);
    rmSync(file);
  });

  test('without a dot are searched for', async () => {
    const search = searchListFrom('nameserver 1.1.1.1\nsearch ns.svc.cluster svc.cluster\noptions ndots:2 edns0\n');
    const resolve = await resolving({ 'hook.svc.cluster': ['192.0.2.9'], 'a.example': ['192.0.2.1'] }, { search });
    expect(await resolve('hook')).toEqual([{ address: '192.0.2.9', family: 4 }]);
    expect(await resolve('a.example')).toEqual([{ address: '192.0.2.1', family: 4 }]);
  });
});

describe('a look-up', () => {
  test('ends with its signal', async () => {
    const resolve = await resolving({ 'silent.example': 'silent' });
    const ending = new AbortController();
    const looking = resolve('silent.example', ending.signal);
    setTimeout(() => ending.abort(), 20);
    await expect(looking).rejects.toThrow();
  });

  test('may take its time, however quickly those before it were answered', async () => {
    const quick = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}.example`);
    // The library under it, which looks at its timeouts once a second, would ask again after the first and give up after the second.
    const late = new Promise<NameAnswer>((resolve) => setTimeout(resolve, 1400, ['192.0.2.7']));
    server = await startNameServer((name) => (name === 'late.example' ? late : ['192.0.2.1']));
    const search = { domains: [], dots: 1 };
    const resolve = nameResolver({ servers: [server.address], hosts: noHosts, search, timeout: 60_000 });
    const options = { signal: never, partition: 'one' };
    for (const name of quick) await resolve(name, options);
    expect(await resolve('late.example', options)).toEqual([{ address: '192.0.2.7', family: 4 }]);
    expect(server.asked.filter((question) => question === 'A late.example')).toHaveLength(1);
  });

  test('of one partition that nobody answers stops no other', async () => {
    const resolve = await resolving({ 'a.example': ['192.0.2.1'], 'silent.example': 'silent' });
    const ending = new AbortController();
    setMaxListeners(0, ending.signal);
    let ended = 0;
    const stuck = Array.from({ length: 100 }, () =>
      resolve('silent.example', ending.signal, 'bad').finally(() => {
        ended += 1;
      }),
    );
    expect(await resolve('a.example', never, 'good')).toHaveLength(1);
    expect(ended).toBe(0);
    ending.abort();
    expect((await Promise.allSettled(stuck)).every(({ status }) => status === 'rejected')).toBe(true);
  });
});

test('turns: so many for each, one for each whatever the others do', async () => {
  const turns = lookupTurns({ perPartition: 2, all: 3 });
  const entered: string[] = [];
  const enter = (name: string, signal = never) =>
    turns.enter(name, signal).then((leave) => {
      entered.push(name);
      return leave;
    });
  const first = await enter('a');
  await enter('a');
  await enter('b');
  const waiting = enter('a');
  const givesUp = new AbortController();
  const gone = enter('b', givesUp.signal);
  await enter('c');
  await enter('d');
  expect(entered).toEqual(['a', 'a', 'b', 'c', 'd']);
  givesUp.abort();
  await expect(gone).rejects.toThrow();
  first();
  first();
  await new Promise((resolve) => setImmediate(resolve));
  expect(entered).toEqual(['a', 'a', 'b', 'c', 'd']);
  const ends = await turns.enter('e', never);
  ends();
  void waiting;
});

test.each([
  ['a.b', { domains: ['x'], dots: 1 }, ['a.b', 'a.b.x']],
  ['a', { domains: ['x', 'y.'], dots: 1 }, ['a.x', 'a.y', 'a']],
  ['a.b', { domains: ['x'], dots: 5 }, ['a.b.x', 'a.b']],
  ['a.b.', { domains: ['x'], dots: 5 }, ['a.b']],
])('%s is asked for as %j says', (name, search, expected) => {
  expect(candidatesFor(name, search)).toEqual(expected);
});

test('a hosts file that cannot be read names nobody', async () => {
  expect(await hostsFile('/nowhere/hosts')('a')).toBeNull();
  expect(entriesFrom('127.0.0.1\tone two\r\n').get('two')).toEqual([{ address: '127.0.0.1', family: 4 }]);
});
