import { describe, expect, it } from 'vitest';
import {
  addressSegments,
  differences,
  entriesBelow,
  itemsOfRows,
  jobOfPath,
  merged,
} from '../../web/rules/variable-paths.js';

const at = (Path: string) => ({ Namespace: 'default', Path });

describe('the tree of paths', () => {
  it('has folders with their counts first, then the variables', () => {
    const all = ['zed', 'app/db', 'app/db/replica', 'app/cache', 'nomad/jobs/web'].map(at);
    expect(entriesBelow(all, '').map(({ type, path }) => [type, path])).toEqual([
      ['folder', 'app'],
      ['folder', 'nomad'],
      ['variable', 'zed'],
    ]);
    expect(entriesBelow(all, 'app/')).toEqual([
      { type: 'folder', name: 'db', path: 'app/db', count: 1 },
      { type: 'variable', name: 'cache', path: 'app/cache', variable: at('app/cache') },
      { type: 'variable', name: 'db', path: 'app/db', variable: at('app/db') },
    ]);
  });

  it('counts what is below a folder at any depth', () => {
    expect(entriesBelow(['a/b/c', 'a/d', 'a/e/f/g'].map(at), '')).toEqual([
      { type: 'folder', name: 'a', path: 'a', count: 3 },
    ]);
  });

  it('ends with paths that have empty segments', () => {
    expect(entriesBelow([at('/a')], '').map(({ path }) => path)).toEqual(['/a']);
    expect(entriesBelow([at('a//b')], 'a/').map(({ path }) => path)).toEqual(['a//b']);
    expect(entriesBelow([at('a/')], 'a/')).toEqual([]);
  });

  it.each([
    ['app/db', ['app', 'db']],
    ['a//b', ['a//b']],
    ['/a', ['/a']],
    ['a/', ['a/']],
  ])('%s survives its address', (path, segments) => {
    expect(addressSegments(path)).toEqual(segments);
    expect(addressSegments(path).map(encodeURIComponent).map(decodeURIComponent).join('/')).toBe(path);
  });

  it.each([
    ['nomad/jobs', undefined],
    ['nomad/jobs/', undefined],
    ['nomad/jobs/web', { job: 'web' }],
    ['nomad/jobs/web/g/t', { job: 'web', group: 'g', task: 't' }],
    ['nomad/jobs/web/g/t/x', undefined],
    ['app/jobs/web', undefined],
  ])('%s belongs to the job %j', (path, job) => {
    expect(jobOfPath(path)).toEqual(job);
  });
});

describe('two versions of the items', () => {
  const base = { a: '1', b: '1', c: '1', d: '1' };
  const mine = { a: '2', b: '2', d: '1', e: 'mine' };
  const theirs = { a: '1', b: '3', c: '2', d: '1', e: 'mine', f: 'new' };

  it('says what each side did, and where both differ', () => {
    expect(differences(base, mine, theirs)).toEqual([
      { name: 'a', mine: 'changed', theirs: 'kept', isConflict: false },
      { name: 'b', mine: 'changed', theirs: 'changed', isConflict: true },
      { name: 'c', mine: 'removed', theirs: 'changed', isConflict: true },
      { name: 'e', mine: 'added', theirs: 'added', isConflict: false },
      { name: 'f', mine: 'kept', theirs: 'added', isConflict: false },
    ]);
  });

  it.each([
    [{}, { a: '2', b: '2', d: '1', e: 'mine', f: 'new' }],
    [
      { b: 'theirs', c: 'theirs' },
      { a: '2', b: '3', c: '2', d: '1', e: 'mine', f: 'new' },
    ],
    [
      { b: 'mine', c: 'theirs' },
      { a: '2', b: '2', c: '2', d: '1', e: 'mine', f: 'new' },
    ],
  ] as const)('with the choices %j both sides are merged', (choices, result) => {
    expect(merged(base, mine, theirs, choices)).toEqual(result);
  });

  it('takes names of built-in members for what they are', () => {
    expect(differences({}, { constructor: 'x' }, {})).toEqual([
      { name: 'constructor', mine: 'added', theirs: 'kept', isConflict: false },
    ]);
  });
});

it.each([
  [[], 'A variable needs at least one item.'],
  [[{ key: 1, name: ' ', value: 'x' }], 'Each item needs a name.'],
  [
    [
      { key: 1, name: 'a', value: 'x' },
      { key: 2, name: 'a ', value: 'y' },
    ],
    'There are two items with the name a.',
  ],
])('the rows %j are not saved: %s', (rows, problem) => {
  expect(itemsOfRows(rows)).toEqual({ problem });
});

it('rows become items with trimmed names and whole values', () => {
  expect(itemsOfRows([{ key: 1, name: ' a', value: ' x\n' }])).toEqual({ items: { a: ' x\n' } });
});
