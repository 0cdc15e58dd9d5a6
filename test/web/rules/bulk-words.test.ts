import { describe, expect, it } from 'vitest';
import { afterOne, type Bulk, bulkText, filterText, matchCountText, setFault } from '../../../web/rules/bulk-words.js';

const filter = { namespace: '*', text: '', outcome: '', withInstances: false };
const bulk: Bulk = {
  ...{ key: 'k', action: 'stop', what: 'all', list: '/ui/jobs', total: 8, done: 0, failures: [], state: 'running' },
  startedAt: 0,
};
const failure = { namespace: 'default', id: 'a', message: 'no' };

it.each([
  [filter, 'in all namespaces, without instances of others'],
  [
    { namespace: 'prod', text: ' Type == "batch" ', outcome: 'timed_out', withInstances: true },
    'in the namespace prod, that match Type == "batch", whose last run timed out, with the instances of others',
  ],
  [{ ...filter, outcome: 'lost' }, 'in all namespaces, whose last run was lost, without instances of others'],
])('repeats the filter %j in words', (given, words) => expect(filterText(given)).toBe(words));

it('counts up to a bound', () => {
  expect([61, 10_000, 10_001].map(matchCountText)).toEqual(['61', '10,000', 'over 10,000']);
});

describe('a set that was counted again', () => {
  it.each([
    ['is the same in another order', ['a', 'b'], ['b', 'a'], undefined],
    ['has grown', ['a'], ['a', 'b'], 'Now 2 match, not 1. Nothing was done: close this and select them again.'],
    ['has shrunk', ['a', 'b'], ['a'], 'Now 1 match, not 2. Nothing was done: close this and select them again.'],
    [
      'has others',
      ['a', 'b'],
      ['a', 'c'],
      'Still 2 match, but not the same ones. Nothing was done: close this and select them again.',
    ],
  ])('%s', (_, before, after, fault) => expect(setFault(before, after)).toBe(fault));
});

describe('an action on many jobs', () => {
  const play = (outcomes: string, from: Bulk = bulk): Bulk => {
    let inRow = 0;
    let state = from;
    for (const each of outcomes) {
      if (state.state !== 'running') break;
      state = afterOne(state, each === 'f' ? failure : undefined, inRow);
      inRow = each === 'f' ? inRow + 1 : 0;
    }
    return state;
  };
  it.each([
    ['........', 'done', '8 of 8 jobs are stopped.'],
    ['..f....f', 'done', '6 of 8 jobs are stopped, 2 failed.'],
    ['.ffff.ff', 'done', '2 of 8 jobs are stopped, 6 failed.'],
    [
      '.fffff..',
      'broken',
      '1 of 8 jobs is stopped, 5 failed. It ended after 5 failures in a row: 2 jobs were not touched.',
    ],
    ['...', 'running', '3 of 8 jobs are stopped.'],
  ])('%s', (outcomes, state, text) => {
    const played = play(outcomes);
    expect(played.state).toBe(state);
    expect(bulkText(played)).toBe(text);
  });

  it('that was ended counts the one under way', () => {
    const ended = afterOne({ ...play('..'), state: 'stopped' }, undefined, 0);
    expect(bulkText(ended)).toBe('3 of 8 jobs are stopped. You ended it: 5 jobs were not touched.');
    expect(bulkText({ ...play('..'), action: 'restart', state: 'left' })).toBe(
      '2 of 8 jobs are being restarted by the server. It ended with the page that ran it: 6 jobs were not touched.',
    );
  });
});
