import { describe, expect, it, test } from 'vitest';
import {
  carriedFolders,
  type DiskNote,
  diskSources,
  firstDiskNote,
  takeoverText,
} from '../../../src/agent/disk/disk-note.js';
import { groupDocument, jobFrom } from '../../support/jobs.js';

const groupWith = (disk: Record<string, unknown>) => {
  const [group] = jobFrom({ TaskGroups: [groupDocument({ EphemeralDisk: { SizeMB: 10, ...disk } })] }).TaskGroups;
  if (group === undefined) throw new Error('no group');
  return group;
};
const note = (allocation: string, from: string | null, settled: boolean): DiskNote => ({
  allocation,
  from,
  settled,
  said: '',
});

describe('the first note of an allocation', () => {
  it.each([
    ['none without sticky and migrate', {}, { ID: 'b', PreviousAllocation: 'a' }, undefined],
    ['one that takes over', { Sticky: true }, { ID: 'b', PreviousAllocation: 'a' }, note('b', 'a', false)],
    ['the same with migrate', { Migrate: true }, { ID: 'b', PreviousAllocation: 'a' }, note('b', 'a', false)],
    ['a settled one when there is nothing to replace', { Sticky: true }, { ID: 'b' }, note('b', null, true)],
  ])('is %s', (_name, disk, allocation, expected) => {
    expect(firstDiskNote(allocation, groupWith(disk))).toEqual(expected);
  });
});

describe('the places where the data may be', () => {
  const sources = (...notes: readonly DiskNote[]): readonly string[] =>
    diskSources(notes[0] as DiskNote, (allocation) => notes.find((each) => each.allocation === allocation));

  it.each([
    ['the allocation before', ['b'], [note('c', 'b', false)]],
    ['not one before it that was taken over', ['b'], [note('c', 'b', false), note('b', 'a', true)]],
    ['also one before it that was not', ['b', 'a'], [note('c', 'b', false), note('b', 'a', false)]],
    ['nowhere when it is settled', [], [note('c', 'b', true), note('b', 'a', false)]],
    ['each once in a circle', ['b', 'c'], [note('c', 'b', false), note('b', 'c', false)]],
  ])('are %s', (_name, expected, notes) => {
    expect(sources(...notes)).toEqual(expected);
  });
});

test('the shared data and the local folder of each task are carried over', () => {
  expect(carriedFolders(groupWith({}))).toEqual([
    ['alloc', 'data'],
    ['main', 'local'],
  ]);
});

test.each([
  [{ hasData: true, left: [] }, 'The ephemeral disk of allocation a was taken over'],
  [{ hasData: false, left: [] }, 'The ephemeral disk is empty: allocation a has left no data on this node'],
  [
    { hasData: true, left: ['x was left', 'y was left'] },
    'The ephemeral disk of allocation a was taken over; x was left; y was left',
  ],
])('what is told of %j', (takeover, text) => {
  expect(takeoverText('a', takeover)).toBe(text);
});
