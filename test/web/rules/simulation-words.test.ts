import { describe, expect, it } from 'vitest';
import {
  cutText,
  type Fate,
  fatesOf,
  fatesSentence,
  isOfGroup,
  movesOf,
  outcomesOf,
  placesText,
  registrationSentences,
  verdictOf,
} from '../../../web/rules/simulation-words.js';

const from = '2026-11-30T14:00:00.000Z';
const at = (seconds: number): string => new Date(Date.parse(from) + seconds * 1000).toISOString();
const line = (seconds: number, subject: string, text: string, jobId = subject.split('.')[0] ?? '') => ({
  ...{ at: at(seconds), kind: 'allocation', namespace: 'default', jobId, subject, text },
});
const end = (jobId: string, running: number, isWaiting = false, starting = 0) => ({
  ...{ namespace: 'default', jobId, running, starting, isWaiting },
});
const played = (
  timeline: readonly ReturnType<typeof line>[],
  jobs: readonly ReturnType<typeof end>[] = [],
  more: { readonly isCut?: boolean; readonly playedUntil?: string } = {},
) => ({ from, until: at(3600), playedUntil: at(3600), isCut: false, timeline, jobs, ...more });

describe('what is placed and what stops', () => {
  it.each([
    {
      name: 'a new allocation',
      lines: [
        line(0, 'web.g[0]', 'placed on n-1'),
        line(1, 'web.g[0]', 'is running on n-1'),
        line(11, 'web.g[0]', 'is healthy'),
      ],
      moves: [['web.g[0]', 0, '', 'n-1', '']],
    },
    {
      name: 'a move, whose new place is decided before the old one has ended',
      lines: [
        line(0, 'web.g[2]', 'alloc is being migrated'),
        line(0, 'web.g[2]', 'placed on n-1'),
        line(2, 'web.g[2]', 'is complete on n-2'),
      ],
      moves: [['web.g[2]', 0, 'n-2', 'n-1', 'its node is drained']],
    },
    {
      name: 'one that has no room elsewhere',
      lines: [line(3, 'web.g[2]', 'alloc is lost since its node is down'), line(3, 'web.g[2]', 'is lost on n-2')],
      moves: [['web.g[2]', 3000, 'n-2', undefined, 'its node is lost']],
    },
    {
      name: 'system jobs, whose allocations have one name on all nodes: the nodes are not guessed',
      lines: [
        line(0, 'every.g[0]', 'alloc is being updated due to job update'),
        line(0, 'every.g[0]', 'placed on n-1'),
        line(5, 'every.g[0]', 'alloc is being updated due to job update'),
        line(5, 'every.g[0]', 'placed on n-2'),
        line(5, 'every.g[0]', 'is complete on n-1'),
      ],
      moves: [
        ['every.g[0]', 0, '', 'n-1', 'replaced by the new version'],
        ['every.g[0]', 5000, '', 'n-2', 'replaced by the new version'],
      ],
    },
    {
      name: 'nodes that the caller may not see',
      lines: [line(0, 'web.g[0]', 'placed'), line(1, 'web.g[0]', 'is running')],
      moves: [['web.g[0]', 0, '', '', '']],
    },
    {
      name: 'one that makes room',
      lines: [
        line(0, 'low.g[0]', 'Preempted by alloc ID allocation-000004'),
        line(0, 'low.g[0]', 'is complete on n-1'),
      ],
      moves: [['low.g[0]', 0, 'n-1', undefined, 'makes room for another job']],
    },
    { name: 'work that ends by itself', lines: [line(60, 'batch.g[0]', 'is complete on n-1')], moves: [] },
    {
      name: 'a node name with blanks and words',
      lines: [line(0, 'a.g[0]', 'placed on on is complete')],
      moves: [['a.g[0]', 0, '', 'on is complete', '']],
    },
  ])('$name', ({ lines, moves }) => {
    const found = movesOf(played(lines)).map(({ name, after, from: left, to, why }) => [name, after, left, to, why]);
    expect(found).toEqual(moves);
  });

  it('is ordered by time, and jobs of two namespaces are two', () => {
    const other = { ...line(1, 'web.g[0]', 'alloc is being migrated'), namespace: 'other' };
    const moves = movesOf(played([line(5, 'web.g[0]', 'placed on n-1'), other]));
    expect(moves.map(({ namespace, after, to }) => [namespace, after, to])).toEqual([
      ['other', 1000, undefined],
      ['default', 5000, 'n-1'],
    ]);
  });
});

it('knows the group of an allocation', () => {
  expect(isOfGroup('a.b[1].main[0]', 'main')).toBe(true);
  expect(isOfGroup('web.my.group[12]', 'my.group')).toBe(true);
  expect(isOfGroup('web.domain[0]', 'main')).toBe(false);
});

it('says where', () => {
  expect(placesText([{ to: 'n-1' }, { to: 'n-2' }, { to: undefined }, { to: 'n-1' }])).toBe('2 on n-1, 1 on n-2');
  expect(placesText([{ to: '' }, { to: '' }])).toBe('2');
});

describe('a registration in words', () => {
  const web = { namespace: 'default', jobId: 'web', count: 3 };
  it.each([
    {
      name: 'all have room',
      simulation: played([line(0, 'web.g[1]', 'placed on n-1'), line(0, 'web.g[2]', 'placed on n-2')], [end('web', 3)]),
      sentences: ['Places 2 allocations: 1 on n-1, 1 on n-2.'],
    },
    {
      name: 'one has no room',
      simulation: played([line(0, 'web.g[1]', 'placed on n-1')], [end('web', 2, true)]),
      sentences: [
        'Places 1 allocation: 1 on n-1.',
        '1 of the 3 allocations that are wanted does not run at the end: there is no room.',
      ],
    },
    {
      name: 'a deployment that fails leaves some that do not wait any more',
      simulation: played([], [end('web', 1)]),
      sentences: ['Places and stops nothing.', '2 of the 3 allocations that are wanted do not run at the end.'],
    },
    {
      name: 'others are displaced and wait',
      simulation: played(
        [
          line(0, 'low.g[0]', 'Preempted by alloc ID allocation-000004'),
          line(0, 'web.g[0]', 'alloc is being updated due to job update'),
          line(0, 'web.g[0]', 'placed on n-1'),
        ],
        [end('low', 0, true), end('web', 2, false, 1)],
      ),
      sentences: [
        'Replaces 1 allocation: 1 on n-1.',
        'Of low, 1 allocation stops.',
        'At the end work of low waits for room.',
      ],
    },
  ])('$name', ({ simulation, sentences }) => {
    expect(registrationSentences(simulation, web)).toEqual(sentences);
  });

  it('of batch work says that it waits, not how many are missing', () => {
    const batch = { namespace: 'default', jobId: 'b', count: undefined };
    expect(registrationSentences(played([], [end('b', 0, true)]), batch)).toEqual([
      'Places and stops nothing.',
      'At the end it still waits for room.',
    ]);
  });

  it('lists the simulated job first', () => {
    const simulation = played([line(0, 'low.g[0]', 'alloc is being migrated')], [end('low', 0), end('web', 3)]);
    expect(outcomesOf(simulation, web).map(({ jobId, stopped }) => [jobId, stopped])).toEqual([
      ['web', 0],
      ['low', 1],
    ]);
  });
});

describe('a change of a group that waits', () => {
  const web = { namespace: 'default', jobId: 'web', count: 2 };
  it.each([
    {
      name: 'helps',
      simulation: played([line(0, 'web.g[1]', 'placed on n-4')], [end('web', 2)]),
      verdict: { helps: true, sentences: ['Would place 1 on n-4.'] },
    },
    {
      name: 'helps in part, at the cost of others',
      simulation: played(
        [
          line(0, 'web.g[1]', 'placed on n-4'),
          line(0, 'web.g[0]', 'alloc is being updated due to job update'),
          line(0, 'web.g[0]', 'placed on n-1'),
          line(0, 'low.g[0]', 'Preempted by alloc ID allocation-000004'),
        ],
        [end('web', 1, true), end('low', 0)],
      ),
      verdict: {
        helps: true,
        sentences: [
          'Would place 1 on n-4; others of the job would still wait.',
          '1 running allocation would be replaced: 1 on n-1.',
          'Other jobs would be displaced: low.',
        ],
      },
    },
    {
      name: 'does not help: another group is placed',
      simulation: played([line(0, 'web.other[0]', 'placed on n-4')], [end('web', 1, true)]),
      verdict: { helps: false, sentences: ['It would not help: nothing more of the group would be placed.'] },
    },
    {
      name: 'wants no more than what runs',
      simulation: played([], [end('web', 1, false, 1)]),
      verdict: { helps: true, sentences: ['Nothing would wait any more: what is wanted runs already.'] },
    },
  ])('$name', ({ simulation, verdict }) => expect(verdictOf(simulation, web, 'g')).toEqual(verdict));
});

describe('what becomes of the allocations of a node', () => {
  const of = (Name: string, JobType = 'service') => ({
    Namespace: 'default',
    JobID: Name.split('.')[0] ?? '',
    Name,
    JobType,
  });
  const simulation = played([
    line(0, 'web.g[0]', 'alloc is being migrated'),
    line(0, 'web.g[0]', 'placed on n-1'),
    line(0, 'large.g[0]', 'alloc is being migrated'),
    line(0, 'every.g[0]', 'alloc not needed as node is tainted'),
    line(40, 'batch.g[0]', 'is complete on n-2'),
  ]);

  it('is told for each', () => {
    const all = [
      of('web.g[0]'),
      of('large.g[0]'),
      of('every.g[0]', 'system'),
      of('batch.g[0]', 'batch'),
      of('stay.g[0]'),
    ];
    const fates = fatesOf(simulation, all);
    expect(fates.map(({ name, fate, to, after }) => [name, fate, to, after])).toEqual([
      ['web.g[0]', 'moves', 'n-1', 0],
      ['large.g[0]', 'no_room', '', 0],
      ['every.g[0]', 'ends', '', 0],
      ['batch.g[0]', 'finishes', '', 40_000],
      ['stay.g[0]', 'stays', '', 0],
    ]);
    expect(fatesSentence(fates)).toBe(
      'Of 5 allocations 1 moves to another node, 1 stops and has no room elsewhere, 1 of a system job ends with the node, 1 finishes there, 1 is still there at the end.',
    );
  });

  it('says that all have room, or that nothing is there', () => {
    const move: Fate = { namespace: 'default', jobId: 'web', name: 'web.g[0]', fate: 'moves', to: 'n-1', after: 0 };
    expect(fatesSentence([move, move])).toBe('Of 2 allocations 2 move to other nodes. All that can move have room.');
    expect(fatesSentence([])).toBe('Nothing that you may see runs on it.');
  });
});

it('says what is missing', () => {
  expect(cutText(played([]))).toBe('');
  expect(cutText(played([], [], { isCut: true, playedUntil: at(90) }))).toContain('played for 1 min 30 s only');
  expect(cutText(played([line(0, 'a.g[0]', 'placed')], [], { isCut: true }))).toContain(
    'Only the first 1 line of the timeline is listed',
  );
});
