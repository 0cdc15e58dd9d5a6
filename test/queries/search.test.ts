import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  canBegin,
  contextsToSearch,
  type FuzzyName,
  type FuzzySources,
  namesOfJob,
  searchByPrefix,
  searchContexts,
  searchFuzzily,
} from '../../src/queries/search.js';
import { groupDocument, jobFrom } from '../support/jobs.js';
import { anyText } from '../support/texts.js';

describe('contexts', () => {
  it('are all of them, or the one that is asked for', () => {
    expect(contextsToSearch('all', () => true)._unsafeUnwrap()).toEqual(searchContexts);
    expect(contextsToSearch('evals', () => true)._unsafeUnwrap()).toEqual(['evals']);
  });

  it('are left out of all, but refused by name, where they are not allowed', () => {
    const isAllowed = (context: string, byName: boolean): boolean =>
      context === 'jobs' || (context === 'nodes' && !byName);
    expect(contextsToSearch('all', isAllowed)._unsafeUnwrap()).toEqual(['jobs', 'nodes']);
    expect(contextsToSearch('nodes', isAllowed)._unsafeUnwrapErr()).toMatchObject({ reason: 'not_allowed' });
  });

  it.each(['', 'planets', 'Jobs', '__proto__'])('%j is none', (context) => {
    expect(contextsToSearch(context, () => true)._unsafeUnwrapErr()).toEqual({
      type: 'search_refused',
      reason: 'unknown_context',
      message: `context must be one of [allocs jobs nodes node_pools evals deployment plugins volumes scaling_policy vars namespaces host_volumes] or 'all' for all contexts; got ${JSON.stringify(context)}`,
    });
  });

  it.each([
    ['', true],
    ['ab', true],
    ['abc', true],
    ['ABC', true],
    ['abcd1234-', true],
    ['abcd1234-a', true],
    ['xyz', false],
    ['not hex', false],
    ['abc-', false],
    ['a'.repeat(38), false],
    ['-----', false],
    ['abcd1234-1234-1234-1234-123456789012', true],
  ])('an identifier can begin with %j: %s', (prefix, can) => {
    expect(canBegin('evals', prefix)).toBe(can);
    expect(canBegin('jobs', prefix)).toBe(true);
  });
});

describe('prefix search', () => {
  const names: Readonly<Record<string, readonly string[]>> = {
    jobs: ['found', 'found-two', 'other'],
    evals: ['ab12', 'ab34', 'cd'],
    namespaces: ['default'],
  };
  const search = (prefix: string, ...contexts: (typeof searchContexts)[number][]) =>
    searchByPrefix(prefix, contexts, (context) => names[context] ?? []);

  it('tells the names of each context, and null where there is none', () => {
    expect(search('found', 'jobs', 'namespaces')).toEqual({
      Matches: { jobs: ['found', 'found-two'], namespaces: null },
      Truncations: { jobs: false, namespaces: false },
    });
  });

  it('leaves out contexts whose names cannot begin so', () => {
    expect(search('found', 'jobs', 'evals', 'allocs')).toEqual({
      Matches: { jobs: ['found', 'found-two'] },
      Truncations: { jobs: false },
    });
  });

  it('compares odd beginnings of identifiers as well', () => {
    expect(search('ab1', 'evals').Matches).toEqual({ evals: ['ab12'] });
  });

  it('is cut after twenty names, and looks at one more', () => {
    let looked = 0;
    function* many(): Generator<string> {
      for (let at = 0; at < 1_000; at += 1) {
        looked += 1;
        yield `job-${at}`;
      }
    }
    const { Matches, Truncations } = searchByPrefix('job', ['jobs'], many);
    expect(Matches.jobs).toHaveLength(20);
    expect(Truncations.jobs).toBe(true);
    expect(looked).toBe(21);
    expect(searchByPrefix('j', ['jobs'], () => Array.from({ length: 20 }, (_, at) => `j${at}`)).Truncations.jobs).toBe(
      false,
    );
  });

  test('what is told begins with the prefix, in order, and is cut only when there is more', () => {
    fc.assert(
      fc.property(fc.array(anyText(6), { maxLength: 40 }), anyText(2), (list, prefix) => {
        const { Matches, Truncations } = searchByPrefix(prefix, ['jobs'], () => list);
        const all = list.filter((name) => name.startsWith(prefix));
        expect(Matches.jobs).toEqual(all.length === 0 ? null : all.slice(0, 20));
        expect(Truncations.jobs).toBe(all.length > 20);
      }),
    );
  });
});

describe('names within a job', () => {
  it('are those of groups, services, tasks and what runs', () => {
    const service = { Name: 'front', Provider: 'nomad', PortLabel: '80' };
    const job = jobFrom({
      ID: 'shop',
      Name: 'Shop',
      TaskGroups: [
        groupDocument(
          { Services: [service] },
          { Name: 'srv', Driver: 'docker', Config: { image: 'acme/shop:1' }, Services: [{ ...service, Name: 'back' }] },
        ),
        groupDocument({ Name: 'cron' }, { Name: 'run', Driver: 'raw_exec', Config: { command: '/bin/run' } }),
      ],
    });
    expect(namesOfJob(job)).toEqual([
      { kind: 'jobs', name: 'Shop', scope: ['default', 'shop'] },
      { kind: 'groups', name: 'app', scope: ['default', 'shop'] },
      { kind: 'services', name: 'front', scope: ['default', 'shop', 'app'] },
      { kind: 'tasks', name: 'srv', scope: ['default', 'shop', 'app'] },
      { kind: 'services', name: 'back', scope: ['default', 'shop', 'app', 'srv'] },
      { kind: 'images', name: 'acme/shop:1', scope: ['default', 'shop', 'app', 'srv'] },
      { kind: 'groups', name: 'cron', scope: ['default', 'shop'] },
      { kind: 'tasks', name: 'run', scope: ['default', 'shop', 'cron'] },
      { kind: 'commands', name: '/bin/run', scope: ['default', 'shop', 'cron', 'run'] },
    ]);
  });

  it.each([
    ['docker', { command: 'x' }],
    ['docker', { image: ['x'] }],
    ['docker', null],
    ['constructor', { image: 'x' }],
    ['function', { name: 'x' }],
  ])('leave out what the driver %s does not run', (Driver, Config) => {
    const job = jobFrom({ TaskGroups: [groupDocument({}, { Driver, Config })] });
    expect(namesOfJob(job).map(({ kind }) => kind)).toEqual(['jobs', 'groups', 'tasks']);
  });
});

describe('fuzzy search', () => {
  const job = (name: string): FuzzyName[] => [{ kind: 'jobs', name, scope: ['default', name] }];
  const sources = (objects: readonly (readonly FuzzyName[])[], identifiers: readonly string[] = []): FuzzySources => ({
    namesIn: () => objects,
    identifiersIn: () => identifiers,
  });

  it('puts the best first: where the text stands, then length, then order', () => {
    const objects = ['my-Web', 'web-b', 'web-a', 'WEB', 'other', 'a-web-server'].map(job);
    const { Matches, Truncations } = searchFuzzily('wEb', ['jobs'], sources(objects))._unsafeUnwrap();
    expect(Matches.jobs?.map(({ ID }) => ID)).toEqual(['WEB', 'web-a', 'web-b', 'a-web-server', 'my-Web']);
    expect(Matches.jobs?.[0]?.Scope).toEqual(['default', 'WEB']);
    expect(Truncations).toEqual({ jobs: false });
  });

  it('leaves out kinds in which nothing was found, and scopes that are none', () => {
    const objects = [[{ kind: 'namespaces', name: 'default', scope: [] } as const]];
    expect(searchFuzzily('def', ['namespaces'], sources(objects))._unsafeUnwrap()).toEqual({
      Matches: { namespaces: [{ ID: 'default' }] },
      Truncations: { namespaces: false },
    });
    expect(searchFuzzily('zz', ['namespaces'], sources(objects))._unsafeUnwrap()).toEqual({
      Matches: {},
      Truncations: { namespaces: false },
    });
  });

  it('finds identifiers by their beginning', () => {
    const { Matches } = searchFuzzily('ab1', ['evals'], sources([], ['ab12', 'cab1']))._unsafeUnwrap();
    expect(Matches).toEqual({ evals: [{ ID: 'ab12' }] });
    expect(searchFuzzily('web', ['evals'], sources([], ['web']))._unsafeUnwrap().Matches).toEqual({ evals: [] });
  });

  it('tells of the kinds within jobs only those that were cut', () => {
    const shop = (at: number, groupName: string): FuzzyName[] => [
      { kind: 'jobs', name: `web-${at}`, scope: ['default'] },
      { kind: 'groups', name: groupName, scope: ['default', `web-${at}`] },
    ];
    const few = searchFuzzily('web', ['jobs'], sources([shop(0, 'web')]))._unsafeUnwrap();
    expect(few.Matches.groups).toHaveLength(1);
    expect(few.Truncations).toEqual({ jobs: false });
    // The twentieth object decides, as the last one that was looked at.
    const many = Array.from({ length: 30 }, (_, at) => shop(at, at < 19 ? 'web' : 'other'));
    expect(searchFuzzily('web', ['jobs'], sources(many))._unsafeUnwrap().Truncations).toEqual({ jobs: true });
    const late = Array.from({ length: 30 }, (_, at) => shop(at, at < 19 ? 'other' : 'web'));
    expect(searchFuzzily('web', ['jobs'], sources(late))._unsafeUnwrap().Truncations).toEqual({
      jobs: true,
      groups: true,
    });
    expect(searchFuzzily('none', ['jobs'], sources(many))._unsafeUnwrap().Truncations).toEqual({ jobs: false });
  });

  it('looks at so many objects and tells so many names', () => {
    const objects = Array.from({ length: 30 }, (_, at) => job(`web-${at}`));
    const few = searchFuzzily('web', ['jobs'], sources(objects))._unsafeUnwrap();
    expect(few.Matches.jobs).toHaveLength(20);
    expect(few.Truncations.jobs).toBe(true);
    const limits = { minimumLength: 2, objects: 100, results: 7 };
    const cut = searchFuzzily('web', ['jobs'], sources(objects), limits)._unsafeUnwrap();
    expect(cut.Matches.jobs?.map(({ ID }) => ID)).toEqual([
      'web-0',
      'web-1',
      'web-2',
      'web-3',
      'web-4',
      'web-5',
      'web-6',
    ]);
    expect(cut.Truncations.jobs).toBe(true);
  });

  it.each([
    ['', 0],
    ['a', 1],
  ])('refuses %j, which is too short', (text, length) => {
    expect(searchFuzzily(text, ['jobs'], sources([]))._unsafeUnwrapErr()).toEqual({
      type: 'search_refused',
      reason: 'too_short',
      message: `fuzzy search query must be at least 2 characters, got ${length}`,
    });
  });

  it('counts bytes', () => {
    expect(searchFuzzily('é', ['jobs'], sources([])).isOk()).toBe(true);
  });
});
